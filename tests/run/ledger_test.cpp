#include "run/ledger.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "base/error.hpp"

namespace unplug::run {
namespace {

class Sick : public journal::Sink {
 public:
  const journal::Event& append(journal::Draft draft) override {
    ++appends;
    if (fails) throw std::runtime_error("no space left");
    return memory.append(std::move(draft));
  }
  void sync() override {
    if (fails) throw Error(Exit::kInternal, "journal", "cannot be synced");
    memory.sync();
  }
  journal::Memory memory;
  int appends = 0;
  bool fails = false;
};

journal::Draft note() { return {.kind = "note", .data = {{"text", "hello"}}}; }

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    auto sink = std::make_unique<Sick>();
    sink_ = sink.get();
    ledger_ = std::make_unique<Ledger>(
        std::move(sink), [this](const std::string& why) { troubles_.push_back(why); });
  }
  Sick* sink_ = nullptr;
  std::unique_ptr<Ledger> ledger_;
  std::vector<std::string> troubles_;
};

TEST_F(LedgerTest, PassesOnWhatItIsGiven) {
  EXPECT_EQ(ledger_->append(note()).seq, 1u);
  ledger_->sync();
  EXPECT_EQ(sink_->memory.events.size(), 1u);
  EXPECT_EQ(sink_->memory.syncs, 1);
  EXPECT_TRUE(troubles_.empty());
}

TEST_F(LedgerTest, TellsOfTroubleOnceAndDropsWhatFollows) {
  sink_->fails = true;
  EXPECT_NO_THROW(ledger_->append(note()));
  EXPECT_NO_THROW(ledger_->append(note()));
  EXPECT_NO_THROW(ledger_->sync());
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_EQ(troubles_[0], "no space left");
  // A line after a hole would look like the whole history.
  sink_->fails = false;
  ledger_->append(note());
  EXPECT_EQ(sink_->appends, 1);
}

TEST_F(LedgerTest, TakesAFailedSyncForTrouble) {
  ledger_->append(note());
  sink_->fails = true;
  EXPECT_NO_THROW(ledger_->sync());
  EXPECT_EQ(troubles_.size(), 1u);
}

}  // namespace
}  // namespace unplug::run
