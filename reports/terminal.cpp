// The report that a person reads first:
//
//   FAIL  worker-killed: output does not hold
//   Is a job whose worker dies finished once, by another worker?
//
//   fault   kill  process_kill on worker of worker-2 at node2
//             fired 4.2 s after start · seen 4.9 s after start · nothing to undo
//   ok      conservation  6 items, each in exactly one state in 41 snapshots
//   FAIL    output  1 with other bytes (of 6 outputs)
//             #214 shot-2 (done/shot-2.mp4): ...
#include <fmt/format.h>

#include <algorithm>

#include "base/shell.hpp"
#include "check/fields.hpp"
#include "reports/report.hpp"
#include "reports/text.hpp"

namespace unplug::reports {
namespace {

using check::Says;
using check::Verdict;

enum class Tone { kGood, kBad, kDoubt, kQuiet };

// What fits into 40 lines with the head and the foot: the rest is in the folder.
constexpr std::size_t kMostFaults = 5;
constexpr std::size_t kMostFindings = 9;
constexpr std::size_t kWitnessLines = 8;

class Page {
 public:
  explicit Page(bool color) : color_(color) {}

  std::string toned(Tone tone, const std::string& text) const {
    if (!color_) return text;
    const char* code = tone == Tone::kGood    ? "32"
                       : tone == Tone::kBad   ? "1;31"
                       : tone == Tone::kDoubt ? "33"
                                              : "2";
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }
  // A word in the first column, then the line.
  void row(Tone tone, const std::string& word, const std::string& text) {
    line(toned(tone, fmt::format("{:<8}", word)) + text);
  }
  void indented(const std::string& text) { line("          " + text); }
  void line(const std::string& text = "") { text_ += text + "\n"; }
  std::string text() const { return text_; }

