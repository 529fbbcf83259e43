#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "node/contract.hpp"

namespace unplug::test {
namespace {

using node::File;
using node::Opened;
using node::Session;

class Contract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string why_not;
    if (GetParam() == "fake") place_ = fake_place();
    if (GetParam() == "local") place_ = local_place();
    if (GetParam() == "libssh2") place_ = ssh_place(scenario::SshBy::kLibssh2, why_not);
    if (GetParam() == "ssh") place_ = ssh_place(scenario::SshBy::kProgram, why_not);
    if (!place_) GTEST_SKIP() << why_not;
    node_ = place_->make(loop_);
    node_->on_session([this](const node::SessionChange& change) { changes_.push_back(change); });
    const Outcome outcome = loop_.await(node_->connect(within(20s)));
    ASSERT_TRUE(outcome.ok()) << outcome.text();
    ASSERT_EQ(changes_.size(), 1u);
    EXPECT_EQ(changes_[0].session, Session::kConnected);
  }

  Outcome exec(const std::string& line, const std::string& input = {},
               BootClock::duration time = 20s, std::size_t most = 8u << 20) {
    return loop_.await(node_->exec({line, input, most}, within(time)));
  }
  Outcome ask(const std::string& line, BootClock::duration time = 20s) {
    return loop_.await(node_->ask(line, within(time)));
  }
  std::unique_ptr<node::Stream> open(const std::string& line) {
    Opened opened = loop_.await(node_->open(line, within(20s)));
    EXPECT_TRUE(opened.outcome.ok()) << opened.outcome.text();
    return std::move(opened.stream);
  }
  // Starts an operation whose outcome is looked at later.
  void later(asio::awaitable<Outcome> work, std::optional<Outcome>& result) {
    asio::co_spawn(loop_.io(), std::move(work),
                   [&result](std::exception_ptr, Outcome outcome) { result = std::move(outcome); });
  }

  Loop loop_;
  std::unique_ptr<Place> place_;
  std::vector<node::SessionChange> changes_;
  std::unique_ptr<node::Node> node_;
};

// The most memory that this process ever had.
long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss / 1024;  // bytes there
#else
  return usage.ru_maxrss;
#endif
}

TEST_P(Contract, KeepsStdoutAndStderrApartAndTellsTheStatus) {
  const Outcome outcome = exec("echo out; echo err >&2; exit 3");
  EXPECT_EQ(outcome.text(), "exited 3");
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
  EXPECT_FALSE(outcome.truncated);
  EXPECT_LE(outcome.begun, outcome.ended);
}

TEST_P(Contract, TellsTheSignal) { EXPECT_EQ(exec("kill -KILL $$").text(), "killed by KILL"); }

TEST_P(Contract, GivesBinaryInputThenEof) {
  std::string bytes;
  for (int i = 0; i < 1024; ++i) bytes += static_cast<char>(i);
  const Outcome outcome = exec("cat", bytes);
  EXPECT_TRUE(outcome.ok()) << outcome.text();
  EXPECT_EQ(outcome.out, bytes);
}

TEST_P(Contract, EndsAtItsDeadline) {
  const Outcome outcome = exec("sleep 30", {}, 300ms);
  EXPECT_EQ(outcome.end, End::kTimedOut);
  EXPECT_FALSE(outcome.why.empty());
}

TEST_P(Contract, KeepsNoMoreThanAskedForAndSaysSo) {
  const Outcome outcome = exec("head -c 100000 /dev/zero", {}, 20s, 1000);
  EXPECT_TRUE(outcome.ok()) << outcome.text();
  EXPECT_EQ(outcome.out.size(), 1000u);
  EXPECT_TRUE(outcome.truncated);
}

TEST_P(Contract, AStreamTakesAndGivesLines) {
  const auto stream = open("while read -r line; do echo \"got $line\"; done");
  ASSERT_TRUE(stream);
  for (const std::string word : {"fire", "renew 3"}) {
    EXPECT_TRUE(loop_.await(stream->write_line(word, within(10s))));
    EXPECT_EQ(loop_.await(stream->read_line(within(10s))), "got " + word);
  }
  EXPECT_FALSE(loop_.await(stream->read_line(within(100ms))).has_value());
  EXPECT_FALSE(stream->ended().has_value()) << "a missed deadline is not an end";
  EXPECT_TRUE(loop_.await(stream->write_line("revert", within(10s))));
  EXPECT_EQ(loop_.await(stream->read_line(within(10s))), "got revert");
}

TEST_P(Contract, AStreamEndsWithItsLastLineStatusAndStderr) {
  const auto stream = open("echo one; echo two >&2; printf three; exit 4");
  ASSERT_TRUE(stream);
  EXPECT_EQ(loop_.await(stream->read_line(within(10s))), "one");
  EXPECT_EQ(loop_.await(stream->read_line(within(10s))), "three");
  EXPECT_FALSE(loop_.await(stream->read_line(within(10s))).has_value());
  ASSERT_TRUE(stream->ended().has_value());
  EXPECT_EQ(stream->ended()->text(), "exited 4");
  EXPECT_EQ(stream->ended()->err, "two\n");
  EXPECT_FALSE(loop_.await(stream->write_line("x", within(1s))));
}

