// The system under test (target.json): how to deploy, start, watch, stop and restart it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace unplug::scenario {

struct TargetPlace {
  std::string name;
  int least = 1;
  std::optional<int> most;  // nullopt = any number ("1+")
};

// A parameter of a target or an injector.
struct Param {
  std::string name;
  // text, integer, duration, bytes, boolean, signal, path, process, node, link, interface
  std::string type;
  std::optional<std::string> fallback;  // "default" in the file, as text
  std::string of;                       // for a node of a link: the link parameter's name
};

struct Folder {
  std::string name;
  std::string place;
  std::string path;  // may begin with $SCRATCH
};

struct Verb {
  std::string name;
  std::string place;  // a place's name, or "all"
  Duration within{};
};

// A line of the log of whoever waits for a process: how that ended.
struct ExitLine {
  std::string log;
  std::string match;  // POSIX extended regular expression
  // pid, and code: as a shell has it, 128 + N for signal N; -N is signal N too.
  std::map<std::string, int> fields;
};

// A part: what a process is in its target.
struct Part {
  std::string name;
  std::string place;
  // Found by its record in ~/.unplug/<run>/procs (rank.sh); or, when `child_of` is set, as a
  // child of that part whose command line matches `command` (a POSIX extended expression).
  std::string child_of;
  std::string command;
  std::optional<ExitLine> exits;
};

struct Log {
  std::string name;
  std::string place;
  std::string path;  // may begin with $UNPLUG_LOGS or $SCRATCH
};

enum class Work { kNone, kBegin, kEnd };

struct EventPattern {
  std::string name;
  std::string log;
  std::string match;                  // POSIX extended regular expression
  std::map<std::string, int> fields;  // field name -> capture number
  Work work = Work::kNone;            // the event begins or ends work on its field `item`
  std::string progress;               // the field that is a counter, or empty
  std::string refuses;                // the field that names what was mismatched, or empty
};

struct ItemState {
  std::string name;
  std::string glob;  // relative to the items' folder, "queue/*.job"
};

// One output of an item: a path with $ITEM, or several of which an item has one.
using OutputPaths = std::vector<std::string>;

// Work items of a farm: files whose place says their state.
struct Items {
  std::string folder;
  std::vector<ItemState> states;
  std::string match;                  // on the path relative to the folder
  std::map<std::string, int> fields;  // item, and optionally node, pid (the owner)
  std::map<std::string, std::vector<OutputPaths>> outputs;  // by state
  std::vector<std::string> partial;                         // "FOLDER:GLOB"
  std::vector<std::string> terminal;                        // states in which an item is at rest
  std::string cancelled;                                    // the state of a cancelled item, or ""
};

struct Observer {
  std::string id;
  std::string kind;  // log, files, processes
  std::string log;
  std::string folder;
  std::string place;  // for processes: a place or "all"
  Duration every{};
};

struct VersionProbe {
  std::string of;
  std::string place;
  std::string run;
  std::string match;
};

// What a target computes with, the same on all its nodes; `manifest` is beside target.json.
struct Model {
  std::string name;
  std::string place;
  std::string path;      // may begin with $SCRATCH
  std::string manifest;  // lines of sha256sum
};

struct Target {
  std::string name;
  std::string kind;  // farm, sharded
  std::string about;
  std::vector<TargetPlace> places;
  std::vector<Param> params;
  std::vector<Folder> folders;
  std::string script;  // target.sh, beside target.json
  std::vector<Verb> verbs;
  std::vector<std::string> recover;
  std::vector<Part> parts;
  std::string launcher;  // the part whose exit speaks for the whole job, or ""
  std::vector<Log> logs;
  std::vector<EventPattern> events;
  std::optional<Items> items;
  std::vector<Observer> observers;
  std::vector<VersionProbe> versions;
  std::vector<Model> models;
  std::vector<std::string> keeps;  // "FOLDER:PREFIX", not residue

  const Verb* verb(const std::string& name) const;
  const Part* part(const std::string& name) const;
  const Log* log(const std::string& name) const;
  const Folder* folder(const std::string& name) const;
  const TargetPlace* place(const std::string& name) const;
  const EventPattern* event(const std::string& name) const;
};

}  // namespace unplug::scenario