 private:
  bool color_;
  std::string text_;
};

std::pair<Tone, std::string> heading(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return {Tone::kGood, "PASS"};
    case Verdict::kFail:
      return {Tone::kBad, "FAIL"};
    case Verdict::kInconclusive:
      return {Tone::kDoubt, "INCONCLUSIVE"};
    case Verdict::kUnhealed:
      return {Tone::kBad, "UNHEALED"};
    case Verdict::kInterrupted:
      return {Tone::kDoubt, "INTERRUPTED"};
    case Verdict::kInternal:
      break;
  }
  return {Tone::kBad, "INTERNAL ERROR"};
}

std::pair<Tone, std::string> mark(Says says) {
  switch (says) {
    case Says::kPass:
      return {Tone::kGood, "ok"};
    case Says::kFail:
      return {Tone::kBad, "FAIL"};
    case Says::kKnown:
      return {Tone::kDoubt, "known"};
    case Says::kFixed:
      return {Tone::kGood, "fixed"};
    case Says::kSkipped:
      return {Tone::kQuiet, "skipped"};
    case Says::kCannotTell:
      break;
  }
  return {Tone::kDoubt, "?"};
}

void write_head(Page& page, const check::Judged& judged) {
  const auto [tone, word] = heading(judged.result.verdict);
  page.line(page.toned(tone, word) + "  " + safe(judged.scenario.name) + ": " +
            safe(judged.result.why));
  if (!judged.scenario.asks.empty())
    page.line(page.toned(Tone::kQuiet, safe(judged.scenario.asks)));
  page.line();
}

void write_fault(Page& page, const check::FaultFinding& fault) {
  const Tone tone = fault.unhealed ? Tone::kBad : fault.confirmed ? Tone::kGood : Tone::kDoubt;
  page.row(
      tone, fault.unhealed ? "STAYS" : "fault",
      fmt::format("{}  {} on {}", safe(fault.instance), safe(fault.injector), safe(fault.victim)));
  std::string life = fault.fired.empty() ? "" : "fired " + fault.fired + ", ";
  life += (fault.confirmed ? "" : "not confirmed: ") + safe(fault.text);
  std::string proof;
  for (const check::Witness& witness : fault.witnesses) {
    proof += fmt::format("{}#{}", proof.empty() ? "" : " ", witness.seq);
  }
  if (!proof.empty()) life += " (" + safe(proof, 40) + ")";
  page.indented(life + ", " + safe(fault.undone));
}

// How the target came back: what the journal says of settle and recover.
void write_recovery(Page& page, const journal::Journal& journal) {
  std::int64_t settle = 0, settled = 0;
  std::string recovered;
  for (const journal::Event& event : journal.events) {
    const std::string name = check::text_of(event.data, "name");
    const bool begin = check::text_of(event.data, "edge") == "begin";
    if (event.kind == "phase" && name == "settle") (begin ? settle : settled) = event.t;
    if (event.kind != "phase" || name != "recover" || begin) continue;
    recovered = ", recover done";
  }
  if (settle == 0 && recovered.empty()) return;
  const std::string took =
      settled > settle ? "settled in " + for_people(Duration{settled - settle}) : "settled";
  page.row(Tone::kQuiet, "then", took + (recovered.empty() ? ", no recover" : recovered));
}

std::size_t write_witnesses(Page& page, const check::Finding& finding, std::size_t room) {
  const std::size_t shown = std::min({finding.witnesses.size(), room, std::size_t{3}});
  for (std::size_t i = 0; i < shown; ++i) {
    const check::Witness& witness = finding.witnesses[i];
    page.indented(fmt::format("{}#{} {}", witness.journal.empty() ? "" : witness.journal + " ",
                              witness.seq, safe(witness.text, 120)));
  }
  if (shown > 0 && finding.witnesses.size() > shown) {
    page.indented(fmt::format("... and {} more", finding.witnesses.size() - shown));
  }
  return shown;
}

void write_findings(Page& page, const check::Result& result) {
  std::size_t room = kWitnessLines, shown = 0;
  for (const bool bad : {true, false}) {
    for (const check::Finding& finding : result.findings) {
      const bool is_bad = finding.says == Says::kFail || finding.says == Says::kCannotTell;
      if (is_bad != bad || shown++ >= kMostFindings) continue;
      const auto [tone, word] = mark(finding.says);
      page.row(tone, word, safe(finding.name, 40) + "  " + safe(finding.text));
      if (!finding.otherwise.empty())
        page.indented("it would have said " + safe(finding.otherwise));
      if (is_bad) room -= write_witnesses(page, finding, room);
    }
  }
  if (shown > kMostFindings) {
    page.line(fmt::format("        ... and {} more, see result.json", shown - kMostFindings));
  }
}

// A lab that was built for this run alone; one that `unplug lab` keeps up can be healed.
bool lab_is_gone(const journal::Journal& journal) {
  return !journal.events.empty() && check::flag_of(journal.events.front().data, "lab_ends", false);
}

void write_by_hand(Page& page, const check::Judged& judged, const TerminalStyle& style) {
  if (judged.result.by_hand.empty()) return;
  page.line();
  page.line(page.toned(Tone::kBad, "Still to undo:"));
  // SAFETY: these are the steps that a person types; they are never cut short.
  for (const std::string& step : judged.result.by_hand) page.indented(safe(step, 2000));
  if (lab_is_gone(judged.journal)) {
    page.indented("The lab was built in, and has gone with all that was broken in it.");
  } else {
    const std::string lab = style.folder.empty() ? "lab.json" : style.folder + "/lab.json";
    std::string heal = "unplug heal --lab " + shell_quoted(lab);
    if (!style.folder.empty()) heal += " --into " + shell_quoted(style.folder);
    page.indented(heal);
  }
}

}  // namespace

std::string terminal(const check::Judged& judged, const TerminalStyle& style) {
  Page page(style.color);
  write_head(page, judged);
  const auto& faults = judged.result.faults;
  for (std::size_t i = 0; i < faults.size() && i < kMostFaults; ++i) write_fault(page, faults[i]);
  if (faults.size() > kMostFaults) {
    page.line(fmt::format("        ... and {} more, see result.json", faults.size() - kMostFaults));
  }
  for (const check::SkewFinding& skew : judged.result.skews) {
    page.row(Tone::kQuiet, "skew",
             safe(fmt::format("{}: {}", fmt::join(skew.ids, ", "), skew.text)));
  }
  write_recovery(page, judged.journal);
  write_findings(page, judged.result);
  write_by_hand(page, judged, style);
  page.line();
  if (!style.folder.empty()) {
    page.row(Tone::kQuiet, "left in", style.folder);
    page.row(Tone::kQuiet, "", "#N above is line N of its journal.jsonl");
  }
  if (!style.repeat.empty()) page.row(Tone::kQuiet, "again", style.repeat);
  return page.text();
}

}  // namespace unplug::reports
