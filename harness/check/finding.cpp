#include "check/finding.hpp"

namespace unplug::check {

std::string to_text(Says says) {
  switch (says) {
    case Says::kPass:
      return "pass";
    case Says::kFail:
      return "fail";
    case Says::kKnown:
      return "known";
    case Says::kFixed:
      return "fixed";
    case Says::kCannotTell:
      return "cannot_tell";
    case Says::kSkipped:
      return "skipped";
  }
  return "cannot_tell";
}

std::string to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kUnhealed:
      return "unhealed";
    case Verdict::kInternal:
      return "internal";
    case Verdict::kInterrupted:
      return "interrupted";
  }
  return "internal";
}

Exit exit_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return Exit::kPass;
    case Verdict::kFail:
      return Exit::kFail;
    case Verdict::kInconclusive:
      return Exit::kInconclusive;
    case Verdict::kUnhealed:
      return Exit::kUnhealed;
    case Verdict::kInternal:
      return Exit::kInternal;
    case Verdict::kInterrupted:
      return Exit::kInterrupted;
  }
  return Exit::kInternal;
}

}  // namespace unplug::check
