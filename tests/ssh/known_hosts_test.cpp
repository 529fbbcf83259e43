#include "ssh/known_hosts.hpp"

#include <gtest/gtest.h>

#include "ssh/blob.hpp"
#include "ssh/host_key.hpp"

namespace unplug::ssh {
namespace {

constexpr char kEd[] = "AAAAC3NzaC1lZDI1NTE5AAAAIJUjQoT0ZGm3hSNJmPV2aGvsBbbGyIEQRuF9u0yIRkMd";

std::string line(const std::string& names) { return names + " ssh-ed25519 " + kEd + " comment\n"; }

bool knows(const std::string& text, const std::string& host, int port = 22) {
  return !known_keys(text, host, port).good.empty();
}

TEST(KnownHosts, FindsNamesAddressesListsAndPorts) {
  EXPECT_TRUE(knows(line("alpha"), "alpha"));
  EXPECT_TRUE(knows(line("alpha,10.0.0.7"), "10.0.0.7"));
  EXPECT_TRUE(knows(line("[alpha]:2222"), "alpha", 2222));
  EXPECT_FALSE(knows(line("[alpha]:2222"), "alpha"));
  EXPECT_TRUE(knows(line("alpha"), "alpha", 2222)) << "as OpenSSH does";
  EXPECT_TRUE(knows(line("Alpha"), "ALPHA"));
  EXPECT_FALSE(knows(line("alphabet"), "alpha"));
  EXPECT_FALSE(knows("# " + line("alpha"), "alpha"));
}

TEST(KnownHosts, FindsNamesOfOneOrTwoLetters) { EXPECT_TRUE(knows(line("n1"), "n1")); }

TEST(KnownHosts, UnderstandsPatternsAndNegation) {
  EXPECT_TRUE(knows(line("*.farm.example"), "n7.farm.example"));
  EXPECT_TRUE(knows(line("n?"), "n7"));
  EXPECT_FALSE(knows(line("n*,!n7"), "n7"));
}

TEST(KnownHosts, UnderstandsHashedNames) {
  // ssh-keygen -H made this of the name "alpha".
  const std::string text = line("|1|o93tPDlPCT/QGTWAa3mkOQT+Owk=|9KBzLlhfycMU582dCUeSJVuxRw8=");
  EXPECT_TRUE(knows(text, "alpha"));
  EXPECT_FALSE(knows(text, "beta"));
}

TEST(KnownHosts, KeepsRevokedKeysApartAndPassesOverAuthorities) {
  const KnownKeys keys =
      known_keys("@revoked " + line("*") + "@cert-authority " + line("*"), "a", 22);
  EXPECT_TRUE(keys.good.empty());
  ASSERT_EQ(keys.revoked.size(), 1u);
  EXPECT_EQ(keys.revoked[0].line, 1);
}

TEST(HostKey, IsRefusedWhenRevokedEvenIfAlsoListed) {
  const std::string text = line("a") + "@revoked " + line("a");
  const HostKey seen{"ssh-ed25519", from_base64(kEd)};
  Login login;
  login.address = "a";
  EXPECT_NE(check_host_key(seen, login, known_keys(text, "a", 22)), "");
  EXPECT_EQ(check_host_key(seen, login, known_keys(line("a"), "a", 22)), "");
}

TEST(HostKey, PrefersTheTypesThatAreKnown) {
  const std::vector<std::string> can = {"ecdsa-sha2-nistp256", "ssh-ed25519", "ssh-rsa"};
  EXPECT_EQ(host_key_methods({}, can), "ssh-ed25519,ecdsa-sha2-nistp256,ssh-rsa");
  KnownKeys known;
  known.good.push_back({"ssh-rsa", "x", 1});
  EXPECT_EQ(host_key_methods(known, can), "ssh-rsa,ssh-ed25519,ecdsa-sha2-nistp256");
}

}  // namespace
}  // namespace unplug::ssh
