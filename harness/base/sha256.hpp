// SHA-256 in lower-case hex, of a text or of a file (read in blocks).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace unplug {

std::string sha256(std::string_view bytes);

// Throws Error when the file cannot be read.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace unplug
