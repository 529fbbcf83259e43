// No test of a program may hang the others: one that takes two minutes is named, and ends them all.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace unplug::hang {
namespace {

constexpr unsigned kLimit = 120;  // s; the longest test takes 3 s on an idle machine
std::string text;                 // made before it is needed: a signal handler may not allocate

void give_up(int /*signal*/) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(3);
  _exit(2);
}

class Deadline : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    text = std::string("\n[  FAILED  ] ") + test.test_suite_name() + "." + test.name() +
           " did not end within two minutes\n";
    std::signal(SIGALRM, give_up);
    alarm(kLimit);
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override { alarm(0); }
};

// GoogleTest owns its listeners.
const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Deadline);
  return true;
}();

}  // namespace
}  // namespace unplug::hang
