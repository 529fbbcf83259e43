#include "process/frame.hpp"

#include <gtest/gtest.h>

#include "process/script.hpp"

namespace unplug {
namespace {

constexpr char kStream[] =
    "motd\n\x1e"
    "feed\x1e"
    "n1 begin\nhello \x1e there\n\x1en2 0\n\x1en1 7\nlate";

std::string data_of(Frame& frame, std::string_view stream, std::size_t step) {
  std::string data;
  for (std::size_t at = 0; at < stream.size(); at += step) {
    frame.feed(stream.substr(at, step), [&data](std::string_view bytes) { data += bytes; });
  }
  return data;
}

TEST(Frame, FindsItsMarksHoweverTheBytesAreCut) {
  for (std::size_t step = 1; step < sizeof kStream; ++step) {
    Frame frame("n1");
    EXPECT_EQ(data_of(frame, kStream, step), "hello \x1e there\n\x1en2 0\n") << step;
    EXPECT_EQ(frame.end(), "7");
    EXPECT_EQ(frame.noise(),
              "motd\n\x1e"
              "feed");
  }
}

TEST(Frame, PassesDataOnBeforeTheEndMark) {
  Frame frame("n1");
  EXPECT_EQ(data_of(frame, "\x1en1 begin\nline", 100), "line");
  EXPECT_TRUE(frame.begun());
  EXPECT_FALSE(frame.end().has_value());
}

TEST(Frame, GivesUpHeldBytesAtTheEndOfTheStream) {
  Frame frame("n1");
  std::string data = data_of(frame, "\x1en1 begin\nx\x1en1", 100);
  EXPECT_EQ(data, "x");
  frame.flush([&data](std::string_view bytes) { data += bytes; });
  EXPECT_EQ(data, "x\x1en1");
}

TEST(Script, LeavesNothingThatALoginShellCouldTakeForItself) {
  const std::string line = "echo 'a' \"b\" \\ ! $HOME `x`\n\xc3\xa9";
  const std::string safe = printf_b(line);
  EXPECT_EQ(safe, "echo \\0047a\\0047 \"b\" \\0134 \\0041 $HOME `x`\\0012\\0303\\0251");
}

TEST(Script, MakesANonceEachTime) { EXPECT_NE(make_nonce(), make_nonce()); }

}  // namespace
}  // namespace unplug
