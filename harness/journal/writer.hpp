// The append-only log of a run: hash-chained JSON lines, synced when the caller must be sure.
//
// One owner, one thread. A line is written whole with one write(2). Failure to write or sync
// throws Error(Exit::kInternal): the run heals and ends 70. Every event passes redact() before
// it is hashed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "journal/event.hpp"

namespace unplug::journal {

// What a caller knows of an event; the writer adds seq, prev and, when 0 or empty, t and wall.
struct Draft {
  std::string kind;
  Json data;
  std::string src = "controller";
  std::string node = {};
  std::optional<NodeTime> node_time = {};
  std::int64_t t = 0;
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual const Event& append(Draft draft) = 0;  // valid until the next append
  virtual void sync() = 0;                       // on disk when it returns
};

class Writer : public Sink {
 public:
  // Creates the file; it must not exist.
  explicit Writer(const std::filesystem::path& file);
  ~Writer() override;
  const Event& append(Draft draft) override;
  void sync() override;
  std::uint64_t count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// For tests: keeps the events in memory, with the same chain.
class Memory : public Sink {
 public:
  const Event& append(Draft draft) override;
  void sync() override { ++syncs; }
  std::vector<Event> events;
  int syncs = 0;
};

}  // namespace unplug::journal
