#include "ssh/user_config.hpp"

#include <gtest/gtest.h>

namespace unplug::ssh {
namespace {

using Texts = std::vector<std::string>;

// As OpenSSH 9.2 prints it.
constexpr const char* kSaid = R"(host mini
user render
hostname 10.0.0.1
port 2200
identitiesonly no
hostkeyalgorithms ssh-ed25519,ecdsa-sha2-nistp256
hostkeyalias al
identityagent /home/me/.ssh/agent.sock
identityfile ~/.ssh/my key
identityfile ~/.ssh/%h_key
certificatefile ~/.ssh/x-cert.pub
globalknownhostsfile /etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2
userknownhostsfile /home/me/.ssh/known_hosts ~/.ssh/more
proxyjump me@bastion:2222,other
)";

TEST(UserConfig, TakesWhatLeadsToAHost) {
  const UserConfig config = parse_user_config(kSaid, "/home/me");
  EXPECT_EQ(config.hostname, "10.0.0.1");
  EXPECT_EQ(config.user, "render");
  EXPECT_EQ(config.port, 2200);
  EXPECT_EQ(config.identities, (Texts{"/home/me/.ssh/my key", "/home/me/.ssh/%h_key"}));
  EXPECT_EQ(config.certificates, Texts{"/home/me/.ssh/x-cert.pub"});
  EXPECT_EQ(config.agent, "/home/me/.ssh/agent.sock");
  EXPECT_EQ(config.known_hosts, (Texts{"/home/me/.ssh/known_hosts", "/home/me/.ssh/more"}));
  EXPECT_EQ(config.also_known, (Texts{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}));
  EXPECT_EQ(config.proxy_jump, "me@bastion:2222,other");
  EXPECT_EQ(config.host_key_alias, "al");
}

TEST(UserConfig, NoneIsNothingExceptForAnAgent) {
  const UserConfig config = parse_user_config(
      "identityfile none\nidentityagent none\nuserknownhostsfile none\nproxycommand none\n"
      "proxyjump none\n",
      "/home/me");
  EXPECT_EQ(config.identities, Texts{});
  EXPECT_EQ(config.known_hosts, Texts{});
  EXPECT_EQ(config.proxy_command, "");
  EXPECT_EQ(config.agent, "none") << "the user wants no agent, not the default one";
  EXPECT_EQ(parse_user_config("identityagent SSH_AUTH_SOCK\n", "/").agent, "");
}

TEST(UserConfig, KeepsACommandWhole) {
  const UserConfig config =
      parse_user_config("proxycommand nc -X 5 -x proxy:1080 %h %p\n", "/home/me");
  EXPECT_EQ(config.proxy_command, "nc -X 5 -x proxy:1080 %h %p");
}

TEST(UserConfig, OfNothingIsTheDefault) { EXPECT_EQ(parse_user_config("", "/"), UserConfig{}); }

}  // namespace
}  // namespace unplug::ssh
