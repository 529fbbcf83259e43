// What can be named, and where it lies.
#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "scenario/document.hpp"
#include "scenario/load.hpp"

namespace unplug::scenario {
namespace {

namespace fs = std::filesystem;

// `folder` itself and the folders in it, in the order of their names.
std::vector<fs::path> folder_and_children(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code gone;
    if (entry.is_directory(gone)) all.push_back(entry.path());
  }
  std::ranges::sort(all);
  all.insert(all.begin(), folder);
  return all;
}

// The name a file gives itself, or its folder's when it cannot be read.
std::string name_in(const fs::path& file, const char* key) {
  std::vector<Problem> ignored;  // said when the file is loaded
  const auto root = read_document(file, ignored);
  const Value* name = root ? root->find(key) : nullptr;
  const bool named = name != nullptr && name->kind == Value::Kind::kString && !name->text.empty();
  return named ? name->text : fs::absolute(file).parent_path().filename().string();
}

// First found wins.
std::map<std::string, fs::path> find_named(const std::vector<fs::path>& folders,
                                           const std::string& kind) {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : folders) {
    for (const fs::path& candidate : folder_and_children(folder)) {
      const fs::path file = candidate / (kind + ".json");
      std::error_code error;
      if (fs::is_regular_file(file, error)) found.emplace(name_in(file, kind.c_str()), file);
    }
  }
  return found;
}

fs::path beside_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path{} : program.parent_path().parent_path() / "share" / "unplug";
}

}  // namespace

fs::path shipped_root() {
  if (const char* root = std::getenv("UNPLUG_ROOT"); root != nullptr && *root != '\0') return root;
  std::error_code error;
  if (fs::exists(fs::path(UNPLUG_SOURCE_ROOT) / "injectors", error)) return UNPLUG_SOURCE_ROOT;
  const fs::path beside = beside_program();
  return beside.empty() ? fs::path(UNPLUG_SOURCE_ROOT) : beside;
}

std::map<std::string, fs::path> injectors_of(const Library& library,
                                             const fs::path& scenario_folder) {
  std::vector<fs::path> folders = library.injectors;
  folders.push_back(scenario_folder.empty() ? "." : scenario_folder);
  folders.push_back(folders.back() / "injectors");
  folders.push_back(library.root / "injectors");
  return find_named(folders, "injector");
}

std::map<std::string, fs::path> targets_of(const Library& library,
                                           const fs::path& scenario_folder) {
  std::vector<fs::path> folders = library.targets;
  folders.push_back(scenario_folder.empty() ? "." : scenario_folder);
  folders.push_back(folders.back() / "targets");
  folders.push_back(library.root / "fixtures");
  folders.push_back(library.root / "fixtures" / "targets");
  return find_named(folders, "target");
}

}  // namespace unplug::scenario
