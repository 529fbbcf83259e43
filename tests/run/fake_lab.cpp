#include "run/fake_lab.hpp"

#include "base/error.hpp"

namespace unplug::run {
namespace {

asio::awaitable<bool> then_true(asio::awaitable<void> work) {
  co_await std::move(work);
  co_return true;
}

std::string word_after(const std::string& line, const std::string& mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + mark.size();
  return line.substr(begin, line.find_first_of(" /", begin) - begin);
}

int next(std::deque<int>& statuses) {
  const int status = statuses.front();
  if (statuses.size() > 1) statuses.pop_front();
  return status;
}

}  // namespace

void FakeGuard::fired(const std::string& line) {
  folder.insert("fired");
  if (channel == nullptr) return;
  channel->say(R"({"guard":"bound","part":"worker","seat":"worker-2","pid":42,"start":7})");
  channel->say(R"({"guard":"fired","nt":5000000000,"line":")" + line + "\"}");
}

void FakeGuard::undoes(const std::string& why) {
  const bool spent = lasting && folder.contains("fired");
  folder.insert(spent ? "spent" : "undone");
  if (channel == nullptr) return;
  if (spent) {
    channel->say(R"({"guard":"spent","nt":9000000000})");
  } else {
    channel->say(R"({"guard":"reverting","nt":8000000000,"why":")" + why + "\"}");
    channel->say(R"({"guard":"reverted","nt":9000000000})");
  }
  std::exchange(channel, nullptr)->exit(0);
}

const journal::Event& HistorySink::append(journal::Draft draft) {
  broken_ = broken_ || fails_after == 0;
  if (broken_) throw Error(Exit::kInternal, "journal", "cannot be written");
  if (fails_after > 0) --fails_after;
  const journal::Event& event = memory.append(std::move(draft));
  const journal::Json& data = event.data;
  std::string what = event.kind;
  if (event.kind == "fault") what = data.at("state").get<std::string>() + " ";
  if (event.kind == "phase") what = data.at("name").get<std::string>() + " ";
  if (event.kind == "fault") what += data.at("instance").get<std::string>();
  if (event.kind == "phase") what += data.at("edge").get<std::string>();
  history_.push_back("journal " + what);
  return event;
}

void HistorySink::sync() {
  if (broken_) throw Error(Exit::kInternal, "journal", "cannot be synced");
  memory.sync();
  history_.push_back("sync");
}

FakeLab::FakeLab(scenario::Bundle of)
    : bundle(std::move(of)),
      plan(run::plan(bundle, 1)),
      context(bundle, plan, loop.executor(), progress),
      stage{context, journal, "run1", false, testing::TempDir()},
      faults(stage, plan) {
  context.run = "run1";
  context.folder = stage.folder;
  context.times = {.twice_apart = 20ms, .effect_within = 100ms, .retry = 5ms, .undo_beyond = 300ms};
  for (const auto& lab_node : bundle.lab.nodes) {
    const std::string name = lab_node.name;
    auto fake = std::make_shared<node::FakeNode>(loop.executor(), name);
    fake->on("", [this, name](node::FakeRun& run) { take(name, run); });
    fakes_[name] = fake;
    context.nodes[name] = fake;
    (void)loop.await(fake->connect(within(1s)));
  }
  for (FaultPlan& fault : plan.faults) {
    fault.undo_settle = 50ms;
    guards_[fault.instance].lasting = fault.lasting;
  }
  stage.started = BootClock::now();
}

// Nothing of a run may wait for ever once its nodes are closed.
FakeLab::~FakeLab() {
  for (const auto& [name, fake] : fakes_) fake->close();
  loop.io().restart();
  loop.io().run_for(5s);
  EXPECT_TRUE(loop.io().stopped()) << "something still waits after the nodes were closed";
}

void FakeLab::await(asio::awaitable<void> work) { (void)loop.await(then_true(std::move(work))); }

std::shared_ptr<bool> FakeLab::spawn(asio::awaitable<void> work) {
  auto done = std::make_shared<bool>(false);
  asio::co_spawn(loop.io(), std::move(work), [done](std::exception_ptr error) {
    *done = true;
    EXPECT_FALSE(error);
  });
  return done;
}

void FakeLab::live() {
  const std::string problem = await(faults.arm(Moment::kRun));
  ASSERT_EQ(problem, "");
  stage.started = BootClock::now();
  faults.started();
  const bool at_rest = false;
  await(faults.live(Moment::kRun, at_rest));
}

std::vector<std::string> FakeLab::states(const std::string& instance) const {
  std::vector<std::string> found;
  for (const auto& event : journal.memory.events) {
    if (event.kind != "fault" || event.data.at("instance") != instance) continue;
    found.push_back(event.data.at("state"));
  }
  return found;
}

