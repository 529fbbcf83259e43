#include "run/item_folder.hpp"

#include <algorithm>

#include "run/item_paths.hpp"

namespace unplug::run {

using journal::Json;

ItemFolder::ItemFolder(const scenario::Bundle& bundle, const Plan& plan) {
  if (!bundle.target.items) return;
  items_ = &*bundle.target.items;
  name_.emplace(items_->match);
  const scenario::Folder* folder = bundle.target.folder(items_->folder);
  if (folder == nullptr) return;
  for (const SeatPlan& seat : plan.seats) {
    if (seat.seat.place != folder->place) continue;
    node_ = seat.node;
    path_ = resolved(folder->path, bundle.lab.node(node_)->scratch, "");
    return;
  }
}

ItemFiles ItemFolder::read(const Json& files, const std::set<std::string>& ours,
                           const std::set<std::string>& foreign) const {
  ItemFiles read;
  read.what = {{"items", Json::array()},
               {"outputs", Json::array()},
               {"partial", Json::array()},
               {"foreign", Json::array()}};
  for (const Json& file : files) {
    const std::string path = file.at(0).get<std::string>();
    const auto state = std::ranges::find_if(
        items_->states, [&](const auto& s) { return glob_matches(s.glob, path); });
    if (state != items_->states.end()) {
      read_item(read, path, state->name, ours, foreign);
    } else if (is_partial(path)) {
      read.what["partial"].push_back(path);
    } else if (is_output(*items_, path)) {
      read.what["outputs"].push_back({{"path", path}, {"size", file.at(1)}});
    }
  }
  return read;
}

void ItemFolder::read_item(ItemFiles& read, const std::string& path, const std::string& state,
                           const std::set<std::string>& ours,
                           const std::set<std::string>& foreign) const {
  const auto groups = name_->match(path);
  const auto field = [&](const char* name) -> std::string {
    const auto known = items_->fields.find(name);
    if (!groups || known == items_->fields.end()) return "";
    return groups->at(static_cast<std::size_t>(known->second));
  };
  const std::string item = field("item");
  if (item.empty() || foreign.contains(item) || (!ours.empty() && !ours.contains(item))) {
    read.what["foreign"].push_back(path);
    return;
  }
  const std::string owner = field("node");
  read.what["items"].push_back({{"item", item},
                                {"state", state},
                                {"owner", owner.empty() ? Json() : Json(owner)},
                                {"file", path}});
  if (!read.states.emplace(item, state).second) read.doubled.insert(item);
}

bool ItemFolder::is_partial(const std::string& path) const {
  return std::ranges::any_of(items_->partial, [&](const std::string& pattern) {
    const auto own = in_folder_named(pattern, items_->folder);
    return own && glob_matches(*own, path);
  });
}

}  // namespace unplug::run
