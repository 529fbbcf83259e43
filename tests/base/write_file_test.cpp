#include "base/write_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace unplug {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class WriteFile : public testing::Test {
 protected:
  WriteFile() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "write_file";
};

TEST_F(WriteFile, ReplacesWhatWasThere) {
  write_file(folder_ / "a", "one");
  write_file(folder_ / "a", "two");
  EXPECT_EQ(content(folder_ / "a"), "two");
}

// A limit on file size behaves as a full disk does.
TEST_F(WriteFile, KeepsTheOldFileAndNoHalfOneWhenThereIsNoRoom) {
  write_file(folder_ / "a", "one");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 10;
  setrlimit(RLIMIT_FSIZE, &small);
  std::string said;
  try {
    write_file(folder_ / "a", std::string(100'000, 'x'), "give it room");
  } catch (const Error& error) {
    said = error.what();
    EXPECT_EQ(error.exit(), Exit::kInternal);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(said, (folder_ / "a").string() + ": cannot be written: File too large; give it room");
  EXPECT_EQ(content(folder_ / "a"), "one");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(WriteFile, SaysWhyAPlaceCannotBeWritten) {
  std::filesystem::create_directories(folder_ / "a");
  EXPECT_THROW(write_file(folder_ / "a", "one"), Error);
  EXPECT_THROW(write_file(folder_ / "none" / "a", "one"), Error);
}

}  // namespace
}  // namespace unplug
