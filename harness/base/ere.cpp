#include "base/ere.hpp"

#include <regex.h>

#include <array>

#include "base/error.hpp"

namespace unplug {

struct Ere::Compiled {
  regex_t regex{};
  ~Compiled() { regfree(&regex); }
};

Ere::Ere(const std::string& pattern) {
  auto* compiled = new Compiled;  // freed by hand when regcomp fails: regfree would be undefined
  if (const int code = regcomp(&compiled->regex, pattern.c_str(), REG_EXTENDED); code != 0) {
    std::array<char, 200> text{};
    regerror(code, &compiled->regex, text.data(), text.size());
    ::operator delete(compiled);
    throw Error(Exit::kUsage, "pattern \"" + pattern + "\"", text.data(),
                "write a POSIX extended regular expression");
  }
  compiled_.reset(compiled);
}

std::optional<std::vector<std::string>> Ere::match(const std::string& text) const {
  std::vector<regmatch_t> found(groups() + 1);
  if (regexec(&compiled_->regex, text.c_str(), found.size(), found.data(), 0) != 0) {
    return std::nullopt;
  }
  std::vector<std::string> groups;
  for (const regmatch_t& m : found) {
    groups.push_back(m.rm_so < 0 ? std::string{}
                                 : text.substr(static_cast<std::size_t>(m.rm_so),
                                               static_cast<std::size_t>(m.rm_eo - m.rm_so)));
  }
  return groups;
}

std::size_t Ere::groups() const { return compiled_->regex.re_nsub; }

}  // namespace unplug
