#include "ssh/transport.hpp"

#include <gtest/gtest.h>

namespace unplug::ssh {
namespace {

using scenario::SshBy;
using Type = KeyFile::Type;

const UserKey kEdKey{"~/.ssh/id_ed25519", {Type::kEd25519, false}};
const UserKey kRsaKey{"~/.ssh/id_rsa", {Type::kRsa, false}};
const UserKey kTokenKey{"~/.ssh/id_ed25519_sk", {Type::kHardware, false}};

Choice choose(const UserConfig& config, const std::vector<UserKey>& keys = {kEdKey},
              const std::string& version = "1.10.0") {
  return choose_transport(SshBy::kAuto, config, keys, version);
}

TEST(Transport, IsLibssh2WhenNothingSpeaksAgainstIt) {
  EXPECT_EQ(choose({}).transport, Transport::kLibssh2);
  EXPECT_EQ(choose({}, {}).transport, Transport::kLibssh2) << "the agent's keys";
}

TEST(Transport, IsSshForAJumpHostAndSaysWhich) {
  UserConfig config;
  config.proxy_jump = "bastion";
  EXPECT_EQ(choose(config).transport, Transport::kSsh);
  EXPECT_EQ(choose(config).because, "jump host bastion");
}

TEST(Transport, IsSshForAnRsaKeyUntilLibssh2SignsItWithSha2) {
  const Choice old = choose({}, {kRsaKey}, "1.10.0");
  EXPECT_EQ(old.transport, Transport::kSsh);
  EXPECT_EQ(old.because, "RSA key ~/.ssh/id_rsa with libssh2 1.10.0");
  EXPECT_EQ(choose({}, {kRsaKey}, "1.11.1").transport, Transport::kLibssh2);
  EXPECT_EQ(choose({}, {kRsaKey}, "2.0").transport, Transport::kLibssh2);
}

TEST(Transport, IsSshForAKeyOnHardware) {
  EXPECT_EQ(choose({}, {kTokenKey}, "1.11.1").because, "key on hardware ~/.ssh/id_ed25519_sk");
}

TEST(Transport, TriesLibssh2FirstWhenItCanUseOneOfTheKeys) {
  const Choice choice = choose({}, {kRsaKey, kEdKey});
  EXPECT_EQ(choice.transport, Transport::kLibssh2);
  EXPECT_TRUE(choice.more_by_ssh) << "the server may want the other key";
  EXPECT_FALSE(choose({}, {kEdKey}).more_by_ssh);
}

TEST(Transport, IsSshForWhatOnlyItsConfigurationMeans) {
  for (const auto member : {&UserConfig::proxy_command, &UserConfig::host_key_alias,
                            &UserConfig::known_hosts_command, &UserConfig::pkcs11_provider}) {
    UserConfig config;
    config.*member = "x";
    EXPECT_EQ(choose(config).transport, Transport::kSsh);
  }
  UserConfig config;
  config.identities = {"~/.ssh/%h_key"};
  EXPECT_EQ(choose(config).because, "IdentityFile ~/.ssh/%h_key");
  config.identities.clear();
  config.certificates = {"~/.ssh/x-cert.pub"};
  EXPECT_EQ(choose(config).transport, Transport::kSsh);
}

TEST(Transport, TheLabFileHasTheLastWord) {
  UserConfig config;
  config.proxy_jump = "bastion";
  EXPECT_EQ(choose_transport(SshBy::kLibssh2, config, {kRsaKey}, "1.10.0").transport,
            Transport::kLibssh2);
  EXPECT_EQ(choose_transport(SshBy::kProgram, {}, {kEdKey}, "1.11.1").because,
            "the lab file says so");
}

}  // namespace
}  // namespace unplug::ssh
