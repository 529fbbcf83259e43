// A farm of two fake nodes for tests of the run engine: scripts and guards that answer as
// docs/node-protocol.md says, and one history of all that happened, in order.
//
//   FakeLab lab({fault("freeze", "process_freeze", "worker 2", scenario::At{}, 30ms)});
//   lab.guard("freeze").fire = FakeGuard::Fire::kSilent;
//   lab.await(lab.faults.arm(Moment::kRun));
//   lab.history  ->  "node2 arm freeze", "journal journaled freeze", "sync", "node2 guard freeze",
//   ...
//
// The engine's own waits are short here (Times); nothing sleeps.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/fake.hpp"
#include "node/loop.hpp"
#include "run/faults.hpp"
#include "run/plan_builder.hpp"

namespace unplug::run {

using namespace std::chrono_literals;

// One fault instance as its node has it.
struct FakeGuard {
  enum class Arm { kArms, kRefuses };
  enum class Start { kAnswers, kEnds, kSilent };
  enum class Fire { kFires, kFails, kSilent, kVanishes, kFiresAndVanishes };
  enum class Revert { kReverts, kSilent, kVanishes };
  Arm arm = Arm::kArms;
  Start start = Start::kAnswers;
  Fire fire = Fire::kFires;
  Revert revert = Revert::kReverts;
  bool by_folder = true;  // does what please-revert asks for
  bool lasting = false;
  std::deque<int> verify{0}, verify_reverted{0};  // statuses; the last one stays
  std::set<std::string> folder;                   // fired, spent, undone
  std::vector<std::string> log;                   // guard.log, as far as somebody reads it
  node::FakeRun* channel = nullptr;               // while it is open

  void fired(const std::string& line = {});
  void undoes(const std::string& why);  // by itself, or because it was asked
};

// The journal in memory, its appends and syncs written into the lab's history.
class HistorySink : public journal::Sink {
 public:
  explicit HistorySink(std::vector<std::string>& history) : history_(history) {}
  const journal::Event& append(journal::Draft draft) override;
  void sync() override;
  int fails_after = -1;  // so many appends succeed, and the syncs between; then all throws

  journal::Memory memory;

 private:
  std::vector<std::string>& history_;
  bool broken_ = false;
};

class QuietProgress : public Progress {
 public:
  void fact(const std::string& topic, const std::string& text) override {
    facts.push_back(topic + ": " + text);
  }
  void now(const std::string&) override {}
  std::vector<std::string> facts;
};

class FakeLab {
 public:
  explicit FakeLab(std::vector<scenario::Fault> of) : FakeLab(farm(std::move(of))) {}
  explicit FakeLab(scenario::Bundle of);
  ~FakeLab();

  template <class T>
  T await(asio::awaitable<T> work) {
    return loop.await(std::move(work));
  }
  void await(asio::awaitable<void> work);
  // Starts it; its end is seen in the result.
  std::shared_ptr<bool> spawn(asio::awaitable<void> work);
  bool run_until(const std::function<bool()>& condition) { return loop.run_until(condition, 10s); }

  // Arms, starts and lives all faults to their end. `at_rest` stays false.
  void live();

  FakeGuard& guard(const std::string& instance) { return guards_[instance]; }
  node::FakeNode& node(const std::string& name) { return *fakes_.at(name); }

  // The states of one fault in the journal, in order; and the data of the last such event.
  std::vector<std::string> states(const std::string& instance) const;
  journal::Json last(const std::string& instance, const std::string& state) const;
  std::vector<journal::Json> all(const std::string& kind) const;
  // The place of the first such entry of the history; -1 when there is none.
  int at(const std::string& entry, int from = 0) const;

  // Answers of everything that is no fault: by text in the line, the last match wins.
  void answer(std::string part, node::FakeNode::Script script);
  void reply(std::string part, node::FakeReply reply);

  test::Loop loop;
  std::vector<std::string> history;
  HistorySink journal{history};
  QuietProgress progress;
  scenario::Bundle bundle;
  Plan plan;
  Context context;
  Stage stage;
  Faults faults;

 private:
  void take(const std::string& node, node::FakeRun& run);
  void take_verb(const std::string& node, node::FakeRun& run);
  void open_guard(const std::string& node, const std::string& instance, node::FakeRun& run);
  void take_word(const std::string& node, const std::string& instance, const std::string& word);

  std::map<std::string, FakeGuard> guards_;
  std::map<std::string, std::shared_ptr<node::FakeNode>> fakes_;
  std::vector<std::pair<std::string, node::FakeNode::Script>> answers_;
};

}  // namespace unplug::run
