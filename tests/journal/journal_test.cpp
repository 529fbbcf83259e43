// Writer, Memory and reader: what is written is read back, and every tampering is seen.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "journal/event.hpp"
#include "journal/reader.hpp"
#include "journal/writer.hpp"

namespace unplug::journal {
namespace {

namespace fs = std::filesystem;

struct JournalFile : testing::Test {
  JournalFile() {
    std::string name = (fs::temp_directory_path() / "unplug-journal-XXXXXX").string();
    folder = mkdtemp(name.data());
    file = folder / "journal.jsonl";
  }
  ~JournalFile() override { fs::remove_all(folder); }

  void write_notes(int n) {
    Writer writer(file);
    for (int i = 1; i <= n; ++i) writer.append({"note", {{"text", "note " + std::to_string(i)}}});
  }
  std::vector<std::string> lines() const {
    std::ifstream in(file, std::ios::binary);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  void put(const std::vector<std::string>& all, const std::string& tail = "") const {
    std::ofstream out(file, std::ios::binary);
    for (const std::string& line : all) out << line << "\n";
    out << tail;
  }

  fs::path folder, file;
};

TEST_F(JournalFile, ReadsBackWhatWasWritten) {
  {
    Writer writer(file);
    writer.append({"run_opened", {{"run", "r1"}, {"seed", 7}}});
    writer.append({"fault",
                   {{"id", "kill"}, {"state", "fired"}},
                   "guard",
                   "node2",
                   NodeTime{"boot-a", 42},
                   81'234'567'890});
    writer.sync();
    EXPECT_EQ(writer.count(), 2u);
  }
  const Journal journal = read(file);
  EXPECT_FALSE(journal.torn);
  EXPECT_EQ(journal.broken, "");
  ASSERT_EQ(journal.events.size(), 2u);
  const Event& fired = journal.events[1];
  EXPECT_EQ(fired.seq, 2u);
  EXPECT_EQ(fired.t, 81'234'567'890);
  EXPECT_EQ(fired.node, "node2");
  EXPECT_EQ(fired.node_time, (NodeTime{"boot-a", 42}));
  EXPECT_EQ(fired.src, "guard");
  EXPECT_EQ(fired.data["state"], "fired");
  EXPECT_EQ(journal.events[0].node, "");
  EXPECT_EQ(journal.events[0].node_time, std::nullopt);
  EXPECT_EQ(journal.events[0].prev, std::string(64, '0'));
  EXPECT_EQ(fired.prev, sha256(lines()[0]));
}

TEST_F(JournalFile, GivesTimeAndWallToAnEventThatHasNone) {
  Writer writer(file);
  const Event& event = writer.append({"note", {{"text", "now"}}});
  EXPECT_GT(event.t, 0);
  EXPECT_NE(event.wall, "");
}

TEST_F(JournalFile, NeverWritesOverAnExistingFile) {
  write_notes(1);
  try {
    Writer again(file);
    FAIL() << "the second writer was let in";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInternal);
  }
  EXPECT_EQ(read(file).events.size(), 1u);
}

TEST_F(JournalFile, ReadsUpToATornLastLine) {
  write_notes(3);
  auto all = lines();
  const std::string half = all[2].substr(0, all[2].size() / 2);
  all.pop_back();
  put(all, half);
  const Journal journal = read(file);
  EXPECT_TRUE(journal.torn);
  EXPECT_EQ(journal.broken, "");
  EXPECT_EQ(journal.events.size(), 2u);
}

TEST_F(JournalFile, CallsALastLineWithoutLineFeedTornEvenIfItIsWhole) {
  write_notes(2);
  auto all = lines();
  put({all[0]}, all[1]);
  EXPECT_TRUE(read(file).torn);
  EXPECT_EQ(read(file).events.size(), 1u);
}

TEST_F(JournalFile, SeesAnEditedLine) {
  write_notes(4);
  auto all = lines();
  all[1].replace(all[1].find("note 2"), 6, "note 9");
  put(all);
  const Journal journal = read(file);
  EXPECT_EQ(journal.events.size(), 2u);
  EXPECT_EQ(journal.broken.rfind("line 3: ", 0), 0u) << journal.broken;
}

TEST_F(JournalFile, SeesARemovedLine) {
  write_notes(4);
  auto all = lines();
  all.erase(all.begin() + 1);
  put(all);
  EXPECT_EQ(read(file).broken.rfind("line 2: has number 3", 0), 0u) << read(file).broken;
}

TEST_F(JournalFile, SeesARemovedFirstLine) {
  write_notes(3);
  auto all = lines();
  all.erase(all.begin());
  put(all);
  EXPECT_NE(read(file).broken, "");
  EXPECT_TRUE(read(file).events.empty());
}

TEST_F(JournalFile, SeesLinesInAnotherOrder) {
  write_notes(4);
  auto all = lines();
  std::swap(all[1], all[2]);
  put(all);
  EXPECT_EQ(read(file).broken.rfind("line 2: ", 0), 0u);
  EXPECT_EQ(read(file).events.size(), 1u);
}

TEST_F(JournalFile, SeesALineThatIsNoEvent) {
  write_notes(2);
  auto all = lines();
  for (const std::string bad : {"", "[]", "{\"seq\":3}", "rubbish", "{\"seq\":\"x\"}"}) {
    auto with = all;
    with.push_back(bad);
    put(with);
    EXPECT_EQ(read(file).broken.rfind("line 3: ", 0), 0u) << bad;
    EXPECT_EQ(read(file).events.size(), 2u);
  }
}

TEST_F(JournalFile, KeepsNonAsciiTextAndReplacesBytesThatAreNotUtf8) {
  {
    Writer writer(file);
    writer.append({"note", {{"text", "Muñoz \xE2\x9C\x93 \"quoted\"\n\t\x01"}}});
    writer.append({"note", {{"text", std::string("a\xff\xfe\0z", 5)}}});
    writer.append({"note", {{"text", "after"}}});
  }
  const Journal journal = read(file);
  EXPECT_EQ(journal.broken, "");
  ASSERT_EQ(journal.events.size(), 3u);
  EXPECT_EQ(journal.events[0].data["text"], "Muñoz \xE2\x9C\x93 \"quoted\"\n\t\x01");
  EXPECT_EQ(journal.events[1].data["text"], std::string("a\xEF\xBF\xBD\xEF\xBF\xBD\0z", 9));
}

TEST_F(JournalFile, HoldsABigEvent) {
  const std::string big(3 << 20, 'x');
  {
    Writer writer(file);
    writer.append({"note", {{"text", big}}});
    writer.append({"note", {{"text", "after"}}});
  }
  const Journal journal = read(file);
  ASSERT_EQ(journal.events.size(), 2u);
  EXPECT_EQ(journal.events[0].data["text"], big);
}

// A limit on file size behaves as a full disk does: first a short write, then an error.
TEST_F(JournalFile, EndsInternalWhenTheDiskIsFullAndLeavesWholeLines) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  std::uint64_t written = 0;
  {
    Writer writer(file);
    const rlimit small{2000, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    Exit exit = Exit::kPass;
    for (int i = 0; i < 100 && exit == Exit::kPass; ++i) {
      try {
        writer.append({"note", {{"text", std::string(100, 'x')}}});
      } catch (const Error& error) {
        exit = error.exit();
      }
    }
    EXPECT_EQ(exit, Exit::kInternal);
    setrlimit(RLIMIT_FSIZE, &old);
    writer.append({"note", {{"text", "room again"}}});
    written = writer.count();
  }
  signal(SIGXFSZ, old_handler);
  const Journal journal = read(file);
  EXPECT_EQ(journal.broken, "");
  EXPECT_FALSE(journal.torn);
  EXPECT_EQ(journal.events.size(), written);
}

TEST_F(JournalFile, SaysWhichFileCannotBeRead) {
  EXPECT_THROW(read(folder / "nothing.jsonl"), Error);
  EXPECT_THROW(read(folder), Error);
}

TEST(Memory, MakesTheSameChainAsTheWriter) {
  Memory memory;
  for (int i = 0; i < 3; ++i) memory.append({"note", {{"n", i}}});
  memory.sync();
  EXPECT_EQ(memory.syncs, 1);
  ASSERT_EQ(memory.events.size(), 3u);
  EXPECT_EQ(memory.events[0].prev, std::string(64, '0'));
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(memory.events[i].seq, i + 1);
    EXPECT_EQ(memory.events[i].prev, sha256(to_line(memory.events[i - 1])));
  }
}

TEST(Event, SurvivesItsOwnLine) {
  Event event;
  event.seq = 7;
  event.prev = std::string(64, 'a');
  event.t = -5;
  event.wall = "2026-11-30T18:41:50.123Z";
  event.src = "observer:log";
  event.kind = "target";
  event.data = {{"event", "frame"}, {"fields", {{"n", "12"}}}};
  const std::string line = to_line(event);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(to_line(from_line(line)), line);
}

}  // namespace
}  // namespace unplug::journal
