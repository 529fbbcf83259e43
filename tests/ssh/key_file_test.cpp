#include "ssh/key_file.hpp"

#include <gtest/gtest.h>

namespace unplug::ssh {
namespace {

using Type = KeyFile::Type;

// The head of a file of `ssh-keygen -t ed25519`; what follows is secret and not read.
TEST(KeyFile, ReadsTheTypeOfAnOpensshKey) {
  const KeyFile key = describe_key(
      "-----BEGIN OPENSSH PRIVATE KEY-----\n"
      "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n"
      "QyNTUxOQAAACCVI0KE9GRpt4UjSZj1dmhr7AW2xsiBEEbhfbtMiEZDHQAA\n"
      "-----END OPENSSH PRIVATE KEY-----\n");
  EXPECT_EQ(key.type, Type::kEd25519);
  EXPECT_FALSE(key.encrypted);
}

TEST(KeyFile, SeesEncryption) {
  EXPECT_TRUE(describe_key("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n").encrypted);
  EXPECT_TRUE(describe_key("-----BEGIN ENCRYPTED PRIVATE KEY-----\n").encrypted);
  EXPECT_EQ(describe_key("-----BEGIN RSA PRIVATE KEY-----\n").type, Type::kRsa);
}

TEST(KeyFile, KnowsWhatIsNoKey) {
  EXPECT_EQ(describe_key("").type, Type::kNoKey);
  EXPECT_EQ(describe_key("ssh-ed25519 AAAA").type, Type::kNoKey);
  EXPECT_EQ(describe_key("-----BEGIN OPENSSH PRIVATE KEY-----\ntruncated").type, Type::kNoKey);
}

}  // namespace
}  // namespace unplug::ssh
