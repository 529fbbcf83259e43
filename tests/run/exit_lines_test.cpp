// How processes ended, by the lines of those who waited for them.
#include "run/exit_lines.hpp"

#include <gtest/gtest.h>

namespace unplug::run {
namespace {

using journal::Json;

scenario::Target shipped_farm() {
  scenario::Target target;
  scenario::Part worker;
  worker.name = "worker";
  worker.exits = scenario::ExitLine{
      "supervisor", "^worker ([0-9]+) exited (-?[0-9]+)$", {{"pid", 1}, {"code", 2}}};
  target.parts = {worker};
  return target;
}

TEST(ExitLines, TellCodesAndSignals) {
  EXPECT_EQ(exit_of_code(0), Json({{"code", 0}}));
  EXPECT_EQ(exit_of_code(3), Json({{"code", 3}}));
  EXPECT_EQ(exit_of_code(128), Json({{"code", 128}}));
  EXPECT_EQ(exit_of_code(137), Json({{"signal", "KILL"}}));
  EXPECT_EQ(exit_of_code(-15), Json({{"signal", "TERM"}}));
  EXPECT_EQ(exit_of_code(128 + 40), Json({{"signal", "40"}}));
}

TEST(ExitLines, AreReadFromTheirOwnLogOnly) {
  const ExitLines lines(shipped_farm());
  const auto seen = lines.read("supervisor", "worker 4711 exited 143");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].part, "worker");
  EXPECT_EQ(seen[0].pid, 4711);
  EXPECT_EQ(seen[0].exit, Json({{"signal", "TERM"}}));
  EXPECT_TRUE(lines.read("worker", "worker 4711 exited 143").empty());
  EXPECT_TRUE(lines.read("supervisor", "worker 4711 started").empty());
}

TEST(ExitLines, LeaveNumbersOutThatAreNone) {
  const ExitLines lines(shipped_farm());
  EXPECT_TRUE(lines.read("supervisor", "worker 99999999999999999999 exited 0").empty());
}

}  // namespace
}  // namespace unplug::run
