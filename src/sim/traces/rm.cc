#include "sim/traces/rm.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/codec.h"
#include "base/prefetch.h"

namespace fairlead::sim {

namespace mr = model::rm;
namespace ms = model::scheduler;

namespace {

constexpr int64_t kTimestamp = 1;  // of application ids, as TraceRun makes them
constexpr size_t kTextMax = 4096;  // of a list of events in a problem
/// Calls of masters have the tokens that the run gave them; all others lie above.
constexpr mr::CallToken kOwnCalls = mr::CallToken{1} << 62;
/// Events and effects between two steps of prefetching.
constexpr size_t kBetweenSteps = 3;
/// Of a container that is not there yet: where it will stand.
constexpr int kGrantSteps = 4;
constexpr base::Duration kNever = base::Duration::Seconds(100LL * 365 * 24 * 3600);

/// Traces ask for what they ask for: no rounding, no cap but the nodes themselves, as many attempts as it takes.
fairlead::rm::Config RmConfig() {
  fairlead::rm::Config config;
  config.max_attempts = config.global_max_attempts = INT32_MAX;
  config.master_expiry = config.node_expiry = config.grant_expiry = kNever;
  config.configured_maximum_for = kNever;  // a lost rack makes no ask impossible
  config.minimum = {};
  config.increment = {};
  for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) config.maximum[type] = INT64_MAX / 4;
  config.node_labels = true;
  return config;
}

/// As TraceRun numbers jobs.
model::AppIndex IndexOf(const model::ContainerId& id) { return {static_cast<uint32_t>(id.attempt.app.number) - 1}; }

}  // namespace

/// Replays recorded effects; reports a problem when its events differ from the recorded ones.
class RmFollower::Echo final : public scheduler::Scheduler {
 public:
  std::string problem;  // the first

  /// From now on the turns of one step of that log.
  void Begin(const StepLog& log, size_t first_turn, size_t turns_end) {
    log_ = &log;
    turn_ = first_turn;
    turns_end_ = turns_end;
  }
  bool done() const { return turn_ == turns_end_; }

  void Step(base::Instant now, std::span<const ms::Event> events, scheduler::EffectSink& out) override {
    if (!problem.empty()) return;
    const std::span<const ms::Event> expected = done() ? std::span<const ms::Event>() : Told();
    if (done() || !std::equal(events.begin(), events.end(), expected.begin(), expected.end(), Same)) {
      problem = "at " + std::to_string(now.ns / 1'000'000) + " ms the resource manager told its scheduler " +
                Text(events) + " where " + Text(expected) + " was foreseen";
      return;
    }
    const size_t from = turn_ == 0 ? 0 : log_->turns[turn_ - 1].effects_end;
    out.insert(out.end(), log_->effects.begin() + static_cast<ptrdiff_t>(from),
               log_->effects.begin() + static_cast<ptrdiff_t>(log_->turns[turn_].effects_end));
    ++turn_;
  }
  /// Due when it was stepped next without being told anything.
  base::Instant NextDeadline() const override {
    return !done() && Told().empty() ? base::Instant{} : base::Instant::Max();
  }
  std::string CheckInvariants() const override { return problem; }
  uint64_t StateHash() const override { return 0; }
  std::unique_ptr<scheduler::Scheduler> Fork() const override { return std::make_unique<Echo>(*this); }
  std::string State() const override { return ""; }
  bool ReadState(std::string_view) override { return false; }
  scheduler::View GetView() const override { return {}; }
  scheduler::View GetQueues() const override { return {}; }
  int64_t PendingContainers(model::AppIndex) const override { return 0; }
  std::vector<ms::Pending> Why(model::AppIndex, base::Instant) const override { return {}; }

 private:
  std::span<const ms::Event> Told() const {
    const size_t from = turn_ == 0 ? 0 : log_->turns[turn_ - 1].events_end;
    return std::span(log_->events).subspan(from, log_->turns[turn_].events_end - from);
  }
  static bool Same(const ms::Event& a, const ms::Event& b) {
    if (a.index() != b.index()) return false;
    if (const auto* node = std::get_if<ms::NodeUpdated>(&a)) {  // these three are most of them
      const auto& other = std::get<ms::NodeUpdated>(b);
      return node->node == other.node && node->launched == other.launched &&
             std::equal(node->completed.begin(), node->completed.end(), other.completed.begin(), other.completed.end(),
                        [](const ms::Completion& one, const ms::Completion& two) {
                          return one.container == two.container && one.exit_status == two.exit_status;
                        });
    }
    if (const auto* acquired = std::get_if<ms::Acquired>(&a)) {
      const auto& other = std::get<ms::Acquired>(b);
      return acquired->app == other.app && acquired->containers == other.containers;
    }
    if (const auto* call = std::get_if<ms::Allocate>(&a)) {
      const auto& other = std::get<ms::Allocate>(b);
      return call->app == other.app && call->token == other.token && call->asks == other.asks &&
             call->releases == other.releases && call->blacklist_add == other.blacklist_add &&
             call->blacklist_remove == other.blacklist_remove;
    }
    return Bytes(a) == Bytes(b);
  }
  static std::string Bytes(ms::Event event) {
    // The rm core leaves the queue to the placement rules; jobs of a trace stay where the trace has them.
    if (auto* added = std::get_if<ms::AppAdded>(&event)) added->place = false;
    std::string bytes;
    base::Encode(bytes, event);
    return bytes;
  }
  static std::string Text(std::span<const ms::Event> events) {
    std::string text = "[";
    for (const ms::Event& event : events) {
      if (text.size() > kTextMax) return text.substr(0, kTextMax) + "...]";
      base::ToJson(text, event);
    }
    return text + "]";
  }

