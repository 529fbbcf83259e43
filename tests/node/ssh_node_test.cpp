#include "node/ssh_node.hpp"

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>

#include "node/contract.hpp"
#include "node/sshd.hpp"
#include "ssh/gate.hpp"

namespace unplug::test {
namespace {

// What both transports do alike is in sshd_variants_test.cpp.

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Keeps bash from reading ~/.bashrc, which takes longer than a test of many channels may.
const std::string kNoStartFiles = "SetEnv SHLVL=3\n";

class SshNode : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!Sshd::available(why)) GTEST_SKIP() << why;
  }
  Outcome connect(const scenario::LabNode& node, const std::string& known_hosts = "/nonexistent",
                  BootClock::duration time = 20s, node::SshTimes times = {}) {
    node_ = node::make_ssh_node(loop_.executor(), node, known_hosts, times);
    return loop_.await(node_->connect(within(time)));
  }
  static std::string host_line(const Sshd& sshd, const std::string& names) {
    std::ifstream file(sshd.file("host.pub"));
    std::string type, blob;
    file >> type >> blob;
    return names + " " + type + " " + blob + "\n";
  }
  static std::string entry(const Sshd& sshd) {
    return "[127.0.0.1]:" + std::to_string(sshd.port());
  }

  Loop loop_;
  std::unique_ptr<node::Node> node_;
};

TEST_F(SshNode, RefusesAnUnknownHostAndSaysWhatToDo) {
  const Sshd sshd;
  scenario::LabNode node = sshd.node();
  const std::string seen = node.host_key;
  node.host_key.clear();
  const Outcome outcome = connect(node, sshd.known_hosts());
  EXPECT_EQ(outcome.end, End::kRefused);
  EXPECT_TRUE(has(outcome.why, seen) && has(outcome.why, "ssh-keyscan")) << outcome.why;
}

TEST_F(SshNode, BelievesKnownHostsPlainAndHashed) {
  const Sshd sshd;
  scenario::LabNode node = sshd.node();
  node.host_key.clear();
  std::ofstream(sshd.known_hosts()) << host_line(sshd, entry(sshd));
  EXPECT_EQ(connect(node, sshd.known_hosts()).text(), "exited 0");
  run_program({"/usr/bin/ssh-keygen", "-q", "-H", "-f", sshd.known_hosts()});
  EXPECT_EQ(connect(node, sshd.known_hosts()).text(), "exited 0");
}

TEST_F(SshNode, AsksForTheKeyTypeThatKnownHostsHas) {
  Sshd sshd;
  run_program({"/usr/bin/ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", sshd.file("ecdsa")});
  sshd.stop();
  std::ofstream(sshd.file("config"), std::ios::app) << "HostKey " << sshd.file("ecdsa") << "\n";
  sshd.start();
  scenario::LabNode node = sshd.node();
  node.host_key.clear();
  for (const std::string key : {"ecdsa", "host"}) {
    std::ifstream file(sshd.file(key + ".pub"));
    std::string type, blob;
    file >> type >> blob;
    std::ofstream(sshd.known_hosts()) << entry(sshd) << " " << type << " " << blob << "\n";
    EXPECT_EQ(connect(node, sshd.known_hosts()).text(), "exited 0") << type;
  }
}

TEST_F(SshNode, RefusesAChangedHostKey) {
  const Sshd sshd, other;
  scenario::LabNode node = sshd.node();
  node.host_key.clear();
  std::ofstream(sshd.known_hosts()) << host_line(other, entry(sshd));
  const Outcome outcome = connect(node, sshd.known_hosts());
  EXPECT_EQ(outcome.end, End::kRefused);
  EXPECT_TRUE(has(outcome.why, "another host may be answering")) << outcome.why;
}

TEST_F(SshNode, RefusesToReconnectToAnotherHost) {
  Sshd sshd;
  ASSERT_TRUE(connect(sshd.node()).ok());
  sshd.kill_children(SIGKILL);
  sshd.stop();
  sshd.new_host_key();
  sshd.start();
  ASSERT_TRUE(loop_.run_until([&] {
    return has(loop_.await(node_->exec({"true"}, within(1s))).why, "another host may be answering");
  }));
  EXPECT_FALSE(loop_.await(node_->connected(within(100ms))));
}

