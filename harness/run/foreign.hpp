// Work that is on the nodes and that this run has not made: items, their files, and processes in
// the target's folders. docs/semantics.md, Labs: it stops a run unless the lab allows it, and then
// must stay as it is; check/foreign.hpp judges that.
//
// Looking writes nothing and needs no folder of ours on the node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "run/context.hpp"
#include "run/item_folder.hpp"

namespace unplug::run {

class ForeignWork {
 public:
  explicit ForeignWork(Stage& stage) : stage_(stage), folder_(stage.bundle(), stage.plan()) {}

  // What is there now, on every node. Why the run may not begin; empty when it may.
  asio::awaitable<std::vector<std::string>> look();

  // The items among it.
  const std::set<std::string>& items() const { return items_; }

  // A snapshot of scope `foreign` of each node where something was found: `before` deploy, with the
  // files' hashes, and `after` the nodes were cleared.
  asio::awaitable<void> journal(std::string when);

 private:
  struct Found {
    std::vector<std::string> files;  // in the items' folder
    journal::Json processes = journal::Json::array();
  };

  asio::awaitable<void> look_at(std::string node, std::vector<std::string>& problems);
  asio::awaitable<node::Outcome> ask(std::string name, std::string line);
  asio::awaitable<std::string> find_files(std::string node);
  asio::awaitable<std::string> find_processes(std::string node);
  asio::awaitable<void> journal_node(std::string node, std::string when);
  std::vector<std::string> refusals(const std::string& node) const;

  Stage& stage_;
  ItemFolder folder_;
  std::map<std::string, Found> found_;  // node -> what is there
  std::set<std::string> items_;
};

}  // namespace unplug::run
