// A host as the run sees it: commands, open streams, uploads, and whether it can be reached.
//
// Three implementations: fake (tests), ssh (by libssh2 or the `ssh` program) and local (the
// controller itself). One contract test, tests/node/contract.hpp, holds them together. All calls
// are made on the one event loop; dropping a call's owner cancels it. A session that is lost
// reconnects by itself with back-off until close(); operations that were open when it went end as
// kLost.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/boot_clock.hpp"
#include "node/outcome.hpp"

namespace unplug::node {

namespace asio = boost::asio;

// Constructed, not an aggregate: GCC 12 destroys a braced aggregate inside a co_await
// expression twice.
struct Command {
  Command(std::string line_of_sh, std::string input_of_it = {}, std::size_t kept = 8u << 20)
      : line(std::move(line_of_sh)), input(std::move(input_of_it)), most(kept) {}

  std::string line;   // for a POSIX sh, whatever the login shell is
  std::string input;  // stdin; closed after it
  std::size_t most;   // bytes of stdout and of stderr that are kept
};

// A process that stays: its stdin is open for lines, its stdout is read by lines.
class Stream {
 public:
  virtual ~Stream() = default;  // closes the channel; the process sees EOF

  // False when the stream is gone or the deadline passed. The line feed is added.
  virtual asio::awaitable<bool> write_line(std::string line, Deadline deadline) = 0;

  // The next line of stdout without its line feed (over 1 MiB it is cut); nullopt at the end,
  // at the deadline or on loss: ended() tells.
  virtual asio::awaitable<std::optional<std::string>> read_line(Deadline deadline) = 0;

  // Bytes of stdout behind the lines given out so far, with their line feeds and with what was cut.
  virtual std::uint64_t taken() const = 0;

  // How it ended, once it has; stderr (its first 64 KiB) is in `err`.
  virtual const std::optional<Outcome>& ended() const = 0;
};

struct Opened {
  Outcome outcome;                 // kExited 0 when the stream is there, else why not
  std::unique_ptr<Stream> stream;  // null when not
};

struct File {
  std::string path;  // relative to the folder of the upload
  std::string bytes;
  int mode = 0600;
};

// How a node is reached; known once connect() has looked it up.
struct Way {
  // What is wrong with it: the step of connect() that failed.
  enum class Step { kNone, kConfig, kReach, kAlgorithms, kHostKey, kKey, kShell };
  std::string transport;  // libssh2, ssh, local
  std::string because;    // why that one, for people
  std::string place;      // "root@10.77.0.11:22"
  Step failed = Step::kNone;
};

enum class Session { kConnected, kLost, kReconnected };
struct SessionChange {
  Session session;
  std::string why;
};
using SessionListener = std::function<void(const SessionChange&)>;

class Node {
 public:
  virtual ~Node() = default;
  virtual const std::string& name() const = 0;
  virtual const Way& way() const = 0;

  // The first connection: host key, login, resident shell. kRefused says why it cannot be.
  virtual asio::awaitable<Outcome> connect(Deadline deadline) = 0;

  // One command in a channel of its own.
  virtual asio::awaitable<Outcome> exec(Command command, Deadline deadline) = 0;

  // One cheap line in the resident shell, one at a time; it must not read stdin. A line that
  // misses its deadline costs the resident shell, which is started anew.
  virtual asio::awaitable<Outcome> ask(std::string line, Deadline deadline) = 0;

  // A command that stays. The deadline is for its start.
  virtual asio::awaitable<Opened> open(std::string line, Deadline deadline) = 0;

  // All files in one stream, under umask 077; folders are made; `folder` is relative to $HOME.
  virtual asio::awaitable<Outcome> upload(std::vector<File> files, std::string folder,
                                          Deadline deadline) = 0;

  // True as soon as the session stands (again).
  virtual asio::awaitable<bool> connected(Deadline deadline) = 0;

  virtual void on_session(SessionListener listener) = 0;
  virtual void close() = 0;  // ends sessions and reconnection; open operations end as lost
};

}  // namespace unplug::node
