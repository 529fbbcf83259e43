// The command line: the one file that knows CLI11.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "cli/commands.hpp"

#ifndef UNPLUG_VERSION
#define UNPLUG_VERSION "unknown"
#endif

namespace unplug::cli {
namespace {

constexpr const char* kAbout =
    "unplug breaks a render farm or a sharded cluster on purpose, over SSH, and proves what "
    "happened.";
constexpr const char* kExitCodes =
    "exit codes: 0 pass; 1 an expectation failed; 2 bad usage or input; 3 inconclusive or "
    "refused;\n"
    "            4 unhealed (something is still broken on a node); 70 internal error; 130 "
    "interrupted, healed first\n\n"
    "first steps: unplug list; unplug run scenarios/farm/worker-killed.json\n"
    "everything back: unplug heal --lab LAB.json";

void add_lookup(CLI::App& app, LookupOptions& lookup) {
  app.add_option("--injectors", lookup.injectors, "look for injectors here first")
      ->check(CLI::ExistingDirectory.description(""))
      ->type_name("DIR");
  app.add_option("--targets", lookup.targets, "look for targets here first")
      ->check(CLI::ExistingDirectory.description(""))
      ->type_name("DIR");
}

void add_lab(CLI::App& app, LabOptions& lab) {
  app.add_option("--lab", lab.file,
                 "the lab file; without it $UNPLUG_LAB, else an embedded lab is built (Linux)")
      ->type_name("FILE");
  app.add_option("--nodes", lab.nodes, "nodes of the embedded lab; default: as many as needed")
      ->check(CLI::Range(1, 50).description(""))
      ->type_name("1-50");
}

void add_run(CLI::App& app, RunCommand& command) {
  app.add_option("scenarios", command.scenarios, "scenario files; the worst exit wins")
      ->required()
      ->type_name("FILE");
  add_lab(app, command.lab);
  add_lookup(app, command.lookup);
  app.add_option("--out", command.out, "where the run's folder goes")
      ->capture_default_str()
      ->type_name("DIR");
  app.add_option("--seed", command.seed, "for everything that is drawn; default: the scenario's")
      ->type_name("N");
  app.add_option("--patch", command.patch,
                 "a sh file that the target sources last: try a bug, or a fix")
      ->type_name("FILE");
  app.add_option("--repeat", command.repeat, "run every scenario so often")
      ->check(CLI::Range(1, 10000).description(""))
      ->type_name("N");
  app.add_option("--jobs", command.jobs, "with --repeat: so many embedded labs at a time")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("J");
  app.add_option("--wait", command.wait, "queue this long for nodes that another run holds")
      ->capture_default_str()
      ->type_name("D");
}

void add_plan(CLI::App& app, PlanCommand& command) {
  app.add_option("scenario", command.scenario, "scenario file")->required()->type_name("FILE");
  add_lab(app, command.lab);
  add_lookup(app, command.lookup);
  app.add_option("--seed", command.seed, "for everything that is drawn; default: the scenario's")
      ->type_name("N");
  app.add_flag("--exact", command.exact, "every call as it will be sent, with its parameters");
}

void add_validate(CLI::App& app, ValidateCommand& command) {
  app.add_option("files", command.files, "scenario, lab, target or injector files")
      ->required()
      ->type_name("FILE");
  app.add_option("--lab", command.lab, "also check scenarios against this lab")->type_name("FILE");
  add_lookup(app, command.lookup);
}

void add_heal(CLI::App& app, HealCommand& command) {
  app.add_option("--lab", command.lab, "the lab file; default: $UNPLUG_LAB")->type_name("FILE");
  app.add_option("--out", command.out, "guards' logs go to DIR/heal-<time>")
      ->capture_default_str()
      ->type_name("DIR");
  app.add_option("--into", command.into, "put the logs of this run into its own folder")
      ->check(CLI::ExistingDirectory.description(""))
      ->type_name("RUN");
  app.add_flag("--force", command.force, "also where a run is alive");
}

void add_doctor(CLI::App& app, DoctorCommand& command) {
  app.add_option("--lab", command.lab, "the lab file; default: $UNPLUG_LAB")->type_name("FILE");
}

void add_list(CLI::App& app, ListCommand& command) {
  app.add_option("what", command.what, "all, scenarios, targets, injectors or checks")
      ->check(CLI::IsMember({"all", "scenarios", "targets", "injectors", "checks"}))
      ->capture_default_str();
  app.add_option("name", command.name, "one injector or target, in full");
  add_lookup(app, command.lookup);
}

void add_report(CLI::App& app, ReportCommand& command) {
  app.add_option("run", command.run, "the folder that a run left")->required()->type_name("RUN");
  app.add_option("--format", command.format, "terminal, junit or json")
      ->check(CLI::IsMember({"terminal", "junit", "json"}))
      ->capture_default_str();
}

// CLI11 alone would say that a subcommand is required, to somebody who gave one.
void refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1].empty() || words[1].front() == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (std::ranges::find(names, words[1]) != names.end()) return;
  const auto near = nearest(words[1], names);
  throw Error(Exit::kUsage, "", fmt::format("there is no command \"{}\"", words[1]),
              near ? fmt::format("did you mean \"{}\"?", *near) : "see `unplug --help`");
}

