#include "node/sshd.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace unplug::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSshd = "/usr/sbin/sshd";

// A port that was free a moment ago; a race is possible and would fail the start aloud.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

bool answers(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool ok = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return ok;
}

pid_t spawn(const std::vector<std::string>& argv, int out) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nothing is left when a test crashes
  if (out >= 0) ::dup2(out, 1);
  ::execv(words[0], words.data());
  ::_exit(127);
}

std::string user_name() {
  const char* user = ::getenv("USER");
  return ::getuid() == 0 ? "root" : user != nullptr ? user : "nobody";
}

}  // namespace

std::string run_program(const std::vector<std::string>& argv) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  const pid_t pid = spawn(argv, ends[1]);
  ::close(ends[1]);
  std::string out;
  std::array<char, 4096> block{};
  for (ssize_t got = 0; (got = ::read(ends[0], block.data(), block.size())) > 0;) {
    out.append(block.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) throw std::runtime_error(argv[0] + " failed");
  return out;
}

bool Sshd::available(std::string& why) {
  if (::access(kSshd, X_OK) != 0) why = "no sshd here";
  // Compiled into sshd; as root it wants it, and to be its only writer.
  if (::getuid() == 0 && ::mkdir("/run/sshd", 0755) != 0 && errno != EEXIST) {
    why = "/run/sshd cannot be made";
  }
  return why.empty();
}

Sshd::Sshd(const std::string& extra) : port_(free_port()) {
  std::string pattern = (fs::temp_directory_path() / "unplug-sshd-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  folder_ = pattern;
  new_host_key();
  run_program({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file("user")});
  fs::copy_file(file("user.pub"), file("authorized_keys"));
  std::ofstream(file("config"))  // of a setting that comes twice, sshd takes the first
      << extra << "\nListenAddress 127.0.0.1\nPort " << port_ << "\nHostKey " << file("host")
      << "\nAuthorizedKeysFile " << file("authorized_keys") << "\nPidFile none\nUsePAM no\n"
      << "UseDNS no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n"
      << "MaxStartups 100\nLogLevel QUIET\n";
  read_pin();
  start();
}

void Sshd::read_pin() {
  std::istringstream line(run_program({"/usr/bin/ssh-keygen", "-l", "-f", file("host.pub")}));
  line >> pin_ >> pin_;
}

Sshd::~Sshd() {
  kill_children(SIGKILL);
  stop();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Sshd::start() {
  pid_ = spawn({kSshd, "-D", "-e", "-f", file("config")}, -1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!answers(port_)) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("sshd does not start");
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

void Sshd::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::vector<pid_t> Sshd::session_pids() const {
  const std::string pid = std::to_string(pid_);
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  std::vector<pid_t> pids;
  for (pid_t child = 0; children >> child;) pids.push_back(child);
  return pids;
}

void Sshd::kill_children(int signal) {
  if (pid_ <= 0) return;
  for (const pid_t pid : session_pids()) ::kill(pid, signal);
}

void Sshd::new_host_key() {
  fs::remove(file("host"));
  fs::remove(file("host.pub"));
  run_program({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file("host")});
}

void Sshd::only_host_key(const std::string& name) {
  fs::rename(file(name), file("host"));
  fs::rename(file(name + ".pub"), file("host.pub"));
  read_pin();
}

scenario::LabNode Sshd::node() const {
  scenario::LabNode node;
  node.name = "node1";
  node.address = "127.0.0.1";
  node.port = port_;
  node.user = user_name();
  node.identity = file("user");
  node.host_key = pin_;
  return node;
}

}  // namespace unplug::test
