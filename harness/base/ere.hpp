// A POSIX extended regular expression: the one pattern language of files, grep and us.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace unplug {

class Ere {
 public:
  // Throws Error(kUsage) when the pattern does not compile.
  explicit Ere(const std::string& pattern);

  // The whole match and its groups ("" for a group that took no part), or nothing.
  std::optional<std::vector<std::string>> match(const std::string& text) const;

  std::size_t groups() const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace unplug
