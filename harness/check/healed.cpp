#include "check/healed.hpp"

#include <algorithm>
#include <fstream>
#include <map>

#include "check/fields.hpp"

namespace unplug::check {
namespace {

namespace fs = std::filesystem;
using journal::Event;
using journal::Json;

const std::map<std::string, std::string> kStateOf = {
    {"armed", "armed"},       {"fired", "fired"},         {"not_fired", "no_effect"},
    {"reverted", "reverted"}, {"reverting", "reverting"}, {"still_broken", "reverting"},
    {"spent", "spent"}};

Event fault_event(const std::string& node, const std::string& instance, const std::string& state,
                  const Json& line, const std::string& boot) {
  Event event;
  event.kind = "fault";
  event.src = "heal";
  event.node = node;
  event.data = {{"instance", instance}, {"state", state}, {"by", "heal"}};
  if (!text_of(line, "why").empty()) event.data["why"] = text_of(line, "why");
  const auto nt = integer_of(line, "nt");
  if (nt) event.node_time = journal::NodeTime{boot, *nt};
  return event;
}

struct HealedFile {
  fs::path path;
  std::string node, fault;  // fault is "" for heal.sh's own lines
};

// "node2.freeze.worker-2.jsonl": names of nodes may hold points, so the lab's are tried first.
HealedFile parts_of(const fs::path& path, const std::vector<std::string>& nodes) {
  const std::string stem = path.stem().string();
  std::string node = stem.substr(0, stem.find('.'));
  for (const std::string& known : nodes) {
    if (stem.rfind(known + ".", 0) == 0 && known.size() > node.size()) node = known;
  }
  const std::string rest = stem.size() > node.size() ? stem.substr(node.size() + 1) : "";
  return {path, node, rest == "heal" ? "" : rest};
}

std::vector<HealedFile> files_in(const fs::path& folder, const std::vector<std::string>& nodes) {
  std::vector<HealedFile> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".jsonl") files.push_back(parts_of(entry.path(), nodes));
  }
  // What heal.sh says of a fault is later than what its guard wrote.
  std::sort(files.begin(), files.end(), [](const HealedFile& a, const HealedFile& b) {
    return std::pair(a.fault.empty(), a.path) < std::pair(b.fault.empty(), b.path);
  });
  return files;
}

}  // namespace

Event healed_event(const std::string& line, const std::string& node, const std::string& fault,
                   std::string& boot) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (text_of(json, "heal") == "fault") {
    return fault_event(node, text_of(json, "fault"), text_of(json, "state"), json, "");
  }
  if (!text_of(json, "boot").empty()) boot = text_of(json, "boot");
  const auto state = kStateOf.find(text_of(json, "guard"));
  if (fault.empty() || state == kStateOf.end()) return {};
  return fault_event(node, fault, state->second, json, boot);
}

std::vector<Event> read_healed(const fs::path& folder, const std::vector<std::string>& nodes) {
  std::vector<Event> events;
  for (const HealedFile& file : files_in(folder, nodes)) {
    std::ifstream in(file.path, std::ios::binary);
    std::string boot;
    for (std::string line; std::getline(in, line);) {
      Event event = healed_event(line, file.node, file.fault, boot);
      if (!event.kind.empty()) events.push_back(std::move(event));
    }
  }
  return events;
}

}  // namespace unplug::check
