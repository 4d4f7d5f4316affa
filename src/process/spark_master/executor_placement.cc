#include "process/spark_master/executor_placement.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::process::spark_master {

namespace sa = model::standalone;
namespace ss = scheduler::standalone;
namespace ev = model::scheduler;

namespace {

/// More than that an application is not asked for at once: without dynamic allocation it wants as many as there can be.
constexpr int64_t kAskedMax = 10'000;
constexpr base::Duration kHeldFor = base::Duration::Seconds(1);
/// Many workers tell within it, and it is decided once.
constexpr base::Duration kUseWait = base::Duration::Seconds(1);
constexpr int32_t kAskPriority = 1;
constexpr int64_t kFirstGang = 1;
/// Numbers of containers that are taken over, apart from those that the scheduler gives.
constexpr int64_t kRecoveredEpoch = int64_t{1} << 40;

/// An executor without a number of cores has one: which worker's share it could take all of is not known before.
int32_t CoresOf(const ss::ExecutorNeeds& needs) { return needs.cores.value_or(1); }

model::ApplicationAttemptId AttemptOf(uint32_t app) { return {{1, static_cast<int32_t>(app) + 1}, 1}; }

/// What a worker has for executors.
model::Resources CapacityOf(const ss::Master& books, const ss::Worker& worker) {
  model::Resources capacity = model::Resources::Of(worker.memory, worker.cores);
  for (const auto& [driver, index] : worker.drivers) {
    const sa::DriverSubmitted& needs = books.drivers()[driver].description;
    capacity -= model::Resources::Of(needs.memory, needs.cores);
  }
  return capacity;
}

}  // namespace

ExecutorPlacement::ExecutorPlacement(std::unique_ptr<scheduler::Scheduler> scheduler, StandingOf standing_of)
    : scheduler_(std::move(scheduler)), standing_of_(std::move(standing_of)) {}

std::vector<sa::Event> ExecutorPlacement::Decide(base::Instant now, const ss::Master& books) {
  LearnNodes(books);
  LearnApps(now, books);
  LearnExecutors(now, books);
  if (now < held_until_) return {};
  held_until_ = {};
  for (const uint32_t app : books.waiting_apps()) Ask(app, books.apps()[app]);
  Step(now);
  return Take(std::exchange(effects_, {}));
}

void ExecutorPlacement::Step(base::Instant now) { scheduler_->Step(now, std::exchange(events_, {}), effects_); }

base::Instant ExecutorPlacement::NextDeadline() const {
  if (held_until_ != base::Instant()) return held_until_;
  return std::min(scheduler_->NextDeadline(), use_until_);
}

void ExecutorPlacement::Measured(base::Instant now, uint32_t worker, const endpoints::spark::WorkerUse& use) {
  const auto node = nodes_.find(worker);
  if (node == nodes_.end()) return;
  node->second.use = use;
  if (use_until_ == base::Instant::Max()) use_until_ = now + kUseWait;
}

// ---- what has changed ----------------------------------------------------------------------------------------------

void ExecutorPlacement::LearnNodes(const ss::Master& books) {
  for (const auto& [i, worker] : books.workers()) {
    const bool alive = worker.usable();
    if (!nodes_.contains(i) && !alive) continue;
    if (worker.state == sa::WorkerState::kDead) {
      events_.emplace_back(ev::NodeRemoved{{i}});
      nodes_.erase(i);
      continue;
    }
    const model::Resources capacity = CapacityOf(books, worker);
    const auto [known, is_new] = nodes_.try_emplace(i);
    Node& node = known->second;
    if (is_new) {
      events_.emplace_back(ev::NodeAdded{{i}, worker.host, worker.port, "/default-rack", capacity, {}});
    } else if (capacity != node.capacity) {
      events_.emplace_back(ev::NodeResized{{i}, capacity});
    }
    node.capacity = capacity;
    if (alive != node.schedulable) events_.emplace_back(ev::NodeSchedulable{{i}, alive});
    node.schedulable = alive;
    if (const auto use = std::exchange(node.use, std::nullopt)) {
      events_.emplace_back(ev::NodeMeasured{{i}, use->use, {}, model::Resources::Of(use->mib, use->cores)});
    }
  }
  use_until_ = base::Instant::Max();
}

