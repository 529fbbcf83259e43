#include "journal/writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "journal/chain.hpp"

namespace unplug::journal {
namespace {

int sync_data(int fd) {
#ifdef __APPLE__
  return fcntl(fd, F_FULLFSYNC);  // fsync there stops at the drive's cache
#else
  return fdatasync(fd);
#endif
}

ssize_t write_once(int fd, const std::string& bytes) {
  ssize_t n = -1;
  do {
    n = ::write(fd, bytes.data(), bytes.size());
  } while (n < 0 && errno == EINTR);
  return n;
}

// The file's name must survive a crash as well as its content.
void sync_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

struct Writer::State {
  std::filesystem::path file;
  int fd = -1;
  off_t length = 0;  // of the whole lines
  Chain chain;
  Event last;

  [[noreturn]] void fail(const std::string& what, int number) const {
    throw Error(Exit::kInternal, file.string(), what + ": " + std::strerror(number),
                "make room there, or name another folder with --out; without a journal there is no "
                "verdict");
  }

  void write_line(const std::string& line) {
    const std::string bytes = line + "\n";
    const ssize_t n = write_once(fd, bytes);
    if (n == static_cast<ssize_t>(bytes.size())) {
      length += n;
      return;
    }
    const int number = n < 0 ? errno : ENOSPC;
    // Half a line would break the chain for whoever writes after it.
    if (n > 0 && ::ftruncate(fd, length) != 0) fail("cannot take back half a line", errno);
    fail("cannot be written", number);
  }
};

Writer::Writer(const std::filesystem::path& file) : state_(std::make_unique<State>()) {
  state_->file = file;
  state_->fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (state_->fd < 0) state_->fail("cannot be created", errno);
  sync_folder(file);
}

Writer::~Writer() {
  if (state_ && state_->fd >= 0) ::close(state_->fd);
}

const Event& Writer::append(Draft draft) {
  Event event = state_->chain.next(std::move(draft));
  const std::string line = to_line(event);
  state_->write_line(line);
  state_->chain.commit(line);
  state_->last = std::move(event);
  return state_->last;
}

void Writer::sync() {
  if (sync_data(state_->fd) != 0) state_->fail("cannot be synced", errno);
}

std::uint64_t Writer::count() const { return state_->chain.count(); }

const Event& Memory::append(Draft draft) {
  Event event = Chain{}.next(std::move(draft));
  if (!events.empty()) {
    event.seq = events.back().seq + 1;
    event.prev = sha256(to_line(events.back()));
  }
  events.push_back(std::move(event));
  return events.back();
}

}  // namespace unplug::journal
