#include "run/baseline_cache.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace unplug::run {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kKept{24 * 7};
constexpr const char* kSummary = "baseline.json";

fs::path cache() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base =
      xdg != nullptr && *xdg != '\0' ? fs::path(xdg) : fs::path(home ? home : "/") / ".cache";
  return base / "unplug" / "baseline";
}

bool is_kept(const fs::path& folder) {
  std::error_code ignored;
  const auto written = fs::last_write_time(folder / kSummary, ignored);
  return !ignored && fs::file_time_type::clock::now() - written < kKept;
}

}  // namespace

std::optional<Duration> baseline_from_cache(const std::string& key, const fs::path& into) {
  const fs::path entry = cache() / key;
  std::error_code failed;
  if (!is_kept(entry)) return std::nullopt;
  fs::copy(entry, into, fs::copy_options::recursive, failed);
  std::ifstream in(into / kSummary);
  const nlohmann::json summary = nlohmann::json::parse(in, nullptr, false);
  if (failed || !summary.is_object() || !summary.contains("took_ms")) {
    fs::remove_all(into, failed);
    return std::nullopt;
  }
  return std::chrono::milliseconds{summary.value("took_ms", std::int64_t{0})};
}

void keep_baseline(const std::string& key, const fs::path& from, Duration took) {
  const fs::path entry = cache() / key;
  std::error_code failed;
  fs::create_directories(cache(), failed);
  // A process id would be no name: controllers of two labs may have the same one.
  std::string draft = (cache() / ("." + key + ".XXXXXX")).string();
  if (mkdtemp(draft.data()) == nullptr) return;
  fs::copy(from, draft, fs::copy_options::recursive, failed);
  std::ofstream(fs::path(draft) / kSummary) << nlohmann::json{{"took_ms", took.count() / 1'000'000}};
  if (failed || is_kept(entry)) {
    fs::remove_all(draft, failed);
    return;
  }
  // Out of the way at once: what is too old must not be copied while it is taken to pieces.
  const std::string old = draft + ".old";
  fs::rename(entry, old, failed);
  fs::rename(draft, entry, failed);
  if (failed) fs::remove_all(draft, failed);
  fs::remove_all(old, failed);
}

}  // namespace unplug::run
