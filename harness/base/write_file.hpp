// A file written whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace unplug {

// Beside its place first, then renamed into it. Throws Error(kInternal) with the system's reason
// and `hint`; what was there before is then still there.
void write_file(const std::filesystem::path& file, std::string_view bytes,
                const std::string& hint = "make room there");

}  // namespace unplug