TEST_P(Contract, AsksInOrderAndAMissedDeadlineCostsOnlyThatLine) {
  std::optional<Outcome> slow, next;
  later(node_->ask("sleep 30", within(400ms)), slow);
  later(node_->ask("echo b", within(20s)), next);
  ASSERT_TRUE(loop_.run_until([&] { return slow && next; }));
  EXPECT_EQ(slow->end, End::kTimedOut) << slow->text();
  EXPECT_EQ(next->text(), "exited 0");
  EXPECT_EQ(next->out, "b\n");
  EXPECT_EQ(ask("echo out; echo err >&2; exit 3").err, "err\n");
}

TEST_P(Contract, ADroppedCallLeavesNothingDangling) {
  asio::cancellation_signal drop;
  bool gone = false;
  asio::co_spawn(loop_.io(), node_->exec({"sleep 30", "input"}, within(20s)),
                 asio::bind_cancellation_slot(
                     drop.slot(), [&gone](std::exception_ptr, const Outcome&) { gone = true; }));
  loop_.io().restart();
  loop_.io().run_for(50ms);
  drop.emit(asio::cancellation_type::terminal);
  ASSERT_TRUE(loop_.run_until([&] { return gone; }));
  EXPECT_TRUE(exec("echo b").ok()) << "the node works on";
}

TEST_P(Contract, ANodeMayGoBeforeItsCalls) {
  std::optional<Outcome> running, asked;
  later(node_->exec({"sleep 30"}, within(20s)), running);
  later(node_->ask("sleep 30", within(20s)), asked);
  const auto stream = open("while read -r line; do echo \"got $line\"; done");
  node_.reset();
  ASSERT_TRUE(loop_.run_until([&] { return running && asked; }));
  EXPECT_EQ(running->end, End::kLost) << running->text();
  EXPECT_EQ(asked->end, End::kLost) << asked->text();
  EXPECT_FALSE(loop_.await(stream->write_line("x", within(1s))));
}

TEST_P(Contract, TheLoopMayGoBeforeItsCalls) {
  asio::co_spawn(loop_.io(), node_->exec({"sleep 30"}, within(20s)), asio::detached);
  asio::co_spawn(loop_.io(), node_->ask("sleep 30", within(20s)), asio::detached);
  asio::co_spawn(loop_.io(), node_->open("sleep 30", within(20s)), asio::detached);
  loop_.io().restart();
  loop_.io().run_for(50ms);
}

TEST_P(Contract, ALostSessionIsToldEndsEverythingAndComesBack) {
  if (!place_->can_lose()) GTEST_SKIP() << "its session cannot be lost";
  std::optional<Outcome> running;
  later(node_->exec({"sleep 30"}, within(20s)), running);
  const auto stream = open("while read -r line; do echo \"got $line\"; done");
  place_->lose();
  ASSERT_TRUE(loop_.run_until([&] { return running && changes_.size() == 2; }));
  EXPECT_EQ(running->end, End::kLost) << running->text();
  EXPECT_EQ(changes_[1].session, Session::kLost);
  EXPECT_FALSE(changes_[1].why.empty());
  EXPECT_FALSE(loop_.await(stream->read_line(within(5s))).has_value());
  ASSERT_TRUE(stream->ended().has_value());
  EXPECT_EQ(stream->ended()->end, End::kLost);
  EXPECT_EQ(exec("echo b").end, End::kRefused);
  EXPECT_FALSE(loop_.await(node_->connected(within(100ms))));

  place_->come_back();
  ASSERT_TRUE(loop_.await(node_->connected(within(20s))));
  ASSERT_TRUE(loop_.run_until([&] { return changes_.size() == 3; }));
  EXPECT_EQ(changes_[2].session, Session::kReconnected);
  EXPECT_TRUE(exec("echo b").ok());
  EXPECT_TRUE(ask("echo b").ok());
}

TEST_P(Contract, PassesAnyLineUnchanged) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  EXPECT_EQ(exec(R"sh(printf '%s|' 'it'\''s' '!!' 'a\b\\c' "$(printf 'x\ny')" '100%' 'é')sh").out,
            "it's|!!|a\\b\\\\c|x\ny|100%|é|");
  EXPECT_EQ(exec("cat <<E\nhere\n\tdoc\nE").out, "here\n\tdoc\n");
  EXPECT_EQ(ask("cat <<E\nhere 'doc'\nE").out, "here 'doc'\n");
}

TEST_P(Contract, ASyntaxErrorIsAStatus) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  const Outcome outcome = exec("if then");
  EXPECT_EQ(outcome.end, End::kExited) << outcome.text();
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(ask("if then").end, End::kExited);
  EXPECT_TRUE(ask("exit 0").ok());
}

