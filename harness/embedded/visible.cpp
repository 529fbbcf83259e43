#include "embedded/visible.hpp"

#include <cctype>
#include <cstring>

namespace unplug::embedded {
namespace {

bool may_be_in_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("._+@%~-", c) != nullptr;
}

}  // namespace

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

std::set<std::string> mentioned(const std::string& text, const std::string& folder) {
  std::set<std::string> found;
  const std::string start = folder + "/";
  for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    auto end = at + start.size();
    while (end < text.size() && text[end] != '\0' && may_be_in_a_name(text[end])) ++end;
    const std::string name = text.substr(at + start.size(), end - at - start.size());
    if (!name.empty() && name != "." && name != "..") found.insert(start + name);
  }
  return found;
}

std::vector<std::string> outermost(const std::set<std::string>& paths) {
  std::vector<std::string> kept;
  for (const std::string& path : paths) {
    bool covered = false;
    for (const std::string& other : kept) covered = covered || is_below(path, other);
    if (!covered) kept.push_back(path);
  }
  return kept;
}

}  // namespace unplug::embedded
