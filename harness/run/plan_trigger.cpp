#include "run/plan_trigger.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/ere.hpp"

namespace unplug::run {
namespace {

using scenario::Selector;
using scenario::When;

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool comes_from(const std::optional<Selector>& from, const std::string& seat) {
  if (!from || from->pick != Selector::Pick::kOne) return true;
  return seat == fmt::format("{}-{}", from->word, from->number);
}

std::string text_of(const When& when) {
  std::string text = "when " + when.event;
  if (when.from) text += " from " + scenario::to_text(*when.from);
  for (const auto& [field, value] : when.fields) text += fmt::format(", {} = {}", field, value);
  for (const auto& [field, value] : when.numbers) text += fmt::format(", {} >= {:g}", field, value);
  if (when.nth > 1) text += fmt::format(", match {}", when.nth);
  if (when.plus.count() > 0) text += " plus " + to_text(when.plus);
  return text;
}

}  // namespace

bool matches(const When& when, const SeenEvent& seen) {
  if (seen.event != when.event || !comes_from(when.from, seen.seat)) return false;
  for (const auto& [field, value] : when.fields) {
    const auto found = seen.fields.find(field);
    if (found == seen.fields.end() || found->second != value) return false;
  }
  for (const auto& [field, least] : when.numbers) {
    const auto found = seen.fields.find(field);
    const auto value = found == seen.fields.end() ? std::nullopt : number(found->second);
    if (!value || *value < least) return false;
  }
  return true;
}

std::optional<std::pair<std::string, double>> asked_number(const scenario::Trigger& trigger) {
  const auto* when = std::get_if<When>(&trigger);
  if (when == nullptr || when->numbers.empty()) return std::nullopt;
  return *when->numbers.begin();
}

Moment moment_of(const scenario::Trigger& trigger) {
  if (std::holds_alternative<scenario::BeforeStart>(trigger)) return Moment::kBeforeStart;
  if (std::holds_alternative<scenario::DuringRecover>(trigger)) return Moment::kRecover;
  return Moment::kRun;
}

std::optional<double> number_in(const scenario::Target& target, const scenario::Trigger& trigger,
                                const std::string& line) {
  const auto asked = asked_number(trigger);
  const auto* when = std::get_if<When>(&trigger);
  const scenario::EventPattern* event = when ? target.event(when->event) : nullptr;
  if (!asked || event == nullptr) return std::nullopt;
  const auto groups = Ere(event->match).match(line);
  if (!groups) return std::nullopt;
  return number(groups->at(static_cast<std::size_t>(event->fields.at(asked->first))));
}

std::string trigger_text(const scenario::Trigger& trigger) {
  struct Text {
    std::string operator()(const scenario::At& t) const { return "at " + to_text(t.time); }
    std::string operator()(const scenario::Between& t) const {
      return fmt::format("between {} and {}", to_text(t.earliest), to_text(t.latest));
    }
    std::string operator()(const scenario::After& t) const {
      return "after " + t.fault + (t.plus.count() > 0 ? " plus " + to_text(t.plus) : "");
    }
    std::string operator()(const scenario::With& t) const { return "with " + t.fault; }
    std::string operator()(const scenario::BeforeStart&) const { return "before start"; }
    std::string operator()(const scenario::DuringRecover&) const { return "during recover"; }
    std::string operator()(const When& t) const { return text_of(t); }
  };
  return std::visit(Text{}, trigger);
}

TriggerWatch::TriggerWatch(const FaultPlan& fault) : trigger_(fault.trigger), drawn_(fault.drawn) {
  if (const auto number = asked_number(trigger_)) asked_ = number->second;
}

void TriggerWatch::moment(Duration now, Moment moment) {
  if (!due_ && moment != Moment::kRun && moment_of(trigger_) == moment) due_ = now;
}

void TriggerWatch::started(Duration now) {
  if (due_) return;
  if (const auto* at = std::get_if<scenario::At>(&trigger_)) due_ = now + at->time;
  if (drawn_) due_ = now + *drawn_;
}

void TriggerWatch::event(Duration now, const SeenEvent& seen) {
  const auto* when = std::get_if<When>(&trigger_);
  if (when == nullptr) return;
  if (asked_ && seen.event == when->event && comes_from(when->from, seen.seat)) {
    const auto field = seen.fields.find(asked_number(trigger_)->first);
    if (field != seen.fields.end()) reached_ = number(field->second);
  }
  if (!due_ && matches(*when, seen) && ++matched_ == when->nth) due_ = now + when->plus;
}

void TriggerWatch::fired(Duration now, const std::string& fault_id) {
  const auto* with = std::get_if<scenario::With>(&trigger_);
  if (!due_ && with != nullptr && with->fault == fault_id) due_ = now;
}

void TriggerWatch::ended(Duration now, const std::string& fault_id) {
  const auto* after = std::get_if<scenario::After>(&trigger_);
  if (!due_ && after != nullptr && after->fault == fault_id) due_ = now + after->plus;
}

}  // namespace unplug::run
