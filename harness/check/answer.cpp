#include <fmt/format.h>

#include <array>

#include "check/checks.hpp"

namespace unplug::check {

const Check* find_check(const std::string& name) {
  static const std::array kChecks = {
      Check{"conservation", Kind::kInvariant, conservation},
      Check{"exclusive_claim", Kind::kInvariant, exclusive_claim},
      Check{"output", Kind::kInvariant, output},
      Check{"command", Kind::kInvariant, command},
      Check{"timeout", Kind::kResponse, timeout},
      Check{"cancellation", Kind::kResponse, cancellation},
      Check{"cleanup", Kind::kResponse, cleanup},
      Check{"restart_point", Kind::kResponse, restart_point},
      Check{"refuses", Kind::kResponse, refuses},
      Check{"honest_exit", Kind::kResponse, honest_exit},
      Check{"progress", Kind::kResponse, progress},
  };
  for (const Check& check : kChecks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

Answer worst_of(const std::vector<Answer>& answers) {
  Answer worst{Says::kCannotTell, "there is nothing to judge", {}};
  for (const Says says : {Says::kFail, Says::kCannotTell, Says::kPass}) {
    Answer merged{says, "", {}};
    bool any = false;
    for (const Answer& answer : answers) {
      if (answer.says != says) continue;
      any = true;
      merged.text += (merged.text.empty() ? "" : "; ") + answer.text;
      merged.witnesses.insert(merged.witnesses.end(), answer.witnesses.begin(),
                              answer.witnesses.end());
    }
    if (any) return merged;
  }
  return worst;
}

Answer cannot_tell(const std::string& why) { return {Says::kCannotTell, why, {}}; }

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

}  // namespace unplug::check
