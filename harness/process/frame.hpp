// Reads one stream of a framed command: noise, begin mark, data, end mark. See script.hpp.
//
// Data is passed on at once; only bytes that could be the beginning of a mark are held back.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace unplug {

class Frame {
 public:
  explicit Frame(const std::string& nonce) : mark_("\x1e" + nonce + " ") {}

  // Takes the next bytes of the stream; `data` gets what belongs to the command.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& data);

  // The stream has ended: what was held back was data after all.
  void flush(const std::function<void(std::string_view)>& data);

  bool begun() const { return begun_; }
  // The word of the end mark: a status on stdout, "end" on stderr.
  const std::optional<std::string>& end() const { return end_; }
  // What came before the begin mark (its first 1 KiB), for messages.
  const std::string& noise() const { return noise_; }

 private:
  bool take_mark();
  void pass(std::size_t count, const std::function<void(std::string_view)>& data);

  std::string mark_, held_, noise_;
  bool begun_ = false;
  std::optional<std::string> end_;
};

}  // namespace unplug
