#include "embedded/inventory.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "scenario/load.hpp"

namespace unplug::embedded {
namespace {

std::string pin(char c) { return "SHA256:" + std::string(43, c); }

struct Inventory : testing::Test {
  Blueprint lab = blueprint(3, "3s");
  Keys keys = {{"secret", "ssh-ed25519 USER", pin('u')},
               {{"", "ssh-ed25519 ONE", pin('o')},
                {"", "ssh-ed25519 TWO", pin('t')},
                {"", "ssh-ed25519 THREE", pin('3')}}};
};

TEST_F(Inventory, LabFilePinsEveryHostKey) {
  const auto file = nlohmann::json::parse(lab_json(lab, keys));
  ASSERT_EQ(file["nodes"].size(), 3U);
  EXPECT_EQ(file["nodes"][1]["host_key"], pin('t'));
  EXPECT_EQ(file["nodes"][1]["address"], "10.77.0.12");
  EXPECT_EQ(file["nodes"][1]["root"], "already");
  EXPECT_EQ(file["embedded"], true);
  EXPECT_EQ(file["limits"]["fault_lease"], "3s");
}

TEST_F(Inventory, LabFileNamesBothEndsOfEachLink) {
  const auto links = nlohmann::json::parse(lab_json(lab, keys))["links"];
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[1]["name"], "tb2");
  ASSERT_TRUE(links[1]["ends"].is_array());
  EXPECT_EQ(links[1]["ends"][0]["node"], "node1");
  EXPECT_EQ(links[1]["ends"][0]["interface"], "tb1");
  EXPECT_EQ(links[1]["ends"][1]["node"], "node3");
  EXPECT_EQ(links[1]["ends"][1]["interface"], "tb0");
}

// What is written here is read by another layer, which knows nothing of this one.
TEST_F(Inventory, LabFileIsReadByTheReaderOfLabFiles) {
  const auto path = std::filesystem::temp_directory_path() / ("lab." + std::to_string(getpid()));
  std::ofstream(path) << lab_json(lab, keys);
  const scenario::LoadedLab loaded = scenario::load_lab(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(loaded.problems.empty()) << loaded.problems.front().what;
  ASSERT_TRUE(loaded.lab.has_value());
  EXPECT_TRUE(loaded.lab->embedded);
  EXPECT_EQ(loaded.lab->known_hosts, "/run/unplug/home/.ssh/known_hosts");
  ASSERT_NE(loaded.lab->node("node2"), nullptr);
  EXPECT_EQ(loaded.lab->node("node2")->host_key, pin('t'));
  EXPECT_EQ(loaded.lab->links.size(), 2U);
}

TEST_F(Inventory, OneNodeHasAnEmptyListOfLinks) {
  const Blueprint one = blueprint(1, "3s");
  EXPECT_EQ(nlohmann::json::parse(lab_json(one, keys))["links"], nlohmann::json::array());
}

TEST_F(Inventory, KnownHostsHasNameControlAndDataAddresses) {
  EXPECT_EQ(known_hosts(lab, keys),
            "node1,10.77.0.11,10.78.0.1,10.78.1.1 ssh-ed25519 ONE\n"
            "node2,10.77.0.12,10.78.0.2 ssh-ed25519 TWO\n"
            "node3,10.77.0.13,10.78.1.2 ssh-ed25519 THREE\n");
}

TEST(Accounts, NoneIsLocked) { EXPECT_EQ(shadow_file().find('!'), std::string::npos); }

}  // namespace
}  // namespace unplug::embedded
