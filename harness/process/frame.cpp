#include "process/frame.hpp"

#include <algorithm>

namespace unplug {
namespace {

constexpr std::size_t kNoiseKept = 1024;
constexpr std::size_t kLongestWord = 8;  // "begin", "end" or a status

// The earliest place from which `text` is, as far as it goes, `mark`.
std::size_t possible_mark(std::string_view text, std::string_view mark) {
  for (std::size_t at = text.find(mark[0]); at != std::string_view::npos;
       at = text.find(mark[0], at + 1)) {
    const std::string_view rest = text.substr(at, mark.size());
    if (mark.substr(0, rest.size()) == rest) return at;
  }
  return text.size();
}

}  // namespace

void Frame::feed(std::string_view bytes, const std::function<void(std::string_view)>& data) {
  held_ += bytes;
  while (!held_.empty() && !end_) {
    pass(possible_mark(held_, mark_), data);
    if (!take_mark()) break;
  }
  if (end_) held_.clear();  // a child in the background may print on; it is not the command
}

void Frame::flush(const std::function<void(std::string_view)>& data) { pass(held_.size(), data); }

// True when something was taken off `held_`, so that looking again is worth while.
bool Frame::take_mark() {
  const std::size_t line = held_.find('\n');
  if (held_.size() < mark_.size() || line == std::string::npos) {
    return false;  // more has to come (a word that is too long is cut when its line ends)
  }
  std::string word = held_.substr(mark_.size(), line - mark_.size());
  held_.erase(0, line + 1);
  if (!begun_) {
    begun_ = word == "begin";
  } else if (word.size() <= kLongestWord) {
    end_ = std::move(word);
  }
  return true;
}

void Frame::pass(std::size_t count, const std::function<void(std::string_view)>& data) {
  const std::string_view front = std::string_view(held_).substr(0, count);
  if (begun_) {
    if (count > 0) data(front);
  } else {
    noise_ += front.substr(0, kNoiseKept - std::min(kNoiseKept, noise_.size()));
  }
  held_.erase(0, count);
}

}  // namespace unplug
