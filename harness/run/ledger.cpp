#include "run/ledger.hpp"

#include "base/error.hpp"

namespace unplug::run {

Ledger::Ledger(const std::filesystem::path& file, OnTrouble on_trouble)
    : writer_(file), on_trouble_(std::move(on_trouble)) {}

const journal::Event& Ledger::append(journal::Draft draft) {
  if (broken_) return dropped_;
  try {
    return writer_.append(std::move(draft));
  } catch (const Error& error) {
    trouble(error.what());
    return dropped_;
  }
}

void Ledger::sync() {
  if (broken_) return;
  try {
    writer_.sync();
  } catch (const Error& error) {
    trouble(error.what());
  }
}

void Ledger::trouble(const std::string& why) {
  broken_ = true;
  on_trouble_(why);
}

}  // namespace unplug::run
