#include "run/ledger.hpp"

#include <exception>

namespace unplug::run {

Ledger::Ledger(const std::filesystem::path& file, OnTrouble on_trouble)
    : Ledger(std::make_unique<journal::Writer>(file), std::move(on_trouble)) {}

Ledger::Ledger(std::unique_ptr<journal::Sink> to, OnTrouble on_trouble)
    : to_(std::move(to)), on_trouble_(std::move(on_trouble)) {}

const journal::Event& Ledger::append(journal::Draft draft) {
  if (broken_) return dropped_;
  try {
    return to_->append(std::move(draft));
  } catch (const std::exception& error) {
    trouble(error.what());
    return dropped_;
  }
}

void Ledger::sync() {
  if (broken_) return;
  try {
    to_->sync();
  } catch (const std::exception& error) {
    trouble(error.what());
  }
}

void Ledger::trouble(const std::string& why) {
  broken_ = true;
  on_trouble_(why);
}

}  // namespace unplug::run
