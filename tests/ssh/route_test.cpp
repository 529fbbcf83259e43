#include "ssh/route.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "node/loop.hpp"
#include "ssh/master.hpp"

namespace unplug::ssh {
namespace {

using Texts = std::vector<std::string>;
using scenario::LabNode;

LabNode lab_node() {
  LabNode node;
  node.name = "mini1";
  node.address = "mini1";
  return node;
}

UserConfig config() {
  UserConfig config;
  config.hostname = "10.0.0.1";
  config.user = "me";
  config.port = 2200;
  config.known_hosts = {"/home/me/.ssh/known_hosts", "/home/me/.ssh/known_hosts2"};
  config.also_known = {"/etc/ssh/ssh_known_hosts"};
  config.agent = "/run/agent";
  return config;
}

bool has_option(const Texts& words, const std::string& option) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i - 1] == "-o" && words[i] == option) return true;
  }
  return false;
}

TEST(Route, TakesFromTheConfigurationWhatTheLabFileIsSilentAbout) {
  const Login login = route_of(lab_node(), "", config()).login;
  EXPECT_EQ(login.address, "10.0.0.1");
  EXPECT_EQ(login.user, "me");
  EXPECT_EQ(login.port, 2200);
  EXPECT_EQ(login.agent, "/run/agent");
  EXPECT_EQ(login.known_hosts, "/home/me/.ssh/known_hosts");
  EXPECT_EQ(login.also_known, (Texts{"/home/me/.ssh/known_hosts2", "/etc/ssh/ssh_known_hosts"}));
  EXPECT_EQ(login.words, (Texts{"--", "mini1"})) << "ssh reads the rest itself";
}

TEST(Route, WhatTheLabFileStatesWins) {
  LabNode node = lab_node();
  node.user = "farm";
  node.port = 22;
  node.identity = "/keys/farm";
  const Login login = route_of(node, "/lab/known", config()).login;
  EXPECT_EQ(login.user, "farm");
  EXPECT_EQ(login.port, 22);
  EXPECT_EQ(login.identity, "/keys/farm");
  EXPECT_EQ(login.known_hosts, "/lab/known");
  EXPECT_EQ(login.also_known, Texts{});
  EXPECT_EQ(login.words, (Texts{"-p", "22", "-l", "farm", "-i", "/keys/farm", "-o",
                                "IdentitiesOnly=yes", "-o", "UserKnownHostsFile=\"/lab/known\"",
                                "-o", "GlobalKnownHostsFile=none", "--", "mini1"}));
}

TEST(Route, ChangesToSshOnlyWhereTheChoiceIsOurs) {
  LabNode node = lab_node();
  EXPECT_TRUE(route_of(node, "", config()).may_change);
  node.ssh_by = scenario::SshBy::kLibssh2;
  EXPECT_FALSE(route_of(node, "", config()).may_change);
  Route route = route_of(lab_node(), "", config());
  change_to_ssh(route, LoginResult::Step::kAlgorithms);
  EXPECT_EQ(route.choice.transport, Transport::kSsh);
  EXPECT_FALSE(route.may_change);
}

TEST(Route, AMasterTakesNoUnknownKeyAndAsksNobody) {
  const Texts words = master_words(route_of(lab_node(), "", config()).login, "/s", "up-1");
  for (const char* option : {"StrictHostKeyChecking=yes", "BatchMode=yes", "UpdateHostKeys=no",
                             "ControlPersist=no", "ClearAllForwardings=yes"}) {
    EXPECT_TRUE(has_option(words, option)) << option;
  }
  EXPECT_EQ(words.back(), "mini1");
}

// A program called ssh, first in PATH, that says what a test wants.
class FakeSsh : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "unplug-ssh-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = ::getenv("PATH");
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  Route find(const std::string& script) {
    const std::string file = folder_ + "/ssh";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    ::chmod(file.c_str(), 0755);
    ::setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
    return loop_.await(
        find_route(loop_.executor(), lab_node(), "", within(std::chrono::seconds{20})));
  }

  test::Loop loop_;
  std::string folder_, path_;
};

TEST_F(FakeSsh, IsAskedWithTheWordsOfTheLabFile) {
  const Route route = find("[ \"$*\" = '-G -- mini1' ] && echo 'hostname 10.0.0.7\nport 2222'");
  EXPECT_EQ(route.trouble, "");
  EXPECT_EQ(route.login.address, "10.0.0.7");
  EXPECT_EQ(route.login.port, 2222);
}

TEST_F(FakeSsh, ThatRefusesItsConfigurationIsOneClearError) {
  const Route route = find("echo 'cfg: line 3: Bad configuration option: foo' >&2; exit 255");
  EXPECT_NE(route.trouble.find("cfg: line 3: Bad configuration option: foo"), std::string::npos)
      << route.trouble;
}

TEST_F(FakeSsh, ThatIsAbsentLeavesPlainDefaultsAndSaysSo) {
  ::setenv("PATH", folder_.c_str(), 1);
  const Route route =
      loop_.await(find_route(loop_.executor(), lab_node(), "", within(std::chrono::seconds{20})));
  EXPECT_EQ(route.trouble, "");
  EXPECT_EQ(route.login.address, "mini1");
  EXPECT_EQ(route.login.port, 22);
  EXPECT_EQ(route.choice.transport, Transport::kLibssh2);
  EXPECT_NE(route.choice.because.find("no ssh program"), std::string::npos);
}

}  // namespace
}  // namespace unplug::ssh
