#include "scenario/load.hpp"

#include <algorithm>
#include <tuple>

#include "scenario/read.hpp"

namespace unplug::scenario {
namespace {

namespace fs = std::filesystem;

// Problems of one file in the order of its lines; files stay in the order they were read.
void sort_by_line(std::vector<Problem>& problems, std::size_t from) {
  std::stable_sort(problems.begin() + static_cast<std::ptrdiff_t>(from), problems.end(),
                   [](const Problem& a, const Problem& b) {
                     return std::tie(a.line, a.column) < std::tie(b.line, b.column);
                   });
}

// Reads one file with its reader; nullopt when anything in it is wrong.
template <class Model, class Read>
std::optional<Model> load_file(const fs::path& file, std::vector<Problem>& problems, Read read) {
  const std::size_t before = problems.size();
  const auto root = read_document(file, problems);
  if (!root) return std::nullopt;
  Sheet sheet(file, problems);
  Model model = read(sheet, *root);
  sort_by_line(problems, before);
  if (problems.size() > before) return std::nullopt;
  return model;
}

std::string text_of(const Value* value) {
  return value != nullptr && value->kind == Value::Kind::kString ? value->text : "";
}

std::set<std::string> injectors_named(const Value& root) {
  std::set<std::string> names;
  const Value* faults = root.find("faults");
  if (faults == nullptr) return names;
  for (const Value& fault : faults->items) names.insert(text_of(fault.find("inject")));
  return names;
}

std::vector<std::string> keys_of(const std::map<std::string, fs::path>& files) {
  std::vector<std::string> keys;
  for (const auto& [name, file] : files) keys.push_back(name);
  return keys;
}

class Loader {
 public:
  Loader(const fs::path& file, const Library& library)
      : targets_(targets_of(library, file.parent_path())),
        injectors_(injectors_of(library, file.parent_path())) {
    bundle_.scenario_file = file;
  }

  Loaded load(const std::optional<fs::path>& lab_file) {
    // What the scenario names is read before it, its problems are listed first.
    std::vector<Problem> others;
    if (lab_file) read_lab_file(*lab_file, others);
    std::vector<Problem> own;
    if (const auto root = read_document(bundle_.scenario_file, own)) {
      read_target_file(text_of(root->find("target")), others);
      for (const std::string& name : injectors_named(*root)) read_injector_file(name, others);
      Sheet sheet(bundle_.scenario_file, own);
      bundle_.scenario = read_scenario(sheet, *root, context());
      sort_by_line(own, 0);
    }
    own.insert(own.end(), others.begin(), others.end());
    Loaded loaded;
    loaded.problems = std::move(own);
    if (loaded.problems.empty()) loaded.bundle = std::move(bundle_);
    return loaded;
  }

 private:
  void read_lab_file(const fs::path& file, std::vector<Problem>& problems) {
    bundle_.lab_file = file;
    LoadedLab loaded = load_lab(file);
    problems.insert(problems.end(), loaded.problems.begin(), loaded.problems.end());
    have_lab_ = loaded.lab.has_value();
    if (have_lab_) bundle_.lab = std::move(*loaded.lab);
  }

  void read_target_file(const std::string& name, std::vector<Problem>& problems) {
    const auto file = targets_.find(name);
    if (file == targets_.end()) return;
    bundle_.target_file = file->second;
    auto target = load_target(file->second, problems);
    have_target_ = target.has_value();
    if (have_target_) bundle_.target = std::move(*target);
  }

  void read_injector_file(const std::string& name, std::vector<Problem>& problems) {
    const auto file = injectors_.find(name);
    if (file == injectors_.end()) return;
    auto injector = load_injector(file->second, problems);
    if (!injector) return;
    bundle_.injectors[name] = std::move(*injector);
    bundle_.injector_files[name] = file->second;
  }

  Context context() const {
    Context context;
    context.target = have_target_ ? &bundle_.target : nullptr;
    context.lab = have_lab_ ? &bundle_.lab : nullptr;
    context.injectors = &bundle_.injectors;
    context.known_injectors = keys_of(injectors_);
    context.known_targets = keys_of(targets_);
    return context;
  }

  std::map<std::string, fs::path> targets_, injectors_;
  Bundle bundle_;
  bool have_lab_ = false;
  bool have_target_ = false;
};

}  // namespace

Loaded load(const fs::path& scenario_file, const std::optional<fs::path>& lab_file,
            const Library& library) {
  return Loader(scenario_file, library).load(lab_file);
}

LoadedLab load_lab(const fs::path& file) {
  LoadedLab loaded;
  loaded.lab = load_file<Lab>(file, loaded.problems, read_lab);
  return loaded;
}

std::optional<Target> load_target(const fs::path& file, std::vector<Problem>& problems) {
  return load_file<Target>(file, problems, read_target);
}

std::optional<Injector> load_injector(const fs::path& file, std::vector<Problem>& problems) {
  return load_file<Injector>(file, problems, read_injector);
}

std::vector<Problem> validate_file(const fs::path& file, const Library& library,
                                   const std::optional<fs::path>& lab_file) {
  std::vector<Problem> problems;
  const auto root = read_document(file, problems);
  if (!root) return problems;
  // A scenario names its target too, so it is asked for first.
  if (root->find("scenario") != nullptr) return load(file, lab_file, library).problems;
  if (root->find("lab") != nullptr) return load_lab(file).problems;
  if (root->find("target") != nullptr) {
    load_target(file, problems);
  } else if (root->find("injector") != nullptr) {
    load_injector(file, problems);
  } else {
    problems.push_back({file.string(), root->position.line, root->position.column,
                        "this is no scenario, lab, target or injector",
                        R"(begin it with "scenario", "lab", "target" or "injector")"});
  }
  return problems;
}

}  // namespace unplug::scenario