void ExecutorPlacement::LearnApps(base::Instant now, const ss::Master& books) {
  for (const uint32_t index : books.waiting_apps()) {
    if (!apps_.contains(index)) Add(now, index);
  }
  for (auto one = apps_.begin(); one != apps_.end();) {
    const uint32_t index = one->first;
    if (books.apps().contains(index) && books.apps()[index].known) {
      ++one;
      continue;
    }
    if (one->second.taken) {
      events_.emplace_back(ev::AttemptRemoved{{index}, 1, false});
      events_.emplace_back(ev::AppRemoved{{index}});
    }
    one = apps_.erase(one);
  }
}

/// At once, for an application that the queues refuse can ask for nothing.
void ExecutorPlacement::Add(base::Instant now, uint32_t index) {
  App& app = apps_[index];
  const Standing standing = standing_of_(index);
  app.gang = standing.gang;
  ev::AppAdded added;
  added.app = {index};
  added.id = AttemptOf(index).app;
  added.queue = standing.queue;
  added.user = standing.user;
  added.priority = standing.priority;
  added.unmanaged = true;
  added.token = index;
  events_.emplace_back(std::move(added));
  const size_t before = effects_.size();
  Step(now);
  for (size_t i = before; i < effects_.size(); ++i) {
    const auto* refused = std::get_if<ev::CallRefused>(&effects_[i]);
    if (refused == nullptr) continue;
    app.taken = false;
    app.refused = "its queue does not take it: " + ToString(refused->refused);
  }
  if (app.taken) events_.emplace_back(ev::AttemptAdded{{index}, 1, false});
}

void ExecutorPlacement::LearnExecutors(base::Instant now, const ss::Master& books) {
  for (const uint32_t app : books.waiting_apps()) {
    for (const auto& [id, executor] : books.apps()[app].executors) {
      if (containers_.contains({app, id})) continue;
      const auto placed = TakePlaced(app, executor);
      const model::ContainerId container = placed ? *placed : Recover(app, executor);
      containers_[{app, id}] = {container, executor.worker};
      executors_[container] = {app, id};
      if (placed) events_.emplace_back(ev::Acquired{{app}, {container}});
      events_.emplace_back(ev::NodeUpdated{{executor.worker}, {container}, {}});
    }
  }
  if (!placed_.empty()) held_until_ = now + kHeldFor;
  for (const Placed& one : std::exchange(placed_, {})) {  // the books did not take it
    events_.emplace_back(ev::ContainerEnded{one.container, model::kExitAborted});
  }
  for (auto one = containers_.begin(); one != containers_.end();) {
    const auto& [app, id] = one->first;
    if (books.apps().contains(app) && books.apps()[app].known && books.apps()[app].executors.contains(id)) {
      ++one;
      continue;
    }
    const Container& container = one->second;
    if (nodes_.contains(container.worker)) {
      events_.emplace_back(ev::NodeUpdated{{container.worker}, {}, {{container.id, 0}}});
    }
    executors_.erase(container.id);
    one = containers_.erase(one);
  }
}

/// The container that the books made this executor of.
std::optional<model::ContainerId> ExecutorPlacement::TakePlaced(uint32_t app, const ss::Executor& executor) {
  const auto found = std::ranges::find_if(placed_, [&](const Placed& one) {
    return one.app == app && one.profile == executor.profile && one.worker == executor.worker;
  });
  if (found == placed_.end()) return std::nullopt;
  const model::ContainerId container = found->container;
  placed_.erase(found);
  return container;
}

