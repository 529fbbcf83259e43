// The journal of a run as the run sees it: trouble with the disk stops the run, never its healing.
//
// The first failed append or sync calls `on_trouble` once; from then on events are dropped, and
// what has to be undone is undone (docs/semantics.md: internal trouble heals, exits 70, no
// verdict).
#pragma once

#include <functional>
#include <memory>

#include "journal/writer.hpp"

namespace unplug::run {

class Ledger : public journal::Sink {
 public:
  using OnTrouble = std::function<void(const std::string& why)>;

  Ledger(const std::filesystem::path& file, OnTrouble on_trouble);
  Ledger(std::unique_ptr<journal::Sink> to, OnTrouble on_trouble);
  const journal::Event& append(journal::Draft draft) override;
  void sync() override;

 private:
  void trouble(const std::string& why);

  std::unique_ptr<journal::Sink> to_;
  OnTrouble on_trouble_;
  journal::Event dropped_;
  bool broken_ = false;
};

}  // namespace unplug::run
