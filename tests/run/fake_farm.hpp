// The shipped farm target on fake nodes: observers that say what a test lets them say.
#pragma once

#include <map>
#include <string>

#include "run/fake_lab.hpp"

namespace unplug::run {

// The shipped target and injectors, in the lab of plan_builder.hpp.
inline scenario::Bundle shipped_farm(std::vector<scenario::Fault> faults) {
  const std::filesystem::path root = UNPLUG_TEST_ROOT;
  scenario::Bundle bundle = farm(std::move(faults));
  std::vector<scenario::Problem> problems;
  bundle.target_file = root / "fixtures/farm/target.json";
  bundle.target = *scenario::load_target(bundle.target_file, problems);
  for (const auto& [name, injector] : bundle.injectors) {
    bundle.injector_files[name] = root / "injectors" / name / "injector.json";
  }
  bundle.scenario.settle = 30ms;
  return bundle;
}

class FakeFarm : public FakeLab {
 public:
  explicit FakeFarm(std::vector<scenario::Fault> of = {}) : FakeLab(shipped_farm(std::move(of))) {
    reply("sh sh/observe.sh start", {0, "", ""});
    reply("sh sh/observe.sh files", {0, "{\"files\":[],\"truncated\":false}\n", ""});
    reply("sh sh/observe.sh system", {0, "{\"ports\":[],\"mounts\":[]}\n", ""});
    reply("perl - files", {0, "{\"files\":[],\"truncated\":false}\n", ""});
    reply("perl - works", {0, "{\"boot\":\"b\",\"processes\":[]}\n", ""});
    for (const std::string& name : plan.nodes) {
      node(name).on("cd .unplug/run1 && sh sh/observe.sh follow", [this, name](node::FakeRun& run) {
        history.push_back(name + " " + run.call.line);
        followed[name] = &run;
        run.say(R"({"k":"begin","boot":"boot-of-)" + name + R"(","nt":1000000000})");
      });
      node(name).on("cd .unplug/run1 && sh sh/observe.sh stop", [this, name](node::FakeRun& run) {
        history.push_back(name + " " + run.call.line);
        followed[name]->say(R"({"k":"end","nt":2000000000})");
        run.exit(0);
      });
    }
  }

  // What `observe.sh files items=...` lists: "queue/shot-1.job".
  void items(std::vector<std::string> paths) {
    journal::Json files = journal::Json::array();
    for (const std::string& path : paths) files.push_back("items:" + path);
    reply("sh sh/observe.sh files items=",
          {0, journal::Json{{"files", files}, {"truncated", false}}.dump() + "\n", ""});
  }
  // What is there before anything of ours is.
  void foreign(std::vector<std::string> paths) {
    journal::Json files = journal::Json::array();
    for (const std::string& path : paths) files.push_back("items:" + path);
    reply("perl - files",
          {0, journal::Json{{"files", files}, {"truncated", false}}.dump() + "\n", ""});
  }
  // What node1's observer sees of them.
  void sees(std::vector<std::string> paths, bool clean = true) {
    journal::Json files = journal::Json::array();
    for (const std::string& path : paths) files.push_back({path, 10});
    followed["node1"]->say(journal::Json{
        {"k", "files"}, {"o", "share"}, {"nt", 1500000000}, {"clean", clean}, {"files", files}}
                               .dump());
  }

  std::map<std::string, node::FakeRun*> followed;  // the open channels of `follow`
};

}  // namespace unplug::run
