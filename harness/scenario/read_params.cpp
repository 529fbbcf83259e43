// Parameters and other pieces that several kinds of file share.
#include <fmt/format.h>

#include <algorithm>

#include "scenario/expression.hpp"
#include "scenario/read.hpp"

namespace unplug::scenario {
namespace {

const std::vector<std::string> kSignals = {"HUP",  "INT",  "QUIT", "ABRT", "KILL", "SEGV", "PIPE",
                                           "ALRM", "TERM", "STOP", "CONT", "USR1", "USR2"};

// Which type of parameter an "of" points at; empty: this type has none.
std::string type_of_of(const std::string& type) {
  if (type == "node") return "link";
  if (type == "interface" || type == "path" || type == "model") return "node";
  return "";
}

bool read_signal(Sheet& sheet, const Value& value, std::string_view key, std::string& into) {
  if (value.kind == Value::Kind::kString && value.text.starts_with("SIG")) {
    sheet.complain(value, fmt::format("\"{}\" cannot be \"{}\"", key, value.text),
                   fmt::format("write \"{}\", without SIG", value.text.substr(3)));
    return false;
  }
  return sheet.read_word(value, key, kSignals, into);
}

// true and false, or "yes" and "no" as the scripts get them.
bool read_yes_or_no(Sheet& sheet, const Value& value, std::string_view key, std::string& into) {
  if (value.kind == Value::Kind::kString && (value.text == "yes" || value.text == "no")) {
    into = value.text;
    return true;
  }
  bool yes = false;
  if (!sheet.read(value, key, yes)) return false;
  into = yes ? "yes" : "no";
  return true;
}

bool read_path(Sheet& sheet, const Value& value, std::string_view key, std::string& into) {
  if (!sheet.read(value, key, into)) return false;
  if (into.front() == '/' || into == "$SCRATCH" || into.starts_with("$SCRATCH/")) return true;
  sheet.complain(value, fmt::format("\"{}\" is \"{}\", which is no whole path", key, into),
                 "begin it with / or $SCRATCH/");
  return false;
}

Param read_param(Sheet& sheet, const Value::Member& member, const std::vector<std::string>& types,
                 const std::vector<std::string>& reserved) {
  Param param;
  param.name = member.key;
  sheet.good_name(member.position, "parameter", param.name, reserved);
  Object object(sheet, member.value, "param");
  object.remarks();
  const Value* type = object.need("type", "\"duration\"");
  if (type != nullptr) sheet.read_word(*type, "type", types, param.type);
  // Parameters of a target point at nothing.
  const bool points = std::ranges::find(types, "link") != types.end();
  const Value* of = points ? object.find("of") : nullptr;
  if (of != nullptr && sheet.read(*of, "of", param.of) && !param.type.empty() &&
      type_of_of(param.type).empty()) {
    sheet.complain(*of, fmt::format("a parameter of type {} has no \"of\"", param.type),
                   "leave it out");
  }
  const Value* fallback = object.find("default");
  if (fallback == nullptr || param.type.empty()) return param;
  std::string text;
  if (read_scalar(sheet, *fallback, "default", param.type, text)) param.fallback = text;
  return param;
}

void check_of(Sheet& sheet, const Value& params, const std::vector<Param>& all,
              const Param& param) {
  if (param.of.empty() || type_of_of(param.type).empty()) return;
  const std::string wanted = type_of_of(param.type);
  std::vector<std::string> fitting;
  for (const Param& other : all) {
    if (other.type.empty()) return;  // said where it stands
    if (other.type == wanted) fitting.push_back(other.name);
  }
  if (std::ranges::find(fitting, param.of) == fitting.end()) {
    sheet.unknown(params.find(param.name)->find("of")->position, wanted + " parameter", param.of,
                  fitting);
  }
}

}  // namespace

std::vector<Param> read_params(Sheet& sheet, const Value* params,
                               const std::vector<std::string>& types,
                               const std::vector<std::string>& reserved) {
  std::vector<Param> all;
  if (params == nullptr || !sheet.is_object(*params, "params")) return all;
  for (const Value::Member& member : params->members) {
    all.push_back(read_param(sheet, member, types, reserved));
  }
  for (const Param& param : all) check_of(sheet, *params, all, param);
  return all;
}

bool read_scalar(Sheet& sheet, const Value& value, std::string_view key, const std::string& type,
                 std::string& into) {
  if (type == "integer") {
    int number = 0;
    if (!sheet.read(value, key, number)) return false;
    into = std::to_string(number);
    return true;
  }
  if (type == "duration") {
    Duration duration{};
    if (!sheet.read(value, key, duration)) return false;
    into = to_text(duration);
    return true;
  }
  if (type == "bytes") {
    Bytes bytes = 0;
    if (!sheet.read_bytes(value, key, bytes)) return false;
    into = bytes_text(bytes);
    return true;
  }
  if (type == "boolean") return read_yes_or_no(sheet, value, key, into);
  if (type == "signal") return read_signal(sheet, value, key, into);
  if (type == "path") return read_path(sheet, value, key, into);
  return sheet.read(value, key, into);
}

std::optional<int> read_expression(Sheet& sheet, const Value* value, std::string_view key,
                                   std::string& into) {
  if (value == nullptr || !sheet.read(*value, key, into)) return std::nullopt;
  const Expression expression = inspect_expression(into);
  if (expression.wrong.empty()) return expression.groups;
  sheet.complain(*value, fmt::format("\"{}\" does not compile: {}", key, expression.wrong),
                 "write a POSIX extended regular expression");
  return std::nullopt;
}

void read_captures(Sheet& sheet, const Value* value, std::optional<int> groups,
                   std::map<std::string, int>& into) {
  if (value == nullptr || !sheet.is_object(*value, "fields")) return;
  for (const Value::Member& member : value->members) {
    sheet.good_name(member.position, "field", member.key);
    int& capture = into[member.key];
    if (!sheet.read(member.value, member.key, capture) || !groups) continue;
    if (capture >= 1 && capture <= *groups) continue;
    sheet.complain(
        member.value,
        fmt::format("field \"{}\" is capture {}, and \"match\" has {}", member.key, capture,
                    *groups),
        *groups == 0 ? "put what it should capture in ( )" : fmt::format("write 1 to {}", *groups));
  }
}

}  // namespace unplug::scenario
