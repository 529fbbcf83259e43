#include "node/ustar.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/shell.hpp"

namespace unplug::node {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kName = 100, kPrefix = 155;

struct Split {
  std::string prefix, name;
};

std::optional<Split> split(const std::string& path) {
  if (path.size() <= kName) return Split{"", path};
  const std::size_t slash = path.rfind('/', kPrefix);
  if (slash == std::string::npos || slash == 0 || path.size() - slash - 1 > kName ||
      path.size() == slash + 1) {
    return std::nullopt;
  }
  return Split{path.substr(0, slash), path.substr(slash + 1)};
}

bool climbs(const std::string& path) {
  return path.empty() || path[0] == '/' || ("/" + path + "/").find("/../") != std::string::npos;
}

void put(std::string& header, std::size_t at, const std::string& text) {
  header.replace(at, text.size(), text);
}

std::string header_of(const File& file) {
  const Split path = split(file.path).value_or(Split{});
  std::string header(kBlock, '\0');
  put(header, 0, path.name);
  put(header, 100, fmt::format("{:07o}", file.mode & 07777));
  put(header, 108, "0000000");  // owner and group: tar -o ignores them
  put(header, 116, "0000000");
  put(header, 124, fmt::format("{:011o}", file.bytes.size()));
  put(header, 136, "00000000000");  // time: tar -m ignores it
  put(header, 148, "        ");     // the checksum counts itself as blanks
  put(header, 156, "0");            // a plain file
  put(header, 257, "ustar");
  put(header, 263, "00");
  put(header, 345, path.prefix);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, 148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

}  // namespace

std::optional<std::string> unfit_for_ustar(const std::vector<File>& files) {
  for (const File& file : files) {
    if (climbs(file.path)) return "the path '" + file.path + "' leaves the folder";
    if (!split(file.path)) return "the path '" + file.path + "' is too long to be sent";
  }
  return std::nullopt;
}

std::string ustar(const std::vector<File>& files) {
  std::string stream;
  for (const File& file : files) {
    stream += header_of(file);
    stream += file.bytes;
    stream.append((kBlock - file.bytes.size() % kBlock) % kBlock, '\0');
  }
  return stream.append(2 * kBlock, '\0');
}

std::string unpack_command(const std::string& folder) {
  const std::string quoted = shell_quoted(folder);
  // x extract, p modes as given, o owned by us, m times of now: the same letters in GNU tar,
  // bsdtar and busybox.
  return fmt::format("umask 077 && cd && mkdir -p -- {0} && cd -- {0} && tar xpomf -", quoted);
}

}  // namespace unplug::node
