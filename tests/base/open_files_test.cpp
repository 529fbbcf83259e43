#include "base/open_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.hpp"

namespace unplug::test {
namespace {

// The limits of this process, put back afterwards.
class OpenFiles : public testing::Test {
 protected:
  void SetUp() override { ::getrlimit(RLIMIT_NOFILE, &before_); }
  void TearDown() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

  static void limit_to(rlim_t soft) {
    rlimit limits{};
    ::getrlimit(RLIMIT_NOFILE, &limits);
    limits.rlim_cur = soft;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limits), 0);
  }
  static rlim_t soft() {
    rlimit limits{};
    ::getrlimit(RLIMIT_NOFILE, &limits);
    return limits.rlim_cur;
  }

  rlimit before_{};
};

TEST_F(OpenFiles, RaisesALowLimitToWhatIsNeeded) {
  limit_to(200);
  need_open_files(300);
  EXPECT_EQ(soft(), 300u);
}

TEST_F(OpenFiles, LeavesALimitAloneThatIsHighEnough) {
  limit_to(200);
  need_open_files(200);
  EXPECT_EQ(soft(), 200u);
}

TEST_F(OpenFiles, MakesRoomForEveryNodeAndMore) {
  limit_to(100);
  need_open_files_for(90);
  EXPECT_GT(soft(), 190u);
}

// In a process of its own: a hard limit that was lowered stays so.
[[noreturn]] void ask_beyond_the_hard_limit() {
  const rlimit low{100, 200};
  ::setrlimit(RLIMIT_NOFILE, &low);
  try {
    need_open_files(201);
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(static_cast<int>(error.exit()));
  }
  std::_Exit(0);
}

TEST_F(OpenFiles, NamesTheMendWhenTheHardLimitIsTooLow) {
  EXPECT_EXIT(ask_beyond_the_hard_limit(),
              testing::ExitedWithCode(static_cast<int>(Exit::kInconclusive)),
              "needs 201 open files, and its hard limit is 200.*ulimit -Hn 201");
}

}  // namespace
}  // namespace unplug::test
