#include "run/baseline_cache.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace unplug::run {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class BaselineCache : public testing::Test {
 protected:
  BaselineCache() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    before_ = cache != nullptr ? cache : "";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "own");
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~BaselineCache() override {
    before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }

  void keep(const std::string& journal, Duration took) {
    std::ofstream(folder_ / "own" / "journal.jsonl") << journal;
    keep_baseline("key", folder_ / "own", took);
  }
  std::string found() {
    fs::remove_all(folder_ / "copy");
    took_ = baseline_from_cache("key", folder_ / "copy");
    std::ifstream in(folder_ / "copy" / "journal.jsonl");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path entries() const { return folder_ / "unplug" / "baseline"; }

  fs::path folder_ = fs::path(testing::TempDir()) / "baseline_cache";
  std::string before_;
  std::optional<Duration> took_;
};

TEST_F(BaselineCache, GivesWhatWasKept) {
  EXPECT_EQ(found(), "");
  EXPECT_FALSE(took_.has_value());
  keep("one", 7s);
  EXPECT_EQ(found(), "one");
  EXPECT_EQ(took_, 7s);
}

// Somebody may be copying it.
TEST_F(BaselineCache, NeverReplacesOneThatIsStillGood) {
  keep("one", 7s);
  keep("two", 8s);
  EXPECT_EQ(found(), "one");
  EXPECT_EQ(took_, 7s);
}

TEST_F(BaselineCache, ReplacesOneThatIsTooOld) {
  keep("one", 7s);
  fs::last_write_time(entries() / "key" / "baseline.json",
                      fs::file_time_type::clock::now() - 24h * 8);
  EXPECT_EQ(found(), "");
  keep("two", 8s);
  EXPECT_EQ(found(), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(entries()), {}), 1) << "drafts are left";
}

TEST_F(BaselineCache, TakesOneThatCannotBeReadForNone) {
  keep("one", 7s);
  std::ofstream(entries() / "key" / "baseline.json") << "{";
  EXPECT_EQ(found(), "");
  EXPECT_FALSE(took_.has_value());
  EXPECT_FALSE(fs::exists(folder_ / "copy")) << "half of it is left";
}

TEST_F(BaselineCache, CostsNothingWhenItCannotBeWritten) {
  fs::create_directories(folder_ / "unplug");
  std::ofstream(entries()) << "a file where the folder should be";
  keep("one", 7s);
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace unplug::run
