// Look-ups and texts of the models; no rule of any file stands here.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "scenario/injector.hpp"
#include "scenario/lab.hpp"
#include "scenario/problem.hpp"
#include "scenario/scenario.hpp"
#include "scenario/target.hpp"

namespace unplug::scenario {
namespace {

template <class T>
const T* by_name(const std::vector<T>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &T::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::string Problem::text() const {
  std::string text = fmt::format("{}:{}:{}: {}", file, line, column, what);
  return mend.empty() ? text : text + "; " + mend;
}

std::string to_text(Platform platform) {
  return platform == Platform::kDarwin ? "darwin" : "linux";
}

const LabNode* Lab::node(const std::string& wanted) const { return by_name(nodes, wanted); }

const Param* Injector::param(const std::string& wanted) const { return by_name(params, wanted); }

const Verb* Target::verb(const std::string& wanted) const { return by_name(verbs, wanted); }
const Part* Target::part(const std::string& wanted) const { return by_name(parts, wanted); }
const Log* Target::log(const std::string& wanted) const { return by_name(logs, wanted); }
const Folder* Target::folder(const std::string& wanted) const { return by_name(folders, wanted); }
const TargetPlace* Target::place(const std::string& wanted) const {
  return by_name(places, wanted);
}
const EventPattern* Target::event(const std::string& wanted) const {
  return by_name(events, wanted);
}

std::optional<Selector> parse_selector(const std::string& text) {
  const std::size_t blank = text.find(' ');
  if (blank == 0 || blank == std::string::npos) return std::nullopt;
  const std::string first = text.substr(0, blank);
  const std::string second = text.substr(blank + 1);
  if (second.empty() || second.find(' ') != std::string::npos) return std::nullopt;
  if (first == "all") return Selector{Selector::Pick::kAll, second, 1};
  if (first == "any") return Selector{Selector::Pick::kAny, second, 1};
  int number = 0;
  const char* end = second.data() + second.size();
  const auto [stop, error] = std::from_chars(second.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1) return std::nullopt;
  return Selector{Selector::Pick::kOne, first, number};
}

std::string to_text(const Selector& selector) {
  switch (selector.pick) {
    case Selector::Pick::kAll:
      return "all " + selector.word;
    case Selector::Pick::kAny:
      return "any " + selector.word;
    case Selector::Pick::kOne:
      break;
  }
  return selector.word + " " + std::to_string(selector.number);
}

const std::vector<std::string>& check_names() {
  static const std::vector<std::string> kNames = {
      "timeout", "cancellation", "cleanup",     "restart_point", "conservation", "exclusive_claim",
      "output",  "refuses",      "honest_exit", "progress",      "command"};
  return kNames;
}

}  // namespace unplug::scenario
