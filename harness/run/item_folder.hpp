// The folder that holds a farm's items: where it is, and what its files are. Pure; no node is
// asked.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/ere.hpp"
#include "journal/event.hpp"
#include "run/plan.hpp"

namespace unplug::run {

// The items of a list of files: what a `snapshot` of scope items holds.
struct ItemFiles {
  journal::Json what;                         // items, outputs, partial, foreign
  std::map<std::string, std::string> states;  // item -> state; the last one listed
  std::set<std::string> doubled;              // items in more than one state
};

class ItemFolder {
 public:
  ItemFolder(const scenario::Bundle& bundle, const Plan& plan);

  // The server's node, and what observe.sh files must list there; "" when the target has no items.
  const std::string& node() const { return node_; }
  const std::string& path() const { return path_; }

  // [[path, size], ...]. Not ours: the items named in `foreign`, and, when it is not empty, those
  // that are not in `ours`.
  ItemFiles read(const journal::Json& files, const std::set<std::string>& ours,
                 const std::set<std::string>& foreign) const;

 private:
  void read_item(ItemFiles& read, const std::string& path, const std::string& state,
                 const std::set<std::string>& ours, const std::set<std::string>& foreign) const;
  bool is_partial(const std::string& path) const;

  const scenario::Items* items_ = nullptr;
  std::optional<Ere> name_;
  std::string node_, path_;
};

}  // namespace unplug::run