  const StepLog* log_ = nullptr;
  size_t turn_ = 0;
  size_t turns_end_ = 0;
};

RmFollower::RmFollower() : RmFollower(std::make_unique<Echo>()) {}

RmFollower::RmFollower(std::unique_ptr<Echo> echo)
    : echo_(*echo), machine_(RmConfig(), std::move(echo)), calls_(kOwnCalls) {
  mr::Started started;
  started.cluster_timestamp = kTimestamp;
  batch_.push_back(started);
  Flush();
}

RmFollower::~RmFollower() = default;

const std::string& RmFollower::problem() const { return echo_.problem; }

void RmFollower::Fail(std::string problem) {
  if (echo_.problem.empty()) echo_.problem = std::move(problem);
}

void RmFollower::Follow(const StepLog& log) {
  size_t event = 0;
  size_t turn = 0;
  size_t unregistered = 0;
  events_ahead_ = {};
  effects_ahead_ = {};
  for (const StepLog::Step& step : log.steps) {
    if (!problem().empty()) return;
    PrefetchAhead(log, event, turn == 0 ? 0 : log.turns[turn - 1].effects_end);
    now_ = step.now;
    echo_.Begin(log, turn, step.turns_end);
    // A master unregisters before its process ends.
    for (; unregistered < step.unregistered_end; ++unregistered) Unregister(log.unregistered[unregistered]);
    for (size_t i = event; i < event + step.said; ++i) {
      std::visit([this](const auto& one) { On(one); }, log.events[i]);
    }
    Flush();
    if (!echo_.done()) {
      Fail("at " + std::to_string(now_.ns / 1'000'000) + " ms the resource manager told less than was foreseen");
    }
    turn = step.turns_end;
    event = turn == 0 ? 0 : log.turns[turn - 1].events_end;
  }
}

void RmFollower::PrefetchAhead(const StepLog& log, size_t event, size_t effect) {
  for (int step = 0; step < kSteps; ++step) {
    const size_t ahead = kBetweenSteps * static_cast<size_t>(kSteps - step);
    size_t& next_event = events_ahead_[static_cast<size_t>(step)];
    for (; next_event < std::min(log.events.size(), event + ahead); ++next_event) {
      Prefetch(log.events[next_event], step);
    }
    if (step >= kGrantSteps) continue;
    size_t& next_effect = effects_ahead_[static_cast<size_t>(step)];
    for (; next_effect < std::min(log.effects.size(), effect + ahead); ++next_effect) {
      Prefetch(log.effects[next_effect], step);
    }
  }
}

/// First the lists of the event itself, then what the rm core has of them.
void RmFollower::Prefetch(const ms::Event& event, int step) const {
  const fairlead::rm::Core& core = machine_.core();
  if (const auto* call = std::get_if<ms::Allocate>(&event)) {
    if (step == 0) return base::Prefetch(call->asks.data());
    return core.Prefetch(call->app, step - 1);
  }
  constexpr int kUpdateSteps = 5;
  const auto* update = std::get_if<ms::NodeUpdated>(&event);
  if (update == nullptr || step >= kUpdateSteps || update->node.value >= nodes_.size()) return;
  const Node& node = nodes_[update->node.value];
  if (step == 0) {
    base::Prefetch(&node);
    base::Prefetch(update->launched.data());
    return base::Prefetch(update->completed.data());
  }
  if (step == 1) base::Prefetch(node.running.data(), node.running.size() * sizeof(model::ContainerId));
  core.Prefetch(update->node, step - 1);
  for (const model::ContainerId& id : update->launched) core.Prefetch(IndexOf(id), id, step - 1);
  for (const ms::Completion& completion : update->completed) {
    core.Prefetch(IndexOf(completion.container), completion.container, step - 1);
  }
}

void RmFollower::Prefetch(const ms::Effect& effect, int step) const {
  const auto* granted = std::get_if<ms::Granted>(&effect);
  if (granted == nullptr || step == 0) return;
  machine_.core().Prefetch(granted->app, granted->container, step - 1);
}