// CLI11 looks for what is required first, and would not name a misspelt option at all.
void refuse_unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
  const auto named = app.get_subcommands([&words](const CLI::App* command) {
    return words.size() > 1 && command->get_name() == words[1];
  });
  if (named.empty()) return;
  std::vector<std::string> names = {"--help"};
  for (const CLI::Option* option : named.front()->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (std::size_t i = 2; i < words.size() && words[i] != "--"; ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (!name.starts_with("--") || std::ranges::find(names, name) != names.end()) continue;
    const auto near = nearest(name, names);
    throw Error(Exit::kUsage, "", fmt::format("{} has no option \"{}\"", words[1], name),
                near ? fmt::format("did you mean \"{}\"?", *near)
                     : fmt::format("see `unplug {} --help`", words[1]));
  }
}

}  // namespace

int parse_and_run(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  CLI::App app(kAbout, "unplug");
  app.set_version_flag("--version", std::string("unplug ") + UNPLUG_VERSION);
  app.footer(kExitCodes);
  app.require_subcommand(1);

  RunCommand run_command;
  PlanCommand plan_command;
  ValidateCommand validate_command;
  HealCommand heal_command;
  DoctorCommand doctor_command;
  ListCommand list_command;
  LabCommand lab_command;
  ReportCommand report_command;
  run_command.argv = plan_command.argv = words;

  auto* run_app = app.add_subcommand("run", "run scenarios, judge them, leave runs/<time>-<name>/");
  auto* plan_app = app.add_subcommand("plan", "say what a run would do; changes nothing");
  auto* validate_app = app.add_subcommand("validate", "every problem of some files, at once");
  auto* heal_app = app.add_subcommand("heal", "undo and remove whatever runs left on the nodes");
  auto* doctor_app = app.add_subcommand("doctor", "is a lab ready? says what is not, and the mend");
  auto* list_app = app.add_subcommand("list", "what there is to run, to break and to check");
  auto* lab_app = app.add_subcommand("lab", "an embedded lab: unplug lab two-node [-- COMMAND]");
  auto* report_app = app.add_subcommand("report", "judge a run's folder again and tell");
  add_run(*run_app, run_command);
  add_plan(*plan_app, plan_command);
  add_validate(*validate_app, validate_command);
  add_heal(*heal_app, heal_command);
  add_doctor(*doctor_app, doctor_command);
  add_list(*list_app, list_command);
  add_report(*report_app, report_command);
  lab_app->add_option("name", lab_command.name, "two-node, or N-node")->required();
  lab_app->add_option("--out", lab_command.out, "a folder that stays writable inside")
      ->capture_default_str()
      ->type_name("DIR");
  lab_app->add_option("command", lab_command.command, "after --; default: a shell");

  refuse_unknown_command(app, words);
  refuse_unknown_option(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(Exit::kUsage);
  }
  if (run_app->parsed()) return static_cast<int>(run(run_command));
  if (plan_app->parsed()) return static_cast<int>(plan(plan_command));
  if (validate_app->parsed()) return static_cast<int>(validate(validate_command));
  if (heal_app->parsed()) return static_cast<int>(heal(heal_command));
  if (doctor_app->parsed()) return static_cast<int>(doctor(doctor_command));
  if (list_app->parsed()) return static_cast<int>(list(list_command));
  if (report_app->parsed()) return static_cast<int>(report(report_command));
  return lab(lab_command);
}

}  // namespace unplug::cli
