#include "base/write_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace unplug {
namespace {

// 0 or the errno. A full disk may show in the last write as well as in the close.
int write_all(const std::filesystem::path& file, std::string_view bytes) {
  std::FILE* out = std::fopen(file.c_str(), "wb");
  if (out == nullptr) return errno;
  int trouble = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size() ? 0 : errno;
  if (std::fclose(out) != 0 && trouble == 0) trouble = errno;
  return trouble;
}

}  // namespace

void write_file(const std::filesystem::path& file, std::string_view bytes,
                const std::string& hint) {
  const std::filesystem::path draft = file.string() + ".new";
  int trouble = write_all(draft, bytes);
  if (trouble == 0 && std::rename(draft.c_str(), file.c_str()) != 0) trouble = errno;
  if (trouble == 0) return;
  std::remove(draft.c_str());
  throw Error(Exit::kInternal, file.string(),
              std::string("cannot be written: ") + std::strerror(trouble), hint);
}

}  // namespace unplug
