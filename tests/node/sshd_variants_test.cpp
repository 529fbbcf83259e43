// Servers as they are out there, by both transports: each gives the right result, or one clear
// error within its deadline. A false pass would be a server that is not what the test says: each
// variant that libssh2 1.10 cannot talk to must be seen to refuse it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "node/contract.hpp"
#include "node/ssh_node.hpp"
#include "node/sshd.hpp"

namespace unplug::test {
namespace {

using scenario::SshBy;

class SshdVariants : public testing::TestWithParam<SshBy> {
 protected:
  void SetUp() override {
    std::string why;
    if (!Sshd::available(why)) GTEST_SKIP() << why;
  }
  Outcome connect(scenario::LabNode lab_node, SshBy by, BootClock::duration time = 20s) {
    lab_node.ssh_by = by;
    node_ = node::make_ssh_node(loop_.executor(), lab_node, {});
    return loop_.await(node_->connect(within(time)));
  }
  Outcome connect(const Sshd& sshd, BootClock::duration time = 20s) {
    return connect(sshd.node(), GetParam(), time);
  }
  Outcome exec(const std::string& line, const std::string& input = {},
               BootClock::duration time = 20s) {
    return loop_.await(node_->exec({line, input, 8u << 20}, within(time)));
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  // A server for which libssh2 1.10 has no algorithm; later ones have.
  void expect_the_better_transport(const Sshd& sshd) {
    const Outcome refused = connect(sshd.node(), SshBy::kLibssh2);
    if (!refused.ok()) {
      EXPECT_EQ(refused.end, End::kRefused);
      EXPECT_TRUE(has(refused.why, "no common algorithm")) << refused.why;
    }
    const Outcome outcome = connect(sshd.node(), SshBy::kAuto);
    ASSERT_TRUE(outcome.ok()) << outcome.text();
    EXPECT_EQ(node_->way().transport, refused.ok() ? "libssh2" : "ssh");
    if (!refused.ok()) {
      EXPECT_TRUE(has(node_->way().because, "no algorithm in common")) << node_->way().because;
    }
    EXPECT_EQ(exec("echo out; exit 3").text(), "exited 3");
  }

  Loop loop_;
  std::unique_ptr<node::Node> node_;
};

class SshdForBoth : public SshdVariants {};

TEST_F(SshdForBoth, AnRsaHostKeyOnly) {
  Sshd sshd;
  sshd.stop();
  run_program({"/usr/bin/ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", sshd.file("rsa")});
  sshd.only_host_key("rsa");
  sshd.start();
  expect_the_better_transport(sshd);
}

TEST_F(SshdForBoth, GcmOnly) {
  expect_the_better_transport(Sshd("Ciphers aes256-gcm@openssh.com"));
}

TEST_F(SshdForBoth, EtmOnly) {
  expect_the_better_transport(
      Sshd("Ciphers aes256-ctr\nMACs hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com"));
}

TEST_F(SshdForBoth, AnRsaKeyOfTheUser) {
  const Sshd sshd;
  scenario::LabNode node = sshd.node();
  node.identity = sshd.file("rsa");
  run_program({"/usr/bin/ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", node.identity});
  std::ifstream pub(node.identity + ".pub");
  std::ofstream(sshd.file("authorized_keys"), std::ios::app) << pub.rdbuf();
  ASSERT_TRUE(connect(node, SshBy::kAuto).ok());
  const bool is_old = has(node_->way().because, "RSA key " + node.identity + " with libssh2 1.10");
  EXPECT_EQ(node_->way().transport, is_old ? "ssh" : "libssh2") << node_->way().because;
  EXPECT_EQ(exec("echo b").out, "b\n");
}

TEST_P(SshdVariants, MaxSessions2IsOneClearError) {
  const Sshd sshd("MaxSessions 2");
  ASSERT_TRUE(connect(sshd).ok());
  // The resident shell holds the other one.
  const node::Opened stays = loop_.await(node_->open("exec cat", within(10s)));
  ASSERT_TRUE(stays.stream) << stays.outcome.text();
  const Outcome outcome = exec("true", {}, 5s);
  EXPECT_EQ(outcome.end, End::kRefused) << outcome.text();
  EXPECT_TRUE(has(outcome.why, "MaxSessions")) << outcome.why;
  EXPECT_EQ(loop_.await(node_->ask("echo b", within(10s))).out, "b\n") << "the session stands";
}

TEST_P(SshdVariants, MaxStartups5LetsAllInAfterRetries) {
  const Sshd sshd("MaxStartups 5");
  scenario::LabNode node = sshd.node();
  node.ssh_by = GetParam();
  constexpr int kNodes = 9;
  std::vector<std::unique_ptr<node::Node>> nodes;
  std::vector<std::optional<Outcome>> outcomes(kNodes);
  for (int i = 0; i < kNodes; ++i) {
    nodes.push_back(node::make_ssh_node(loop_.executor(), node, {}));
    asio::co_spawn(
        loop_.io(), nodes.back()->connect(within(20s)),
        [&outcomes, i](std::exception_ptr, Outcome one) { outcomes[i] = std::move(one); });
  }
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(loop_.run_until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(outcome->ok()) << outcome->text();
  }
}

TEST_P(SshdVariants, ALoginShellThatPrintsIsReadPast) {
  const Sshd sshd(
      "ForceCommand echo welcome; echo motd >&2; printf \"\\\\036 x\"; eval "
      "\"$SSH_ORIGINAL_COMMAND\"");
  ASSERT_EQ(connect(sshd).text(), "exited 0");
  const Outcome outcome = exec("echo out; echo err >&2; exit 3");
  EXPECT_EQ(outcome.text(), "exited 3");
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
}

TEST_P(SshdVariants, AnAccountWithoutAShellIsRefused) {
  const Sshd sshd("ForceCommand echo This account is not available.; exit 1");
  const Outcome outcome = connect(sshd);
  EXPECT_EQ(outcome.end, End::kRefused) << outcome.text();
  EXPECT_TRUE(has(outcome.why, "This account is not available")) << outcome.why;
  EXPECT_EQ(node_->way().failed, node::Way::Step::kShell);
}

TEST_P(SshdVariants, StartFilesThatSleepCostTheirTimeOrTheDeadline) {
  const Sshd sshd("ForceCommand sleep 1; eval \"$SSH_ORIGINAL_COMMAND\"");
  scenario::LabNode node = sshd.node();
  node.ssh_by = GetParam();
  node::SshTimes times;
  times.heartbeat_within = 500ms;  // less than a channel takes to open
  times.login_within = 20s;
  node_ = node::make_ssh_node(loop_.executor(), node, {}, times);
  ASSERT_TRUE(loop_.await(node_->connect(within(20s))).ok());
  const Outcome early = exec("echo b", {}, 300ms);
  EXPECT_EQ(early.end, End::kTimedOut) << early.text();
  EXPECT_TRUE(has(early.why, "had not begun")) << early.why;
  const Outcome outcome = exec("echo b");
  EXPECT_EQ(outcome.out, "b\n") << outcome.text();
}

TEST_P(SshdVariants, ABannerOfAMegabyteEndsClearly) {
  Sshd sshd;
  sshd.stop();
  std::ofstream(sshd.file("banner")) << std::string(1'000'000, 'x');
  std::ofstream(sshd.file("config"), std::ios::app) << "Banner " << sshd.file("banner") << "\n";
  sshd.start();
  scenario::LabNode node = sshd.node();
  node.ssh_by = GetParam();
  node::SshTimes times;
  times.backoff_first = 10ms;  // a server that drops us is tried again
  node_ = node::make_ssh_node(loop_.executor(), node, {}, times);
  const Outcome outcome = loop_.await(node_->connect(within(20s)));
  if (outcome.ok()) {
    EXPECT_EQ(exec("echo b").out, "b\n");
  } else {
    EXPECT_TRUE(has(outcome.why, "broke off") || has(outcome.why, "Connection closed"))
        << outcome.why;
    EXPECT_EQ(outcome.why.find('\n'), std::string::npos) << outcome.why;
  }
}

TEST_P(SshdVariants, AServerThatSaysNothingEndsAtTheDeadline) {
  const int mute = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(mute, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(mute, 5), 0);
  socklen_t size = sizeof address;
  ::getsockname(mute, reinterpret_cast<sockaddr*>(&address), &size);
  scenario::LabNode node;
  node.address = "127.0.0.1";
  node.port = ntohs(address.sin_port);
  const Outcome outcome = connect(node, GetParam(), 1s);
  EXPECT_EQ(outcome.end, End::kTimedOut) << outcome.text();
  EXPECT_TRUE(has(outcome.why, "until the deadline")) << outcome.why;
  ::close(mute);
}

TEST_P(SshdVariants, AServerThatDiesMidCommandIsLostAndComesBack) {
  const Sshd sshd;
  ASSERT_TRUE(connect(sshd).ok());
  std::vector<node::SessionChange> changes;
  node_->on_session([&](const node::SessionChange& change) { changes.push_back(change); });
  std::optional<Outcome> running;
  asio::co_spawn(loop_.io(), node_->exec({"echo begun; sleep 30"}, within(20s)),
                 [&](std::exception_ptr, Outcome ended) { running = std::move(ended); });
  EXPECT_TRUE(exec("true").ok());
  for (const pid_t pid : sshd.session_pids()) ::kill(pid, SIGKILL);
  ASSERT_TRUE(loop_.run_until([&] { return running.has_value(); }));
  EXPECT_EQ(running->end, End::kLost) << running->text();
  EXPECT_FALSE(running->why.empty());
  ASSERT_TRUE(loop_.run_until([&] { return changes.size() == 2; }));
  EXPECT_EQ(changes[1].session, node::Session::kReconnected);
  EXPECT_EQ(exec("echo b").out, "b\n");
}

TEST_P(SshdVariants, RekeysEvery512KBCorruptNothing) {
  const Sshd sshd("RekeyLimit 512K");
  ASSERT_TRUE(connect(sshd).ok());
  std::string big(3u << 19, 'x');  // three times a new key, each way
  for (std::size_t i = 0; i < big.size(); i += 977) big[i] = static_cast<char>(i);
  int right = 0;
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = exec("cat", big);
    // libssh2 1.10 may lose the answer to an exec when a key exchange comes in between.
    ASSERT_TRUE(outcome.ok() || outcome.end == End::kLost) << outcome.text();
    EXPECT_TRUE(!outcome.ok() || outcome.out == big);
    right += outcome.ok() ? 1 : 0;
    ASSERT_TRUE(loop_.await(node_->connected(within(20s))));
  }
  EXPECT_GT(right, 0);
}

TEST_P(SshdVariants, ABrokenPinIsRefused) {
  const Sshd sshd;
  scenario::LabNode node = sshd.node();
  const std::string seen = node.host_key;
  node.host_key = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  const Outcome outcome = connect(node, GetParam());
  EXPECT_EQ(outcome.end, End::kRefused);
  EXPECT_EQ(node_->way().failed, node::Way::Step::kHostKey);
  EXPECT_TRUE(has(outcome.why, node.host_key) && has(outcome.why, seen)) << outcome.why;
}

TEST_P(SshdVariants, AnUnknownHostIsRefusedAndNotLearnt) {
  const Sshd sshd;
  scenario::LabNode node = sshd.node();
  node.host_key.clear();
  node.ssh_by = GetParam();
  node_ = node::make_ssh_node(loop_.executor(), node, sshd.known_hosts());
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = loop_.await(node_->connect(within(20s)));
    EXPECT_EQ(outcome.end, End::kRefused);
    EXPECT_TRUE(has(outcome.why, "ssh-keyscan")) << outcome.why;
  }
  std::ifstream file(sshd.file("host.pub"));
  std::string type, blob;
  file >> type >> blob;
  std::ofstream(sshd.known_hosts())
      << "[127.0.0.1]:" << sshd.port() << " " << type << " " << blob << "\n";
  EXPECT_EQ(loop_.await(node_->connect(within(20s))).text(), "exited 0");
}

TEST_P(SshdVariants, AFrozenServerIsNoticedByTheHeartbeat) {
  const Sshd sshd;
  node::SshTimes times;
  times.heartbeat_every = 100ms;
  times.heartbeat_within = 500ms;
  times.login_within = 3s;
  scenario::LabNode node = sshd.node();
  node.ssh_by = GetParam();
  node_ = node::make_ssh_node(loop_.executor(), node, {}, times);
  ASSERT_TRUE(loop_.await(node_->connect(within(20s))).ok());
  std::vector<node::SessionChange> changes;
  node_->on_session([&](const node::SessionChange& change) { changes.push_back(change); });
  const std::vector<pid_t> frozen = sshd.session_pids();
  for (const pid_t pid : frozen) ::kill(pid, SIGSTOP);
  EXPECT_TRUE(loop_.run_until([&] { return changes.size() == 2; }));
  for (const pid_t pid : frozen) ::kill(pid, SIGKILL);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(has(changes[0].why, "heartbeat")) << changes[0].why;
}

INSTANTIATE_TEST_SUITE_P(By, SshdVariants, testing::Values(SshBy::kLibssh2, SshBy::kProgram),
                         [](const auto& by) {
                           return by.param == SshBy::kLibssh2 ? "libssh2" : "ssh";
                         });

}  // namespace
}  // namespace unplug::test
