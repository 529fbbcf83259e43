#include "ssh/complaint.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <sstream>
#include <vector>

#include "ssh/known_hosts.hpp"

namespace unplug::ssh {
namespace {

using End = LoginResult::End;
using Step = LoginResult::Step;
using Lines = std::vector<std::string>;

std::string target(const Login& login) { return fmt::format("{}:{}", login.address, login.port); }

Lines lines_of(std::string_view text) {
  Lines lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// The first line with these words; nullptr when there is none.
const std::string* with(const Lines& lines, std::string_view words) {
  for (const std::string& line : lines) {
    if (line.find(words) != std::string::npos) return &line;
  }
  return nullptr;
}

// The text between two pieces of the line.
std::string between(const std::string& line, std::string_view before, std::string_view after) {
  const std::size_t at = line.find(before);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + before.size();
  return line.substr(begin, line.find(after, begin) - begin);
}

std::string fingerprint_in(const Lines& lines) {
  const std::string* line = with(lines, "SHA256:");
  if (line == nullptr) return "another key";
  std::string print = line->substr(line->find("SHA256:"));
  print = print.substr(0, print.find(' '));
  while (!print.empty() && print.back() == '.') print.pop_back();
  return print;
}

// "10.0.0.1", or "[10.0.0.1]:2222", as known_hosts and ssh-keyscan name it.
std::string keyscan(const std::string& entry, const Login& login) {
  const std::size_t colon = entry.rfind("]:");
  const bool bare = colon == std::string::npos;
  return fmt::format("`ssh-keyscan -p {} {} >> {}`", bare ? "22" : entry.substr(colon + 2),
                     bare ? entry : entry.substr(1, colon - 1), login.known_hosts);
}

std::optional<LoginResult> pinned(const Lines& lines, const Login& login) {
  const std::string* saw = with(lines, kSaw);
  if (saw == nullptr || with(lines, "Host key verification failed") == nullptr) return std::nullopt;
  return LoginResult{
      End::kRefused,
      fmt::format("another host may be answering at {}: the lab file pins {}, but it showed {}. If "
                  "that is its key (`ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the host "
                  "itself), pin it",
                  target(login), login.host_key, saw->substr(saw->find(kSaw) + kSaw.size() + 1)),
      Step::kHostKey};
}

std::optional<LoginResult> changed(const Lines& lines, const Login& login) {
  if (with(lines, "HOST IDENTIFICATION HAS CHANGED") == nullptr) return std::nullopt;
  const std::string* offending = with(lines, "Offending ");
  const std::string where =
      offending == nullptr ? login.known_hosts : between(*offending, " key in ", "\n");
  const std::string* strict = with(lines, "ost key for ");
  const std::string host =
      strict == nullptr ? target(login) : between(*strict, "ost key for ", " has changed");
  return LoginResult{
      End::kRefused,
      fmt::format("another host may be answering at {}: {} has another key than the {} it showed. "
                  "If the host was reinstalled: `ssh-keygen -R '{}'`, then add its key",
                  host, where, fingerprint_in(lines), host),
      Step::kHostKey};
}

std::optional<LoginResult> unknown(const Lines& lines, const Login& login) {
  const std::string* strict = with(lines, "host key is known for ");
  const std::string* asked = with(lines, "The authenticity of host '");
  if (strict == nullptr && asked == nullptr) return std::nullopt;
  std::string host = strict != nullptr ? between(*strict, "is known for ", " and you have")
                                       : between(*asked, "of host '", "'");
  host = host.substr(0, host.find(' '));  // "bastion (10.0.0.1)"
  return LoginResult{
      End::kRefused,
      fmt::format("{}: {} has no key in known_hosts. Compare its key with `ssh-keygen -lf "
                  "/etc/ssh/ssh_host_ed25519_key.pub` on the host itself, then set it as host_key "
                  "in the lab file, or run {}",
                  target(login), host, keyscan(host, login)),
      Step::kHostKey};
}

std::optional<LoginResult> host_key(const Lines& lines, const Login& login) {
  const std::string* failed = with(lines, "Host key verification failed");
  if (failed == nullptr) return std::nullopt;
  return LoginResult{
      End::kRefused,
      fmt::format("{}: the host key of it, or of a host on the way, is not known; run `ssh {}` "
                  "once by hand and see what it asks",
                  target(login), login.address),
      Step::kHostKey};
}

std::optional<LoginResult> denied(const Lines& lines, const Login& login) {
  const std::string* line = with(lines, "Permission denied (");
  const std::string* many = with(lines, "Too many authentication failures");
  if (line == nullptr && many == nullptr) return std::nullopt;
  const std::string who = line == nullptr ? "" : line->substr(0, line->find(": Permission"));
  return LoginResult{
      End::kRefused,
      fmt::format("{}: the login was refused ({}); name a key with identity in the lab file (a key "
                  "with a passphrase: `ssh-add` it), and append its .pub to ~/.ssh/authorized_keys "
                  "of {}",
                  target(login), line == nullptr ? *many : *line,
                  who.empty() ? "the account there" : who),
      Step::kKey};
}

std::optional<LoginResult> jump_cannot(const Lines& lines, const Login& login) {
  const std::string* line = with(lines, "open failed: ");
  if (line == nullptr || with(lines, "stdio forwarding failed") == nullptr) return std::nullopt;
  return LoginResult{End::kNoAnswer,
                     fmt::format("{}: the jump host cannot reach it: {}", target(login),
                                 line->substr(line->find("open failed: ") + 13)),
                     Step::kReach};
}

std::optional<LoginResult> no_answer(const Lines& lines, const Login& login) {
  for (const std::string_view words : {"connect to host ", "Could not resolve hostname "}) {
    const std::string* line = with(lines, words);
    if (line == nullptr) continue;
    return LoginResult{End::kNoAnswer, fmt::format("{}: {}", target(login), *line), Step::kReach};
  }
  return std::nullopt;
}

std::optional<LoginResult> algorithms(const Lines& lines, const Login& login) {
  const std::string* line = with(lines, "Unable to negotiate with ");
  if (line == nullptr) return std::nullopt;
  return LoginResult{End::kRefused, fmt::format("{}: {}", target(login), *line), Step::kAlgorithms};
}

std::optional<LoginResult> bad_config(const Lines& lines, const Login& login) {
  for (const std::string_view words :
       {"Bad configuration option", "Can't open user config file", "Bad owner or permissions",
        "bad configuration options", "unsupported option"}) {
    const std::string* line = with(lines, words);
    if (line == nullptr) continue;
    return LoginResult{End::kRefused,
                       fmt::format("{}: the OpenSSH configuration does not work: {}; mend it (`ssh "
                                   "-G {}` must print no error)",
                                   login.address, *line, login.address),
                       Step::kConfig};
  }
  return std::nullopt;
}

// MaxStartups and dying servers: worth another try.
std::optional<LoginResult> dropped(const Lines& lines, const Login& login) {
  for (const std::string_view words :
       {"kex_exchange_identification", "Connection closed by", "Connection reset by",
        "closed by remote host", "Broken pipe", "Not allowed at this time"}) {
    const std::string* line = with(lines, words);
    if (line == nullptr) continue;
    return LoginResult{End::kDropped, fmt::format("{}: {}", target(login), *line), Step::kReach};
  }
  return std::nullopt;
}

}  // namespace

LoginResult complaint(std::string_view said, const Login& login) {
  const Lines lines = lines_of(said);
  using Reader = std::optional<LoginResult> (*)(const Lines&, const Login&);
  constexpr std::array<Reader, 10> kReaders = {pinned,     changed,     unknown,   host_key,
                                               denied,     jump_cannot, no_answer, algorithms,
                                               bad_config, dropped};
  for (const Reader read : kReaders) {
    if (auto result = read(lines, login)) return *result;
  }
  std::string last = "it said nothing";
  for (const std::string& line : lines) {
    if (!line.starts_with(kSaw)) last = line;
  }
  return {End::kRefused,
          fmt::format("{}: the ssh program could not log in: {}", target(login), last),
          Step::kReach};
}

}  // namespace unplug::ssh