TEST_P(Contract, AChildInTheBackgroundDoesNotHoldTheEnd) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  // The child waits for a file that is made after the end was seen: it cannot have ended before.
  const std::string go = std::filesystem::temp_directory_path() /
                         ("unplug-go-" + GetParam() + "-" + std::to_string(getpid()));
  std::filesystem::remove(go);
  EXPECT_EQ(exec("(until [ -e " + go + " ]; do sleep 0.1; done; rm " + go + ") & echo started").out,
            "started\n");
  std::ofstream(go) << "go";
  EXPECT_TRUE(loop_.run_until([&] { return !std::filesystem::exists(go); }));
}

TEST_P(Contract, AStreamThatIsClosedSeesEofAndIsNotKilled) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  const std::string seen = std::filesystem::temp_directory_path() /
                           ("unplug-eof-" + GetParam() + "-" + std::to_string(getpid()));
  std::filesystem::remove(seen);
  auto stream = open("while read -r line; do :; done; sleep 0.3; echo eof > " + seen);
  ASSERT_TRUE(stream);
  stream.reset();
  EXPECT_TRUE(loop_.run_until([&] { return std::filesystem::exists(seen); }));
  std::filesystem::remove(seen);
}

TEST_P(Contract, AnEndlessLineIsCut) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  const auto stream = open("head -c 5000000 /dev/zero; echo; echo next");
  const auto cut = loop_.await(stream->read_line(within(20s)));
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->size(), 1u << 20);
  EXPECT_EQ(loop_.await(stream->read_line(within(20s))), "next");
}

TEST_P(Contract, MovesMegabytesBothWaysWhileOtherCallsWork) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  std::string big(20u << 20, 'x');
  for (std::size_t i = 0; i < big.size(); i += 977) big[i] = static_cast<char>(i);
  std::optional<Outcome> echoed, down;
  later(node_->exec({"cat", big, big.size()}, within(60s)), echoed);
  later(node_->exec({"head -c 20971520 /dev/zero", {}, big.size()}, within(60s)), down);
  int answered = 0;
  while (!echoed || !down) {
    ASSERT_TRUE(ask("echo b", 30s).ok());
    ASSERT_TRUE(exec("echo b", {}, 30s).ok());
    ++answered;
  }
  EXPECT_GT(answered, 0);
  EXPECT_TRUE(echoed->ok()) << echoed->text();
  EXPECT_TRUE(echoed->out == big);
  EXPECT_EQ(down->out.size(), 20'971'520u);
}

// Read to its end, and thrown away: neither kept nor piled up on the way.
TEST_P(Contract, AGigabyteOnOneLineTakesNoRoom) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  const long before = peak_kilobytes();
  const Outcome outcome = exec("head -c 1000000000 /dev/zero; echo end >&2", {}, 120s, 1000);
  EXPECT_TRUE(outcome.ok()) << outcome.text();
  EXPECT_EQ(outcome.out.size(), 1000u);
  EXPECT_TRUE(outcome.truncated);
  EXPECT_EQ(outcome.err, "end\n");
  // A sanitizer keeps what was freed for a while.
  EXPECT_LT(peak_kilobytes() - before, 500'000);
}

TEST_P(Contract, StartsMoreCommandsThanASessionHasChannels) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  std::vector<std::optional<Outcome>> outcomes(40);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    later(node_->exec({"cat; exit " + std::to_string(i), std::string(i * 500, 'y')}, within(40s)),
          outcomes[i]);
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    ASSERT_TRUE(loop_.run_until([&] { return outcomes[i].has_value(); }));
    EXPECT_EQ(outcomes[i]->text(), "exited " + std::to_string(i));
    EXPECT_EQ(outcomes[i]->out.size(), i * 500);
  }
}

TEST_P(Contract, UploadsFilesAsTheyAre) {
  if (!place_->has_a_shell()) GTEST_SKIP() << "no shell";
  const std::string folder = ".unplug-test-" + GetParam();
  std::vector<File> files;
  for (int i = 0; i < 40; ++i) {
    files.push_back({"sh/deep/file " + std::to_string(i) + ".sh", std::string(i * 331, 'z'),
                     i % 2 ? 0600 : 0755});
  }
  const Outcome outcome = loop_.await(node_->upload(files, folder, within(20s)));
  ASSERT_TRUE(outcome.ok()) << outcome.text() << outcome.err;
  EXPECT_EQ(exec("cd " + folder +
                 "/sh/deep && wc -c < 'file 39.sh' && ls | wc -l && "
                 "stat -c %a . 'file 2.sh' 'file 39.sh'")
                .out,
            "12909\n40\n700\n755\n600\n");
  EXPECT_TRUE(exec("rm -r ~/" + folder).ok());
  EXPECT_EQ(loop_.await(node_->upload({{"../x", ""}}, folder, within(5s))).end, End::kRefused);
}

INSTANTIATE_TEST_SUITE_P(Node, Contract, testing::Values("fake", "local", "libssh2", "ssh"),
                         [](const auto& place) { return place.param; });

}  // namespace
}  // namespace unplug::test
