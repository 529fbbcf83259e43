#include "ssh/complaint.hpp"

#include <gtest/gtest.h>

namespace unplug::ssh {
namespace {

using End = LoginResult::End;
using Step = LoginResult::Step;

LoginResult of(const std::string& said) {
  Login login;
  login.address = "10.0.0.1";
  login.port = 2222;
  login.user = "farm";
  login.host_key = "SHA256:pinned";
  login.known_hosts = "/home/me/.ssh/known_hosts";
  return complaint(said, login);
}

void expect_words(const LoginResult& result, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(result.why.find(word), std::string::npos) << word << " in: " << result.why;
  }
}

TEST(Complaint, NamesAnUnknownHostAndTheLineThatMendsIt) {
  const LoginResult result =
      of("No ED25519 host key is known for [10.0.0.1]:2222 and you have requested strict "
         "checking.\r\nHost key verification failed.\r\n");
  EXPECT_EQ(result.end, End::kRefused);
  EXPECT_EQ(result.step, Step::kHostKey);
  expect_words(result, {"`ssh-keyscan -p 2222 10.0.0.1 >> /home/me/.ssh/known_hosts`"});
}

TEST(Complaint, NamesAnUnknownJumpHost) {
  const LoginResult result =
      of("The authenticity of host 'bastion (192.0.2.1)' can't be established.\r\n"
         "ED25519 key fingerprint is SHA256:abc.\r\nHost key verification failed.\r\n"
         "kex_exchange_identification: Connection closed by remote host\r\n"
         "Connection closed by UNKNOWN port 65535\r\n");
  EXPECT_EQ(result.step, Step::kHostKey);
  expect_words(result, {"10.0.0.1:2222: bastion has no key", "`ssh-keyscan -p 22 bastion"});
}

TEST(Complaint, NamesAChangedKeyWithItsPlaceAndFingerprint) {
  const LoginResult result =
      of("@@@@@@@@@@@@@@@@\r\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n"
         "The fingerprint for the ED25519 key sent by the remote host is\r\nSHA256:abc.\r\n"
         "Offending ED25519 key in /home/me/.ssh/known_hosts:3\r\n"
         "Host key for [10.0.0.1]:2222 has changed and you have requested strict checking.\r\n"
         "Host key verification failed.\r\n");
  EXPECT_EQ(result.step, Step::kHostKey);
  expect_words(result, {"/home/me/.ssh/known_hosts:3", "SHA256:abc it showed",
                        "`ssh-keygen -R '[10.0.0.1]:2222'`"});
}

TEST(Complaint, NamesThePinAndWhatWasSeen) {
  const LoginResult result = of(
      "unplug-saw ED25519 SHA256:other\nNo ED25519 host key is known for [10.0.0.1]:2222 and you "
      "have requested strict checking.\r\nHost key verification failed.\r\n");
  EXPECT_EQ(result.step, Step::kHostKey);
  expect_words(result, {"pins SHA256:pinned", "it showed ED25519 SHA256:other"});
}

TEST(Complaint, NamesWhoWasDeniedWhereTheJumpHostRefuses) {
  const LoginResult result =
      of("me@bastion: Permission denied (publickey).\r\n"
         "kex_exchange_identification: Connection closed by remote host\r\n");
  EXPECT_EQ(result.end, End::kRefused);
  EXPECT_EQ(result.step, Step::kKey);
  expect_words(result,
               {"me@bastion: Permission denied (publickey)", "authorized_keys of me@bastion"});
}

TEST(Complaint, NamesTheHostThatDoesNotAnswer) {
  const LoginResult jump =
      of("ssh: connect to host bastion port 22: Connection refused\r\n"
         "kex_exchange_identification: Connection closed by remote host\r\n");
  EXPECT_EQ(jump.end, End::kNoAnswer);
  expect_words(jump, {"connect to host bastion port 22: Connection refused"});
  const LoginResult behind =
      of("channel 0: open failed: connect failed: No route to host\r\nstdio forwarding failed\r\n"
         "kex_exchange_identification: Connection closed by remote host\r\n");
  EXPECT_EQ(behind.end, End::kNoAnswer);
  expect_words(behind, {"the jump host cannot reach it: connect failed: No route to host"});
  expect_words(of("ssh: Could not resolve hostname mini9: Name or service not known\r\n"),
               {"Could not resolve hostname mini9"});
}

TEST(Complaint, AServerThatDropsEarlyIsWorthAnotherTry) {
  EXPECT_EQ(of("kex_exchange_identification: Connection closed by remote host\r\n").end,
            End::kDropped);
  EXPECT_EQ(of("Connection reset by 10.0.0.1 port 2222\r\n").end, End::kDropped);
}

TEST(Complaint, NamesTheBadLineOfAConfiguration) {
  const LoginResult result =
      of("/home/me/.ssh/config: line 22: Bad configuration option: foo\r\n"
         "/home/me/.ssh/config: terminating, 1 bad configuration options\r\n");
  EXPECT_EQ(result.step, Step::kConfig);
  expect_words(result, {"/home/me/.ssh/config: line 22: Bad configuration option: foo"});
}

TEST(Complaint, NamesNoCommonAlgorithm) {
  EXPECT_EQ(of("Unable to negotiate with 10.0.0.1 port 2222: no matching cipher found. Their "
               "offer: 3des-cbc\r\n")
                .step,
            Step::kAlgorithms);
}

TEST(Complaint, OfSomethingElseShowsItsLastLine) {
  expect_words(of("one\ntwo\n"), {"could not log in: two"});
  expect_words(of(""), {"it said nothing"});
}

}  // namespace
}  // namespace unplug::ssh