journal::Json FakeLab::last(const std::string& instance, const std::string& state) const {
  journal::Json found;
  for (const auto& event : journal.memory.events) {
    if (event.kind != "fault" || event.data.at("instance") != instance) continue;
    if (event.data.at("state") == state) found = event.data;
  }
  return found;
}

std::vector<journal::Json> FakeLab::all(const std::string& kind) const {
  std::vector<journal::Json> found;
  for (const auto& event : journal.memory.events) {
    if (event.kind == kind) found.push_back(event.data);
  }
  return found;
}

int FakeLab::at(const std::string& entry, int from) const {
  for (std::size_t i = static_cast<std::size_t>(from); i < history.size(); ++i) {
    if (history[i] == entry) return static_cast<int>(i);
  }
  return -1;
}

void FakeLab::answer(std::string part, node::FakeNode::Script script) {
  answers_.emplace_back(std::move(part), std::move(script));
}

void FakeLab::reply(std::string part, node::FakeReply reply) {
  answer(std::move(part), [reply](node::FakeRun& run) {
    run.out(reply.out);
    run.err(reply.err);
    run.exit(reply.status);
  });
}

void FakeLab::take(const std::string& node, node::FakeRun& run) {
  const std::string& line = run.call.line;
  for (auto answer = answers_.rbegin(); answer != answers_.rend(); ++answer) {
    if (line.find(answer->first) == std::string::npos) continue;
    history.push_back(node + " " + line);
    return answer->second(run);
  }
  if (line.find("UNPLUG_FAULT=") != std::string::npos) return take_verb(node, run);
  const std::string instance = word_after(line, ".unplug/run1/");
  if (line.find("please-revert") != std::string::npos) {
    history.push_back(node + " please-revert " + instance);
    if (guards_[instance].by_folder) guards_[instance].undoes("request");
  } else if (line.starts_with("for f in fired spent undone")) {
    history.push_back(node + " look " + instance);
    for (const std::string& file : guards_[instance].folder) run.say(file);
    for (const std::string& said : guards_[instance].log) run.say(said);
  } else {
    history.push_back(node + " " + line);
  }
  run.exit(0);
}

void FakeLab::take_verb(const std::string& node, node::FakeRun& run) {
  const std::string& line = run.call.line;
  const std::string instance = word_after(line, "UNPLUG_FAULT=");
  const std::string verb = line.substr(line.rfind(' ') + 1);
  history.push_back(node + " " + verb + " " + instance);
  FakeGuard& guard = guards_[instance];
  if (verb == "guard") return open_guard(node, instance, run);
  if (verb == "arm" && guard.arm == FakeGuard::Arm::kRefuses) {
    run.err("no such process\n");
    return run.exit(3);
  }
  if (verb == "arm") run.say(R"({"armed":true,"undo_sha":"abc","captured":{"state":"R"}})");
  if (verb == "verify") return run.exit(next(guard.verify));
  if (verb == "verify_reverted") return run.exit(next(guard.verify_reverted));
  run.exit(0);
}

void FakeLab::open_guard(const std::string& node, const std::string& instance, node::FakeRun& run) {
  FakeGuard& guard = guards_[instance];
  if (guard.start == FakeGuard::Start::kEnds) {
    run.err("another guard lives\n");
    return run.exit(3);
  }
  guard.channel = &run;
  run.on_line = [this, node, instance](const std::string& word) {
    take_word(node, instance, word);
  };
  if (guard.start == FakeGuard::Start::kSilent) return;
  run.say(R"({"guard":"armed","gen":1,"nt":1000000000,"boot":"boot-of-)" + node + "\"}");
}

void FakeLab::take_word(const std::string& node, const std::string& instance,
                        const std::string& word) {
  FakeGuard& guard = guards_[instance];
  history.push_back(node + " < " + word.substr(0, word.find(' ')) + " " + instance);
  const auto vanish = [&guard] { std::exchange(guard.channel, nullptr)->lose("cable"); };
  if (word.starts_with("renew")) {
    guard.channel->say(R"({"guard":"renewed","nt":2000000000,"until":9})");
  } else if (word == "fire") {
    if (guard.fire == FakeGuard::Fire::kFires) guard.fired();
    if (guard.fire == FakeGuard::Fire::kFails) {
      guard.channel->say(R"({"guard":"not_fired","nt":5000000000,"why":"no such process"})");
    }
    if (guard.fire == FakeGuard::Fire::kVanishes) vanish();
    if (guard.fire == FakeGuard::Fire::kFiresAndVanishes) {
      guard.folder.insert("fired");
      vanish();
    }
  } else if (word == "revert") {
    if (guard.revert == FakeGuard::Revert::kReverts) guard.undoes("request");
    if (guard.revert == FakeGuard::Revert::kVanishes) vanish();
  }
}

}  // namespace unplug::run
