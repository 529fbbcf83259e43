// A lab for a command: the file that was named, $UNPLUG_LAB, or the embedded one around us.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "scenario/load.hpp"

namespace unplug::cli {

scenario::Library library_of(const LookupOptions& lookup);

// The lab file to use, or nothing: then the command must run again inside an embedded lab.
std::optional<std::filesystem::path> lab_file(const LabOptions& options);

// Runs this program again with the same words, as the controller of an embedded lab. `out` stays
// writable there. Returns its exit status.
int again_inside_lab(const std::vector<std::string>& argv, int nodes,
                     const std::filesystem::path& out);

// This program's own file: what runs it again.
std::string own_program(const std::vector<std::string>& argv);

// How many nodes the scenarios need, at least two.
int nodes_needed(const std::vector<std::filesystem::path>& scenarios, const LabOptions& options,
                 const scenario::Library& library);

// "worker-killed: When a worker dies ...?", or the bare name of a scenario that asks nothing.
std::string title_of(const scenario::Scenario& scenario);

// Host folders that a lab leaves writable.
std::vector<std::string> writable_folders(const std::filesystem::path& out);

// Prints every problem to stderr, one a line.
void print_problems(const std::vector<scenario::Problem>& problems);

}  // namespace unplug::cli
