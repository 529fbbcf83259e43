// The subcommands: options in, exit status out. parse.cpp fills the options; each command has
// its own file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace unplug::cli {

// Where names are looked up and what is changed, common to run, plan, validate and list.
struct LookupOptions {
  std::vector<std::filesystem::path> injectors;
  std::vector<std::filesystem::path> targets;
};

// Which lab: a file, or the embedded one of so many nodes (0 = as many as the scenario needs).
struct LabOptions {
  std::optional<std::filesystem::path> file;
  int nodes = 0;
};

struct RunCommand {
  std::vector<std::filesystem::path> scenarios;
  LookupOptions lookup;
  LabOptions lab;
  std::filesystem::path out = "runs";
  std::optional<std::uint64_t> seed;
  std::optional<std::filesystem::path> patch;
  std::string wait = "0s";
  int repeat = 1;
  int jobs = 1;                   // labs at a time
  std::vector<std::string> argv;  // of the whole program: it may run again inside a lab
};
Exit run(const RunCommand& command);

// What repeats a run but for the scenario and the seed: the lab, and where names are looked up.
std::vector<std::string> options_of(const RunCommand& command);

// `--repeat` without a lab file: every run in an embedded lab of its own.
Exit repeat(const RunCommand& command);

struct PlanCommand {
  std::filesystem::path scenario;
  LookupOptions lookup;
  LabOptions lab;
  std::optional<std::uint64_t> seed;
  bool exact = false;  // every call as it will be sent
  std::vector<std::string> argv;
};
Exit plan(const PlanCommand& command);

struct ValidateCommand {
  std::vector<std::filesystem::path> files;
  LookupOptions lookup;
  std::optional<std::filesystem::path> lab;
};
Exit validate(const ValidateCommand& command);

struct HealCommand {
  std::optional<std::filesystem::path> lab;
  std::filesystem::path out = "runs";
  std::optional<std::filesystem::path> into;
  bool force = false;
};
Exit heal(const HealCommand& command);

struct DoctorCommand {
  std::optional<std::filesystem::path> lab;
};
Exit doctor(const DoctorCommand& command);

struct ListCommand {
  std::string what = "all";  // all, scenarios, targets, injectors, checks
  std::string name;          // of one target or injector
  LookupOptions lookup;
};
Exit list(const ListCommand& command);

struct LabCommand {
  std::string name;
  std::vector<std::string> command;
  std::filesystem::path out = "runs";
};
int lab(const LabCommand& command);  // the command's own status

struct ReportCommand {
  std::filesystem::path run;
  std::string format = "terminal";  // terminal, junit, json
};
Exit report(const ReportCommand& command);

// Reads the command line and runs the command; what main returns.
int parse_and_run(int argc, char** argv);

}  // namespace unplug::cli