TEST_F(SshNode, SaysWhichKeyTheServerRefused) {
  const Sshd sshd, other;
  scenario::LabNode node = sshd.node();
  node.identity = other.file("user");
  const Outcome outcome = connect(node);
  EXPECT_EQ(outcome.end, End::kRefused);
  EXPECT_TRUE(has(outcome.why, node.identity) && has(outcome.why, "authorized_keys"))
      << outcome.why;
}

TEST_F(SshNode, SendsKeysThatItCannotReadToTheAgent) {
  ::unsetenv("SSH_AUTH_SOCK");
  const Sshd sshd;
  scenario::LabNode node = sshd.node();
  node.identity = sshd.file("locked");
  run_program({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", node.identity});
  Outcome outcome = connect(node);
  EXPECT_EQ(outcome.end, End::kRefused);
  EXPECT_TRUE(has(outcome.why, "needs a passphrase") && has(outcome.why, "ssh-add")) << outcome.why;
  std::ofstream(sshd.file("empty")) << "no key\n";
  node.identity = sshd.file("empty");
  outcome = connect(node);
  EXPECT_EQ(outcome.end, End::kRefused);
  EXPECT_TRUE(has(outcome.why, "holds no private key")) << outcome.why;
}

TEST_F(SshNode, SaysThatAKeyFileIsNotThere) {
  const Sshd sshd;
  scenario::LabNode node = sshd.node();
  node.identity = sshd.file("absent");
  const Outcome outcome = connect(node);
  EXPECT_EQ(outcome.end, End::kRefused);
  EXPECT_TRUE(has(outcome.why, "the key file " + node.identity + " cannot be read")) << outcome.why;
  EXPECT_TRUE(has(outcome.why, "ssh-keygen -t ed25519 -f " + node.identity)) << outcome.why;
}

TEST_F(SshNode, SaysWhatToLookAtWhenNobodyListens) {
  scenario::LabNode node;
  {
    const Sshd sshd;
    node = sshd.node();
  }
  const Outcome outcome = connect(node);
  EXPECT_EQ(outcome.end, End::kRefused);
  EXPECT_TRUE(has(outcome.why, "Connection refused; the host is up, but no sshd listens there"))
      << outcome.why;
}

TEST_F(SshNode, LogsInByTheAgentsKey) {
  const Sshd sshd;
  scenario::LabNode node = sshd.node();
  const std::string socket = sshd.file("agent");
  const std::string said = run_program({"/usr/bin/ssh-agent", "-s", "-a", socket});
  const pid_t agent = std::stoi(said.substr(said.find("SSH_AGENT_PID=") + 14));
  ::setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
  run_program({"/usr/bin/ssh-add", "-q", node.identity});
  node.identity.clear();
  EXPECT_EQ(connect(node).text(), "exited 0");
  node.identity = sshd.file("host");  // not in the agent, and not allowed in
  EXPECT_EQ(connect(node).end, End::kRefused);
  ::kill(agent, SIGTERM);
  ::unsetenv("SSH_AUTH_SOCK");
}

TEST_F(SshNode, CloseEndsALoginThatIsUnderWay) {
  const Sshd sshd;
  for (const auto by : {scenario::SshBy::kLibssh2, scenario::SshBy::kProgram}) {
    for (const bool looked_up : {false, true}) {
      scenario::LabNode node = sshd.node();
      node.ssh_by = by;
      node_ = node::make_ssh_node(loop_.executor(), node, {});
      std::optional<Outcome> outcome;
      asio::co_spawn(loop_.io(), node_->connect(within(20s)),
                     [&](std::exception_ptr, Outcome ended) { outcome = std::move(ended); });
      loop_.io().restart();
      loop_.io().run_one();
      ASSERT_TRUE(loop_.run_until([&] { return !looked_up || !node_->way().place.empty(); }));
      node_->close();
      ASSERT_TRUE(loop_.run_until([&] { return outcome.has_value(); }, 5s));
      EXPECT_EQ(outcome->end, End::kRefused) << outcome->text();
    }
  }
}

TEST_F(SshNode, BelievesTheSignalThoughAChildHoldsTheOutput) {
  const Sshd sshd;
  ASSERT_TRUE(connect(sshd.node()).ok());
  // A child in the background holds stdout open; the signal is believed after a second.
  const Outcome outcome =
      loop_.await(node_->exec({"sleep 6 & echo said; kill -TERM $$; sleep 6"}, within(20s)));
  EXPECT_EQ(outcome.text(), "killed by TERM");
  EXPECT_EQ(outcome.out, "said\n");
}

// Whatever else is open, and before the first beat: a heartbeat without a channel would be taken
// for a dead server.
TEST_F(SshNode, KeepsAChannelFreeForItsHeartbeat) {
  const Sshd sshd(kNoStartFiles);
  node::SshTimes times;
  times.heartbeat_every = 500ms;
  times.heartbeat_within = 2s;
  ASSERT_TRUE(connect(sshd.node(), {}, 20s, times).ok());
  std::vector<std::string> changes;
  node_->on_session([&](const node::SessionChange& change) { changes.push_back(change.why); });
  std::vector<node::Opened> answers;
  for (int i = 0; i < 9; ++i) {
    asio::co_spawn(
        loop_.io(), node_->open("exec cat", within(5s)),
        [&](std::exception_ptr, node::Opened opened) { answers.push_back(std::move(opened)); });
  }
  EXPECT_TRUE(loop_.run_until([&] { return answers.size() == 9 || !changes.empty(); }));
  EXPECT_EQ(changes, std::vector<std::string>{});
  EXPECT_GE(std::ranges::count_if(answers, [](auto& one) { return one.stream != nullptr; }), 4);
  EXPECT_GE(std::ranges::count_if(answers, [](auto& one) { return one.stream == nullptr; }), 2);
}

// This server drops every connection beyond five that are not logged in yet.
TEST_F(SshNode, SixtyNodesBehindOneNarrowServerAllGetIn) {
  const Sshd sshd(kNoStartFiles + "MaxStartups 5");
  std::vector<std::unique_ptr<node::Node>> nodes;
  std::vector<std::string> answers;
  for (int i = 0; i < 60; ++i) {
    nodes.push_back(node::make_ssh_node(loop_.executor(), sshd.node(), {}));
    asio::co_spawn(loop_.io(), nodes.back()->connect(within(60s)),
                   [&](std::exception_ptr, Outcome ended) { answers.push_back(ended.text()); });
  }
  EXPECT_TRUE(loop_.run_until([&] { return answers.size() == nodes.size(); }, 90s));
  EXPECT_EQ(answers, std::vector<std::string>(nodes.size(), "exited 0"));
  ssh::Gates& gates = ssh::Gates::of(loop_.executor());
  EXPECT_EQ(gates.to("127.0.0.1")->most_inside(), 5u);
  EXPECT_LE(gates.all()->most_inside(), 5u);
  EXPECT_EQ(gates.to("127.0.0.1")->inside() + gates.all()->inside(), 0u);
}

// A server that has no channel left for the heartbeat lives all the same.
TEST_F(SshNode, TakesARefusedHeartbeatForAnAnswer) {
  const Sshd sshd(kNoStartFiles + "MaxSessions 2");
  node::SshTimes times;
  times.heartbeat_every = 100ms;
  ASSERT_TRUE(connect(sshd.node(), {}, 20s, times).ok());
  const node::Opened stays = loop_.await(node_->open("exec cat", within(10s)));
  ASSERT_TRUE(stays.stream);
  std::vector<std::string> changes;
  node_->on_session([&](const node::SessionChange& change) { changes.push_back(change.why); });
  loop_.run_until([&] { return !changes.empty(); }, 1s);
  EXPECT_EQ(changes, std::vector<std::string>{});
}

}  // namespace
}  // namespace unplug::test