/// One that was there before this, by what workers said after a restart.
model::ContainerId ExecutorPlacement::Recover(uint32_t app, const ss::Executor& executor) {
  const model::ContainerId container{AttemptOf(app), kRecoveredEpoch + ++recovered_};
  events_.emplace_back(ev::ContainerRecovered{
      {app}, {executor.worker}, container, model::Resources::Of(executor.memory, executor.cores), kAskPriority, false});
  return container;
}

void ExecutorPlacement::Ask(uint32_t index, const ss::App& books) {
  App& app = apps_.at(index);
  if (!app.taken) return;
  if (!books.executors.empty()) app.gang = false;
  std::map<int32_t, int64_t> running;
  for (const auto& [id, executor] : books.executors) ++running[executor.profile];
  int64_t cores_left = books.cores_left();
  ev::Allocate call;
  call.app = {index};
  call.token = index;
  for (const auto& [profile, target] : books.targets) {
    const ss::ExecutorNeeds& needs = books.profiles.at(profile);
    if (!needs.resources.empty()) {
      app.refused = "it asks for custom resources, which queues do not share out; start the master without --profile";
      continue;
    }
    const int64_t by_target = std::max<int64_t>(target - running[profile], 0);
    const int64_t wanted = std::min({by_target, cores_left / CoresOf(needs), kAskedMax});
    cores_left -= wanted * CoresOf(needs);
    int64_t& asked = app.asked[profile];
    if (wanted == asked) continue;
    asked = wanted;
    model::Ask ask;
    ask.priority = kAskPriority;
    ask.allocation_request_id = profile;
    ask.name = "*";
    ask.capability = model::Resources::Of(needs.memory, CoresOf(needs));
    ask.count = static_cast<int32_t>(wanted);
    ask.gang = app.gang ? kFirstGang : 0;
    call.asks.push_back(std::move(ask));
  }
  if (!call.asks.empty()) events_.emplace_back(std::move(call));
}

// ---- what was decided ----------------------------------------------------------------------------------------------

std::vector<sa::Event> ExecutorPlacement::Take(const scheduler::EffectSink& effects) {
  std::vector<sa::Event> out;
  for (const ev::Effect& effect : effects) {
    if (const auto* granted = std::get_if<ev::Granted>(&effect)) {
      const auto profile = static_cast<int32_t>(granted->allocation_request_id);
      --apps_.at(granted->app.value).asked[profile];
      placed_.push_back({granted->container, granted->app.value, profile, granted->node.value});
      out.emplace_back(sa::ExecutorPlaced{
          {granted->app.value}, profile, {granted->node.value}, static_cast<int32_t>(granted->resources.vcores())});
    } else if (const auto* finished = std::get_if<ev::Finished>(&effect)) {
      const auto executor = executors_.find(finished->container);
      if (executor == executors_.end() || finished->exit_status != model::kExitPreempted) continue;
      const auto [app, id] = executor->second;
      out.emplace_back(sa::ExecutorTaken{{app}, id, "taken back for others: " + finished->diagnostics});
    } else if (const auto* refused = std::get_if<ev::CallRefused>(&effect)) {
      const auto app = apps_.find(static_cast<uint32_t>(refused->token));
      if (app != apps_.end()) app->second.refused = "what it asks for is refused: " + ToString(refused->refused);
    }
  }
  return out;
}

std::string ExecutorPlacement::Why(uint32_t index, base::Instant now) const {
  const auto app = apps_.find(index);
  if (app == apps_.end()) return "";
  if (!app->second.refused.empty()) return app->second.refused;
  for (const ev::Pending& pending : scheduler_->Why({index}, now)) {
    if (pending.reason == ev::PendingReason::kNone) continue;
    return pending.detail + (pending.remedy.empty() ? "" : "; " + pending.remedy);
  }
  return "";
}

}  // namespace fairlead::process::spark_master
