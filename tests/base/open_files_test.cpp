#include "base/open_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

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

TEST_F(OpenFiles, NamesTheMendWhenTheHardLimitIsTooLow) {
  if (before_.rlim_max == RLIM_INFINITY) GTEST_SKIP() << "there is no hard limit here";
  const std::string wanted = std::to_string(before_.rlim_max + 1);
  try {
    need_open_files(before_.rlim_max + 1);
    // Root may go beyond the hard limit only by raising that one, which is not ours to do.
    FAIL() << "the limit was " << before_.rlim_max;
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(wanted + " open files"), std::string::npos) << text;
    EXPECT_NE(text.find("ulimit -Hn " + wanted), std::string::npos) << text;
    EXPECT_EQ(error.exit(), Exit::kInconclusive);
  }
}

}  // namespace
}  // namespace unplug::test
