// A fault's own parameters: each by the type that its injector declares.
#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "scenario/read_scenario.hpp"

namespace unplug::scenario {
namespace {

std::string spoken(const std::string& type) {
  if (type == "process") return "\"worker 2\"";
  if (type == "node") return "\"node 2\"";
  if (type == "link") return R"({"between": ["server 1", "worker 2"]})";
  if (type == "interface") return "\"tb0\"";
  if (type == "duration") return "\"5s\"";
  if (type == "bytes") return "\"64MiB\"";
  if (type == "boolean") return "true";
  if (type == "integer") return "1";
  if (type == "signal") return "\"TERM\"";
  if (type == "path") return "\"$SCRATCH/work\"";
  if (type == "model") return "\"look\"";
  return "\"...\"";
}

class ParamReader {
 public:
  ParamReader(Sheet& sheet, Object& object, const Injector& injector, const Context& context,
              const Scenario& scenario, Fault& fault)
      : sheet_(sheet),
        object_(object),
        injector_(injector),
        context_(context),
        scenario_(scenario),
        fault_(fault) {}

  void read() {
    const auto members = object_.rest();
    for (const Value::Member* member : members) {
      const Param* param = injector_.param(member->key);
      if (param == nullptr) {
        unknown(*member);
      } else {
        value(*member, *param);
      }
    }
    for (const Param& param : injector_.params) absent(param, members);
    for (const Value::Member* member : members) {
      const Param* param = injector_.param(member->key);
      if (param != nullptr && fault_.params.contains(param->name)) related(member->value, *param);
    }
  }

 private:
  void unknown(const Value::Member& member) {
    const std::vector<std::string> params = names_of(injector_.params);
    std::vector<std::string> names = params;
    for (const char* key : {"id", "at", "when", "after", "with", "between", "before", "during",
                            "plus", "for", "tolerance", "skew", "about"}) {
      names.emplace_back(key);
    }
    std::string mend = params.empty() ? "it has no parameters" : "it takes " + listed(params);
    if (const auto near = nearest(member.key, names)) {
      mend = fmt::format("did you mean \"{}\"?", *near);
    }
    sheet_.complain(
        member.position,
        fmt::format("injector \"{}\" has no parameter \"{}\"", injector_.name, member.key),
        std::move(mend));
  }

  void absent(const Param& param, const std::vector<const Value::Member*>& members) {
    const auto names = [&](const Value::Member* member) { return member->key == param.name; };
    if (std::ranges::any_of(members, names)) return;
    // Said already, as an unknown parameter that is near to this one.
    const auto misspells = [&](const Value::Member* member) {
      return injector_.param(member->key) == nullptr &&
             nearest(member->key, names_of(injector_.params)) == param.name;
    };
    if (!param.fallback && std::ranges::any_of(members, misspells)) return;
    if (param.fallback) {
      fault_.params[param.name].text = *param.fallback;
      return;
    }
    sheet_.complain(object_.position(),
                    fmt::format("injector \"{}\" needs \"{}\"", injector_.name, param.name),
                    fmt::format("write \"{}\": {}", param.name, spoken(param.type)));
  }

  void value(const Value::Member& member, const Param& param) {
    ParamValue read_value;
    bool good = false;
    if (param.type == "link") {
      good = link(member.value, param.name, read_value);
    } else if (param.type == "process" || param.type == "node") {
      const auto selector =
          read_selector(sheet_, member.value, param.name, subject(param), context_, scenario_);
      if (selector) read_value.text = to_text(*selector);
      good = selector.has_value();
    } else if (param.type == "model") {
      good = model(member.value, param.name, read_value.text);
    } else {
      good = read_scalar(sheet_, member.value, param.name, param.type, read_value.text);
    }
    if (good) fault_.params[param.name] = std::move(read_value);
  }

  static Subject subject(const Param& param) {
    return param.type == "process" ? Subject::kPart : Subject::kNode;
  }

  // The name of a file that the target computes with.
  bool model(const Value& value, const std::string& key, std::string& into) {
    if (!sheet_.read(value, key, into)) return false;
    if (context_.target == nullptr) return true;
    const std::vector<std::string> names = names_of(context_.target->models);
    if (std::ranges::find(names, into) != names.end()) return true;
    sheet_.unknown(value.position, "model", into, names);
    return false;
  }

  // A link's name, or {"between": [one, other]}.
  bool link(const Value& value, const std::string& key, ParamValue& into) {
    if (value.kind != Value::Kind::kObject) {
      if (!sheet_.read(value, key, into.text)) return false;
      if (context_.lab == nullptr || link_of(into, context_, scenario_) != nullptr) return true;
      sheet_.unknown(value.position, "link", into.text, names_of(context_.lab->links));
      return false;
    }
    Object object(sheet_, value, "between");
    const Value* between = object.need("between", R"(["server 1", "worker 2"])");
    if (between == nullptr || !sheet_.is_list(*between, "between")) return false;
    if (between->items.size() != 2) {
      sheet_.complain(*between,
                      fmt::format("\"between\" names {} of two ends", between->items.size()),
                      R"(write two, such as ["server 1", "worker 2"])");
      return false;
    }
    for (const Value& end : between->items) {
      if (!link_end(end, into)) return false;
    }
    return joins_two(*between, into);
  }

