#include "run/upload.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/shell.hpp"
#include "run/observation.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kUpload{20};

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(Exit::kUsage, path.string(), "cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

void add_folder(std::vector<node::File>& files, const fs::path& from, const std::string& to) {
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    const bool runs = (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    files.push_back({to + "/" + fs::relative(entry.path(), from).string(), bytes_of(entry.path()),
                     runs ? 0700 : 0600});
  }
}

std::string platform_script(const scenario::Bundle& bundle, const std::string& node) {
  const scenario::LabNode* known = bundle.lab.node(node);
  return scenario::to_text(known ? known->platform : scenario::Platform::kLinux) + ".sh";
}

}  // namespace

fs::path node_scripts() { return scenario::shipped_root() / "injectors" / "sh"; }

std::string node_script(const std::string& name) { return bytes_of(node_scripts() / name); }

asio::awaitable<std::string> upload(Stage& stage, std::string node) {
  const scenario::Bundle& bundle = stage.bundle();
  std::vector<node::File> files;
  add_folder(files, node_scripts(), "sh");
  std::set<std::string> used;
  for (const FaultPlan& fault : stage.plan().faults) used.insert(fault.injector);
  for (const std::string& name : used) {
    add_folder(files, bundle.injector_files.at(name).parent_path(), "injectors/" + name);
  }
  add_folder(files, bundle.target_file.parent_path(), "targets/" + bundle.target.name);
  if (stage.context.patch) files.push_back({"patch.sh", bytes_of(*stage.context.patch), 0600});
  files.push_back({"observe.conf", observe_conf(bundle, stage.plan(), node), 0600});
  for (const char* folder : {"procs/.keep", "logs/.keep", "spool/.keep"}) {
    files.push_back({folder, "", 0600});
  }
  const node::Outcome outcome =
      co_await stage.context.node(node).upload(std::move(files), stage.remote(), within(kUpload));
  co_return outcome.ok() ? "" : fmt::format("upload to {}: {}", node, reason(outcome));
}

std::string probe_script(const scenario::Bundle& bundle, const Call& probe) {
  const fs::path injector = bundle.injector_files.at(probe.name).parent_path();
  std::string text;
  for (const auto& [variable, value] : probe.vars) {
    text += variable + "=" + shell_quoted(value) + "\nexport " + variable + "\n";
  }
  for (const char* shared : {"prelude.sh", "interface.sh"}) {
    text += bytes_of(node_scripts() / shared) + "\n";
  }
  text += bytes_of(injector / platform_script(bundle, probe.node)) + "\n";
  return text + "probe_here\n";
}

}  // namespace unplug::run
