#include "embedded/sleep.hpp"

#include "base/units.hpp"
#ifdef __linux__

#include <dirent.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include "embedded/process.hpp"
#endif

namespace unplug::embedded {

std::optional<std::chrono::milliseconds> sleep_asked(const std::string& line) {
  constexpr std::string_view kWord = "sleep ";
  if (!line.starts_with(kWord)) return std::nullopt;
  const std::string seconds = line.substr(kWord.size());
  // A plain number: with the unit that is put behind it, "1m" would become a millisecond.
  if (seconds.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  const auto asked = parse_duration(seconds + "s");
  if (!asked || *asked <= Duration::zero() || *asked > std::chrono::hours{1}) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*asked);
}

std::string to_line(const Slept& slept) {
  return "sleep " + std::to_string(slept.from) + " " + std::to_string(slept.to) + " " +
         std::to_string(slept.stopped) + "\n";
}

}  // namespace unplug::embedded

#ifdef __linux__
namespace unplug::embedded {
namespace {

// Own tables, so that going to sleep and waking touch nobody's rules. Priority -500 is before
// everything else, connection tracking included.
constexpr char kDropFrames[] =
    "table inet unplug_sleep {\n"
    "  chain in { type filter hook prerouting priority -500; policy drop; }\n"
    "  chain to { type filter hook input priority -500; policy drop; }\n"
    "  chain out { type filter hook output priority -500; policy drop; }\n"
    "}\n"
    "table arp unplug_sleep {\n"
    "  chain in { type filter hook input priority -500; policy drop; }\n"
    "  chain out { type filter hook output priority -500; policy drop; }\n"
    "}\n";
constexpr char kLetFramesIn[] = "delete table inet unplug_sleep\ndelete table arp unplug_sleep\n";

bool nft(const char* rules) {
  const Finished done = run_program({"nft", "-f", "-"}, rules);
  if (!done.ok()) std::fprintf(stderr, "unplug lab: nft: %s\n", done.output.c_str());
  return done.ok();
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 1) found.push_back(pid);
  }
  return found;
}

// The letter after "pid (name) "; the name may hold anything, so it is looked for from behind.
char state_of(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto end = stat.rfind(") ");
  return end == std::string::npos ? 'X' : stat[end + 2];
}

bool is_stopped(pid_t pid) {
  const char state = state_of(pid);
  return state == 'T' || state == 't';
}

// A signal is sent at once and obeyed a moment later. Who waits in the kernel (D) or has ended (Z)
// runs nothing either.
std::size_t wait_until_all_stand_still() {
  std::size_t stopped = 0;
  for (int attempt = 0; attempt < 200; ++attempt) {
    bool any_awake = false;
    stopped = 0;
    for (const pid_t pid : all_processes()) {
      const char state = state_of(pid);
      if (state == 'R' || state == 'S') any_awake = true;
      if (state == 'T' || state == 't') ++stopped;
    }
    if (!any_awake) break;
    usleep(500);
  }
  return stopped;
}

// CLOCK_BOOTTIME, so that the machine's own sleep counts too.
void wait_until_over(std::chrono::milliseconds how_long) {
  timespec wake{};
  clock_gettime(CLOCK_BOOTTIME, &wake);
  const auto nanoseconds = wake.tv_nsec + (how_long.count() % 1000) * 1'000'000;
  wake.tv_sec += how_long.count() / 1000 + nanoseconds / 1'000'000'000;
  wake.tv_nsec = nanoseconds % 1'000'000'000;
  while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
  }
}

std::int64_t boot_clock() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

std::optional<Slept> sleep_node(std::chrono::milliseconds how_long) {
  if (!nft(kDropFrames)) return std::nullopt;
  // SAFETY: who was stopped before (a frozen rank) must not be woken by the end of the sleep.
  std::set<pid_t> stopped_before;
  for (const pid_t pid : all_processes()) {
    if (is_stopped(pid)) stopped_before.insert(pid);
  }
  kill(-1, SIGSTOP);  // everybody in this pid namespace but its first process
  Slept slept;
  slept.stopped = wait_until_all_stand_still();
  slept.from = boot_clock();
  wait_until_over(how_long);
  slept.to = boot_clock();
  for (const pid_t pid : all_processes()) {
    if (!stopped_before.contains(pid)) kill(pid, SIGCONT);
  }
  // A node that stays deaf would look like a fault that nobody undid: try again, then say so.
  for (int attempt = 0; attempt < 5 && !nft(kLetFramesIn); ++attempt) {
    wait_until_over(std::chrono::milliseconds{100});
  }
  return slept;
}

}  // namespace unplug::embedded
#endif  // __linux__