  bool link_end(const Value& end, ParamValue& into) {
    const auto selector =
        read_selector(sheet_, end, "between", Subject::kNode, context_, scenario_);
    if (!selector) return false;
    if (selector->pick != Selector::Pick::kOne) {
      sheet_.complain(end, fmt::format("\"{}\" is not one end of a link", to_text(*selector)),
                      fmt::format("write \"{} 1\"", selector->word));
      return false;
    }
    into.between.push_back(to_text(*selector));
    return true;
  }

  bool joins_two(const Value& between, const ParamValue& value) {
    const Positions joined = joined_by(value, context_, scenario_);
    const std::string ends = fmt::format("\"{}\" and \"{}\"", value.between[0], value.between[1]);
    if (joined.size() == 1) {
      sheet_.complain(between, fmt::format("{} are on one node", ends), "name two nodes");
      return false;
    }
    if (context_.lab == nullptr || link_of(value, context_, scenario_) != nullptr) return true;
    const auto last = joined.empty() ? 0U : static_cast<std::size_t>(*joined.rbegin());
    if (last > context_.lab->nodes.size()) return false;  // said at "place"
    sheet_.complain(between,
                    fmt::format("no link of lab \"{}\" joins {}", context_.lab->name, ends),
                    "its links: " + listed(names_of(context_.lab->links)));
    return false;
  }

  // What a parameter says about another one, and about our own path to the nodes.
  void related(const Value& value, const Param& param) {
    if (param.type == "node" && !param.of.empty()) end_of_link(value, param);
    if (param.type == "link") spare_control(value, param);
    if (param.type == "interface") spare_interface(value, param);
    if (param.type == "node" || param.type == "process") spare_controller(value, param);
  }

  void end_of_link(const Value& value, const Param& param) {
    const auto link = fault_.params.find(param.of);
    if (link == fault_.params.end()) return;
    const Positions ends = joined_by(link->second, context_, scenario_);
    const Positions here = nodes(param);
    if (ends.empty() || here.empty()) return;
    if (here.size() == 1 && ends.contains(*here.begin())) return;
    const auto& between = link->second.between;
    sheet_.complain(value, fmt::format("\"{}\" is not one end of the link", value.text),
                    between.empty()
                        ? "name a node that the link joins"
                        : fmt::format("write \"{}\" or \"{}\"", between[0], between[1]));
  }

  Positions nodes(const Param& param) const {
    const auto value = fault_.params.find(param.name);
    if (value == fault_.params.end()) return {};
    const auto selector = parse_selector(value->second.text);
    return selector ? positions_of(*selector, subject(param), context_, scenario_) : Positions{};
  }

  // SAFETY: nothing but an injector that cuts control on purpose may touch the interface that
  // carries our SSH (tests/scenario/wrong_files_test.cpp).
  void spare_control(const Value& value, const Param& param) {
    const Link* link = link_of(fault_.params.at(param.name), context_, scenario_);
    if (link == nullptr || injector_.cuts == Cuts::kControl) return;
    for (const LinkEnd* end : {&link->near, &link->far}) {
      if (control_end(*context_.lab, end->node, end->interface) == nullptr) continue;
      sheet_.complain(
          value,
          fmt::format("link \"{}\" carries the control path of node \"{}\"", link->name, end->node),
          "name a data link that SSH does not use");
    }
  }

  // SAFETY: as above, for an interface by its name.
  void spare_interface(const Value& value, const Param& param) {
    if (context_.lab == nullptr || injector_.cuts == Cuts::kControl) return;
    const Param* of = param.of.empty() ? nullptr : injector_.param(param.of);
    const Positions here = of == nullptr ? Positions{} : nodes(*of);
    for (std::size_t i = 0; i < context_.lab->nodes.size(); ++i) {
      const std::string& node = context_.lab->nodes[i].name;
      if (of != nullptr && !here.contains(static_cast<int>(i) + 1)) continue;
      if (control_end(*context_.lab, node, value.text) == nullptr) continue;
      sheet_.complain(
          value,
          fmt::format("interface \"{}\" carries the control path of node \"{}\"", value.text, node),
          "name an interface that SSH does not use");
    }
  }

  // SAFETY: a controller that sleeps or reboots can heal nobody.
  void spare_controller(const Value& value, const Param& param) {
    if (context_.lab == nullptr || injector_.cuts != Cuts::kNode) return;
    for (const int position : nodes(param)) {
      const auto i = static_cast<std::size_t>(position) - 1;
      if (i >= context_.lab->nodes.size()) continue;
      if (context_.lab->nodes[i].name != context_.lab->controller) continue;
      sheet_.complain(value,
                      fmt::format("\"{}\" would stop the controller, node \"{}\"", value.text,
                                  context_.lab->controller),
                      "name another node");
    }
  }

  Sheet& sheet_;
  Object& object_;
  const Injector& injector_;
  const Context& context_;
  const Scenario& scenario_;
  Fault& fault_;
};

}  // namespace

void read_fault_params(Sheet& sheet, Object& object, const Injector& injector,
                       const Context& context, const Scenario& scenario, Fault& fault) {
  ParamReader(sheet, object, injector, context, scenario, fault).read();
}

}  // namespace unplug::scenario
