// Words for a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace unplug {

// The word as it is when it is made of safe characters only, else in single quotes.
std::string shell_quoted(std::string_view word);

}  // namespace unplug
