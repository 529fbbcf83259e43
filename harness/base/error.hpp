// The one exception of unplug: a bad file, a broken environment or a bug of our own.
//
// What happens on a node is never an exception (see node/outcome.hpp): a host that dies is
// this program's daily business. `Error` is caught once, in main, and printed as
// `unplug: WHERE: WHAT; HINT`.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace unplug {

// Exit codes of the program, as docs/exit-codes in README lists them.
enum class Exit {
  kPass = 0,
  kFail = 1,
  kUsage = 2,
  kInconclusive = 3,
  kUnhealed = 4,
  kInternal = 70,
  kInterrupted = 130,
};

class Error : public std::runtime_error {
 public:
  // `what` is a sentence without a full stop; `hint` says what to do next and may be empty.
  Error(Exit exit, std::string where, std::string what, std::string hint = {})
      : std::runtime_error(compose(where, what, hint)), exit_(exit) {}

  Exit exit() const { return exit_; }

 private:
  static std::string compose(const std::string& where, const std::string& what,
                             const std::string& hint) {
    std::string text = where.empty() ? what : where + ": " + what;
    return hint.empty() ? text : text + "; " + hint;
  }
  Exit exit_;
};

}  // namespace unplug