void RmFollower::Flush() {
  do {
    effects_.clear();
    machine_.Step(now_, base::WallTime{now_.ns / 1'000'000}, batch_, effects_);
    TakeBack();
    batch_.clear();
    for (const mr::OuterEffect& effect : effects_) {
      std::visit([this](const auto& one) { Answer(one); }, effect);
    }
  } while (!batch_.empty());
}

void RmFollower::TakeBack() {
  for (const Lent& lent : lent_) {
    nodes_[lent.node].running = std::move(std::get<mr::Heartbeat>(batch_[lent.position]).running);
  }
  lent_.clear();
}

// What the machine waits for.

void RmFollower::Answer(const mr::Persist& effect) { batch_.push_back(mr::Persisted{effect.txn, true, ""}); }

void RmFollower::Answer(const mr::LaunchMaster& effect) {
  batch_.push_back(mr::MasterLaunched{effect.attempt, ""});
  mr::RegisterMaster call;
  call.call = ++calls_;
  call.attempt = effect.attempt;
  call.host = effect.container.address.host;
  batch_.push_back(std::move(call));
}

void RmFollower::Answer(const mr::CallRefused& effect) { Fail(ToString(effect.refused)); }

// Nodes.

void RmFollower::On(const ms::NodeAdded& event) {
  FL_CHECK(event.node.value == nodes_.size(), "the rm core numbers nodes in order");
  nodes_.emplace_back();
  nodes_.back().address = {event.host, event.port};
  mr::RegisterNode call;
  call.call = ++calls_;
  call.address = nodes_.back().address;
  call.rack = event.rack;
  call.capacity = event.capacity;
  call.labels = event.labels;
  call.physical = model::Resources::Of(event.capacity.memory_mib(), event.capacity.vcores());
  batch_.push_back(std::move(call));
}

void RmFollower::On(const ms::NodeRemoved& event) {
  batch_.push_back(mr::UnregisterNode{++calls_, nodes_[event.node.value].address});
  nodes_[event.node.value].running.clear();
}

/// It travels with the heartbeat that follows.
void RmFollower::On(const ms::NodeMeasured& event) {
  nodes_[event.node.value].use = event.use;
  nodes_[event.node.value].each = event.each;
}

void RmFollower::On(const ms::NodeUpdated& event) {
  Node& node = nodes_[event.node.value];
  const fairlead::rm::Node* known = machine_.core().NodeAt(event.node);
  mr::Heartbeat call;
  call.call = ++calls_;
  call.address = node.address;
  call.response_id = known ? known->response_id : 0;  // it registers in this very batch
  for (const model::ContainerId& id : event.launched) {
    node.running.insert(std::upper_bound(node.running.begin(), node.running.end(), id), id);
  }
  call.use = std::exchange(node.use, {});
  call.each_use = std::exchange(node.each, {});
  lent_.push_back({batch_.size(), event.node.value});
  call.running = std::move(node.running);
  for (const ms::Completion& completion : event.completed) {
    const auto [first, last] = std::equal_range(call.running.begin(), call.running.end(), completion.container);
    call.running.erase(first, last);
    mr::NodeContainer& ended = call.containers.emplace_back();
    ended.id = completion.container;
    ended.state = mr::NodeContainerState::kComplete;
    ended.exit_status = completion.exit_status;
  }
  batch_.push_back(std::move(call));
}

// Jobs and their masters.

void RmFollower::On(const ms::AppAdded& event) {
  mr::Submit call;
  call.call = event.token;
  call.submission.id = event.id;
  call.submission.name = event.session.kind;
  call.submission.user = event.user;
  call.submission.groups = event.groups;
  call.submission.queue = event.queue;
  call.submission.priority = event.priority;
  call.submission.master_asks = event.master_asks;
  batch_.push_back(std::move(call));
}

const fairlead::rm::Attempt* RmFollower::Registered(model::AppIndex index) {
  const fairlead::rm::App* app = machine_.core().AppAt(index);
  const fairlead::rm::Attempt* attempt = app ? app->current() : nullptr;
  if (attempt && attempt->known && attempt->response_id >= 0) return attempt;
  Fail("job " + std::to_string(index.value) + " has no master that has registered");
  return nullptr;
}

void RmFollower::On(const ms::Allocate& event) {
  const fairlead::rm::Attempt* attempt = Registered(event.app);
  if (!attempt) return;
  mr::AllocateCall call;
  call.call = event.token;
  call.attempt = attempt->id;
  call.response_id = attempt->response_id;
  call.asks = event.asks;
  call.releases = event.releases;
  batch_.push_back(std::move(call));
}

void RmFollower::Unregister(model::AppIndex app) {
  const fairlead::rm::Attempt* attempt = Registered(app);
  if (!attempt) return;
  mr::FinishMaster call;
  call.call = ++calls_;
  call.attempt = attempt->id;
  call.final_status = mr::FinalStatus::kSucceeded;
  batch_.push_back(std::move(call));
}

}  // namespace fairlead::sim
