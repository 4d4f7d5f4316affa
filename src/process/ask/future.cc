#include "process/ask/future.h"

#include <algorithm>
#include <memory>

#include "model/exit_status.h"
#include "model/queue_set.h"
#include "model/refusal.h"
#include "report/words.h"

namespace fairlead::process::ask {

namespace ms = model::scheduler;

namespace {

/// Numbers of asks that are made again: no master gives such ones.
constexpr int64_t kAskedAgain = int64_t{1} << 60;

/// When every node has come so often and nothing was decided, heartbeats alone change nothing any more: each node was
/// offered to all that wait, and what waits for a closer node has waited for long enough.
constexpr int64_t kQuietBeats = 10;

/// When nothing started and nothing ended for so long, the scheduler's own timers change nothing any more: its reviews
/// come every second for ever, and what they hold for an ask is held again when it is over (after ten minutes, where
/// nobody set more).
constexpr base::Duration kQuiet = base::Duration::Seconds(900);

/// In an outcome: 64 MiB of starts and ends.
constexpr size_t kMostStarts = 400'000;
static_assert(kMostStarts * (sizeof(Outcome::Start) + sizeof(Outcome::End)) <= size_t{64} << 20);

/// Limits are looked at now, after so long, and whenever twice the time has passed; of so many applications of a queue
/// and in all: each costs a dry pass of the scheduler.
constexpr base::Duration kFirstLook = base::Duration::Seconds(60);
constexpr int kAskedOfQueue = 4;
constexpr int kAskedInAll = 256;

model::Ask Anywhere(int32_t priority, int64_t request, const model::Resources& size, int32_t count) {
  model::Ask ask;
  ask.priority = priority;
  ask.allocation_request_id = request;
  ask.name = "*";
  ask.capability = size;
  ask.count = count;
  return ask;
}

/// In one event with those before it: an event takes a kilobyte, and a job may get 100,000 containers at once.
void TellAcquired(std::vector<ms::Event>& events, model::AppIndex app, const model::ContainerId& id) {
  ms::Acquired* last = events.empty() ? nullptr : std::get_if<ms::Acquired>(&events.back());
  if (last == nullptr || last->app != app) last = &std::get<ms::Acquired>(events.emplace_back(ms::Acquired{app, {}}));
  last->containers.push_back(id);
}

}  // namespace

Future::Future(const Present& present, RunTimeOf run_time, Bounds bounds)
    : present_(present),
      run_time_(std::move(run_time)),
      bounds_(bounds),
      scheduler_(present.scheduler->Fork()),
      now_(present.now),
      until_(present.now + bounds.ahead),
      beats_(present.heartbeat),
      queues_(present.queues) {
  for (const Present::Node& node : present.nodes) {
    beats_.Add(node.index, node.next_beat);
    next_node_ = std::max(next_node_, node.index.value + 1);
    outcome_.memory_mib += node.capacity.memory_mib();
    for (const ms::Window& window : node.windows) {
      if (window.from > now_) windows_[window.from].emplace_back(node.index, false);
      windows_[window.until].emplace_back(node.index, true);
    }
  }
  for (const Present::App& app : present.apps) {
    Job& job = jobs_[app.index];
    job.attempt = app.attempt;
    job.unmanaged = app.unmanaged;
    job.master_asks = app.master_asks;
    next_app_ = std::max(next_app_, app.index.value + 1);
  }
  live_.reserve(present.containers.size());
  for (const Present::Container& one : present.containers) {
    const auto job = jobs_.find(one.app);
    if (job == jobs_.end()) continue;
    const Live& live = live_[one.id] = {one.app, one.node, one.size, one.priority, one.master};
    if (one.master) {
      job->second.has_master = true;
      job->second.master = one.id;
    } else {
      ++job->second.live;
    }
    if (!one.acquired) events_.emplace_back(ms::Acquired{one.app, {one.id}});
    if (!one.launched) Launch(one.node, one.id);
    if (!one.master) Expect(one.id, live, present.now - one.started);
  }
  for (auto& [index, job] : jobs_) CountWaiting(index, job);
  for (const ms::Event& event : present.first) {
    const auto& call = std::get<ms::Allocate>(event);
    for (const model::Ask& ask : call.asks) {
      if (ask.name != "*") continue;
      jobs_.at(call.app).waiting += ask.count;
      waiting_ += ask.count;
    }
  }
  events_.insert(events_.end(), present.first.begin(), present.first.end());
  for (auto& [index, job] : jobs_) {
    job.worked = job.live > 0 || (job.waiting > 0 && (job.has_master || job.unmanaged));
  }
  for (const Present::Container& one : present.containers) {
    if (const auto live = live_.find(one.id); one.master && live != live_.end() && !jobs_.at(one.app).worked) {
      Expect(one.id, live->second, present.now - one.started);
    }
  }
}

/// The container, which runs for `age`, ends when its run time is over.
void Future::Expect(const model::ContainerId& id, const Live& live, base::Duration age) {
  const std::optional<Submit>& submit = jobs_.at(live.app).submit;
  const auto run =
      submit ? std::optional(submit->run) : run_time_({id, live.app, live.size, live.priority, live.master, age});
  if (!run) {
    ++outcome_.endless;
    return;
  }
  due_.push({now_ + std::max(*run - age, base::Duration{}), id});
}

void Future::CountWaiting(model::AppIndex index, Job& job) {
  waiting_ -= job.waiting;
  job.waiting = job.gone ? 0 : scheduler_->PendingContainers(index);
  waiting_ += job.waiting;
}

// ---- Time ----

base::Instant Future::Next() const {
  base::Instant next = scheduler_->NextPeriod();
  if (const base::Instant timer = scheduler_->NextDeadline(); timer <= timers_until_) next = timer;
  if (!due_.empty()) next = std::min(next, due_.top().at);
  if (!windows_.empty()) next = std::min(next, windows_.begin()->first);
  if (const base::Instant beat = beats_.After(now_); waiting_ > 0 && beat <= awake_until_) next = std::min(next, beat);
  return std::max(next, now_);
}

base::Status Future::Run() {
  Turns();
  awake_until_ = now_ + present_.heartbeat * kQuietBeats;
  timers_until_ = now_ + kQuiet;
  while (!outcome_.cut) {
    const base::Instant next = Next();
    if (bounds_.limits && look_at_ < std::min(next, until_)) LookAtLimits();
    if (next > until_ || (due_.empty() && waiting_ == 0)) break;  // windows alone change nothing
    // Before time moves on: whose beat it is depends on who waited then.
    const bool beat = waiting_ > 0 && next > now_;
    now_ = next;
    TellDue();
    TellWindows();
    if (beat) TellBeats();
    Turns();
    if (outcome_.cut || (told_ <= bounds_.events && outcome_.starts.size() <= kMostStarts)) continue;
    outcome_.cut = true;
    outcome_.until = now_;
  }
  if (!outcome_.cut) outcome_.until = until_;
  for (const auto& [index, job] : jobs_) {
    if (job.waiting > 0) outcome_.waiting.emplace(index, job.waiting);
  }
  return calls_.status();
}

/// Nothing changes before the next moment, which has not come yet.
void Future::LookAtLimits() {
  const base::Instant next = std::min(Next(), until_);
  while (look_at_ < next) look_at_ = present_.now + std::max((look_at_ - present_.now) * 2, kFirstLook);
  std::map<std::string, int> asked;
  int left = kAskedInAll;
  for (const Present::App& app : present_.apps) {
    const Job& job = jobs_.at(app.index);
    if (job.gone || job.waiting == 0 || asked[app.queue]++ >= kAskedOfQueue || left-- <= 0) continue;
    for (const ms::Pending& pending : scheduler_->Why(app.index, now_)) {
      if (report::IsLimit(pending.reason)) outcome_.limits.try_emplace({app.queue, pending.reason}, now_);
    }
  }
}

ms::NodeUpdated& Future::UpdateOf(model::NodeIndex node) {
  const auto [at, fresh] = updates_.try_emplace(node, events_.size());
  if (fresh) {
    ms::NodeUpdated update;
    update.node = node;
    if (const auto launched = launched_.find(node); launched != launched_.end()) {
      update.launched = std::move(launched->second);
      launched_.erase(launched);
    }
    events_.emplace_back(std::move(update));
  }
  return std::get<ms::NodeUpdated>(events_[at->second]);
}

void Future::TellDue() {
  while (!due_.empty() && due_.top().at <= now_) {
    const model::ContainerId id = due_.top().container;
    due_.pop();
    if (const auto live = live_.find(id); live != live_.end()) UpdateOf(live->second.node).completed.push_back({id, 0});
  }
}

void Future::TellWindows() {
  while (!windows_.empty() && windows_.begin()->first <= now_) {
    for (const auto& [node, opens] : windows_.begin()->second) {
      if (lost_.contains(node) || drained_.contains(node)) continue;
      // As the manager tells it then: those that have ended are left out.
      ms::NodeWindows ahead{node, {}};
      const auto found = std::find_if(present_.nodes.begin(), present_.nodes.end(),
                                      [&](const Present::Node& one) { return one.index == node; });
      bool another = false;
      for (const ms::Window& window : found->windows) {
        if (window.until > now_) ahead.windows.push_back(window);
        another = another || (window.from <= now_ && window.until > now_);
      }
      if (opens && another) continue;
      events_.emplace_back(ms::NodeSchedulable{node, opens});
      events_.emplace_back(std::move(ahead));
      timers_until_ = now_ + kQuiet;
      awake_until_ = now_ + present_.heartbeat * kQuietBeats;
    }
    windows_.erase(windows_.begin());
  }
}

void Future::TellBeats() {
  beats_.At(now_, [this](model::NodeIndex node) { UpdateOf(node); });
}

void Future::Turns() {
  do {
    do {
      if (bounds_.ended && bounds_.ended()) {
        outcome_.cut = true;
        outcome_.until = now_ - base::Duration::Nanos(1);  // of this moment all may not have happened
        return;
      }
      updates_.clear();
      told_ += 1 + static_cast<int64_t>(events_.size());
      effects_.clear();
      scheduler_->Step(now_, events_, effects_);
      if (!effects_.empty()) awake_until_ = now_ + present_.heartbeat * kQuietBeats;
      events_.clear();
      for (const ms::Effect& effect : effects_) {
        std::visit([this](const auto& one) { On(one); }, effect);
      }
    } while (!events_.empty());
  } while (EndJobs());
}

// ---- What the manager and the masters would do ----

void Future::On(const ms::Granted& effect) {
  timers_until_ = now_ + kQuiet;
  Job& job = jobs_[effect.app];
  --job.waiting;
  --waiting_;
  if (const auto known = live_.find(effect.container); known != live_.end()) {  // it has become larger
    known->second.size = effect.resources;
    return;
  }
  outcome_.starts.push_back({effect.app, effect.container, effect.node, now_, effect.resources.memory_mib(),
                             effect.allocation_request_id, effect.priority, effect.is_master});
  const Live& live =
      live_[effect.container] = {effect.app, effect.node, effect.resources, effect.priority, effect.is_master};
  TellAcquired(events_, effect.app, effect.container);
  Launch(effect.node, effect.container);
  if (!effect.is_master) {
    ++job.live;
    job.worked = true;
    return Expect(effect.container, live, {});
  }
  job.has_master = true;
  job.master = effect.container;
  if (!job.submit && job.again.empty()) return Expect(effect.container, live, {});
  if (!job.again.empty()) return Ask(effect.app, job, std::exchange(job.again, {}));
  Ask(effect.app, job, {Anywhere(1, -1, job.submit->size, job.submit->count)});
}

void Future::Ask(model::AppIndex index, Job& job, std::vector<model::Ask> asks) {
  job.worked = true;
  for (const model::Ask& ask : asks) {
    if (ask.name != "*") continue;
    job.waiting += ask.count;
    waiting_ += ask.count;
  }
  ms::Allocate call;
  call.app = index;
  call.token = job.submit ? calls_.TokenFor("the job in " + job.submit->queue) : calls_.Token();
  call.asks = std::move(asks);
  events_.emplace_back(std::move(call));
}

void Future::On(const ms::Finished& effect) {
  const auto found = live_.find(effect.container);
  if (found == live_.end()) return;
  const Live live = found->second;
  live_.erase(found);
  timers_until_ = now_ + kQuiet;
  const bool lost = effect.exit_status != 0;
  outcome_.ends.push_back({live.app, effect.container, live.node, now_, live.size.memory_mib(), lost,
                           effect.exit_status == model::kExitPreempted});
  // Its node says so, too.
  if (lost && !lost_.contains(live.node))
    UpdateOf(live.node).completed.push_back({effect.container, effect.exit_status});
  Job& job = jobs_[live.app];
  looked_at_.push_back(live.app);
  if (!live.master) {
    --job.live;
    if (lost && !job.gone) AskAgain(live);
    return;
  }
  if (effect.container != job.master) return;
  job.has_master = false;
  if (job.gone) return;
  if (!lost) return Leave(live.app, job);
  MasterLost(live.app, job);
}

/// The next attempt's master asks for all that this one had or wanted.
void Future::MasterLost(model::AppIndex index, Job& job) {
  for (const ms::Pending& pending : scheduler_->Why(index, now_)) job.again.push_back(pending.ask);
  std::erase_if(events_, [&](ms::Event& event) {
    auto* call = std::get_if<ms::Allocate>(&event);
    if (!call || call->app != index) return false;
    job.again.insert(job.again.end(), call->asks.begin(), call->asks.end());
    return true;
  });
  events_.emplace_back(ms::AttemptRemoved{index, job.attempt, false});
  StartAttempt(index, job);
}

void Future::AskAgain(const Live& live) {
  Job& job = jobs_[live.app];
  model::Ask ask = Anywhere(live.priority, kAskedAgain + ++asked_again_, live.size, 1);
  if (!job.has_master && !job.unmanaged) return job.again.push_back(std::move(ask));
  Ask(live.app, job, {std::move(ask)});
}

void Future::On(const ms::AppAccepted& effect) {
  Job& job = jobs_[effect.app];
  if (job.submit) {
    const auto one = std::find_if(submitted_.begin(), submitted_.end(),
                                  [&](const Submitted& other) { return other.app == effect.app; });
    one->queue = effect.queue;
    if (!MaySubmit(*job.submit, effect.queue)) {
      return calls_.Refuse("the job in " + job.submit->queue,
                           {model::Refusal::kUserAccess, {job.submit->user, "it", effect.queue}, {}, {}});
    }
  }
  StartAttempt(effect.app, job);
}

/// As the manager judges (fairlead::rm::Apps::CheckQueue).
bool Future::MaySubmit(const Submit& job, const std::string& queue) const {
  if (!queues_ || !(present_.acls || queues_->lists_always_hold())) return true;
  return queues_->Allows(queue, job.user, job.groups, false) || queues_->Allows(queue, job.user, job.groups, true);
}

void Future::StartAttempt(model::AppIndex index, Job& job) {
  waiting_ -= std::exchange(job.waiting, 0);
  job.worked = false;
  events_.emplace_back(ms::AttemptAdded{index, ++job.attempt, false});
  ms::Allocate call;
  call.app = index;
  call.token = ms::MasterToken(index);
  call.asks = job.master_asks;
  events_.emplace_back(std::move(call));
  if (job.master_asks.empty()) return;
  ++job.waiting;
  ++waiting_;
}

bool Future::EndJobs() {
  std::sort(looked_at_.begin(), looked_at_.end());
  looked_at_.erase(std::unique(looked_at_.begin(), looked_at_.end()), looked_at_.end());
  for (const model::AppIndex index : std::exchange(looked_at_, {})) {
    Job& job = jobs_[index];
    if (job.gone) continue;
    CountWaiting(index, job);
    if (!job.worked || job.live > 0 || job.waiting > 0 || !(job.has_master || job.unmanaged)) continue;
    if (job.has_master) {
      UpdateOf(live_.at(job.master).node).completed.push_back({job.master, 0});
    } else {
      Leave(index, job);
    }
  }
  return !events_.empty();
}

void Future::Leave(model::AppIndex index, Job& job) {
  job.gone = true;
  waiting_ -= std::exchange(job.waiting, 0);
  outcome_.apps_ended[index] = now_;
  events_.emplace_back(ms::AttemptRemoved{index, job.attempt, false});
  events_.emplace_back(ms::AppRemoved{index});
}

// ---- Changes ----

base::Status Future::Apply(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    const base::Status done = std::visit([&future = *this](const auto& one) { return future.Do(one); }, change);
    if (!done.ok()) return done;
  }
  // One step for all of them: nothing is granted between two.
  Turns();
  return calls_.status();
}

base::Result<std::vector<const Present::Node*>> Future::NodesOf(const std::string& name, bool untouched) const {
  std::vector<const Present::Node*> found;
  for (const Present::Node& node : present_.nodes) {
    if (node.host == name || node.host + ":" + std::to_string(node.port) == name) found.push_back(&node);
  }
  if (found.empty()) return base::Error{"no node " + name + " is in service"};
  for (const Present::Node* node : found) {
    if (!untouched || (!lost_.contains(node->index) && !drained_.contains(node->index))) continue;
    return base::Error{"node " + name + " is lost or drained twice: name it once"};
  }
  return found;
}

base::Result<model::AppIndex> Future::AppOf(const model::ApplicationId& id) const {
  for (const Present::App& app : present_.apps) {
    if (app.id != id || !app.visible) continue;
    if (!jobs_.at(app.index).gone) return app.index;
  }
  return base::Error{"no application " + ToString(id) + " runs or waits"};
}

base::Status Future::Do(const SetQueue& change) {
  return base::Error{"queue " + change.queue + ": the queues of this resource manager are in no file"};
}

base::Status Future::Do(const NewQueues& change) {
  events_.emplace_back(ms::QueuesReloaded{change.tree, calls_.TokenFor("the file of queues")});
  if (queues_) queues_ = std::make_shared<const model::QueueSet>(change.tree);
  return {};
}

base::Status Future::Do(const LoseNode& change) {
  const auto nodes = NodesOf(change.node, true);
  if (!nodes.ok()) return nodes.error();
  for (const Present::Node* node : *nodes) Lose(*node);
  return {};
}

void Future::Lose(const Present::Node& node) {
  lost_.insert(node.index);
  beats_.Remove(node.index);
  launched_.erase(node.index);
  outcome_.memory_mib -= node.capacity.memory_mib();
  events_.emplace_back(ms::NodeRemoved{node.index});
}

base::Status Future::Do(const LoseRack& change) {
  bool any = false;
  for (const Present::Node& node : present_.nodes) {
    if (node.rack != change.rack || lost_.contains(node.index)) continue;
    any = true;
    Lose(node);
  }
  if (!any) return base::Error{"no node of rack " + change.rack + " is in service, or all of them are lost already"};
  return {};
}

base::Status Future::Do(const AddNodes& change) {
  if (present_.nodes.empty()) return base::Error{"no node is in service that new ones could be like"};
  const Present::Node* like = &present_.nodes.front();
  if (!change.like.empty()) {
    const auto nodes = NodesOf(change.like, false);
    if (!nodes.ok()) return nodes.error();
    like = nodes->front();
  }
  for (int32_t i = 0; i < change.count; ++i) {
    const model::NodeIndex index{next_node_++};
    events_.emplace_back(ms::NodeAdded{index, "what-if-" + std::to_string(index.value), like->port, like->rack,
                                       like->capacity, like->labels});
    // Spread over the interval, as nodes are that started at different times.
    beats_.Add(index, now_ + base::Duration::Nanos(present_.heartbeat.ns / change.count * i));
  }
  outcome_.memory_mib += change.count * like->capacity.memory_mib();
  return {};
}

base::Status Future::Do(const DrainNode& change) {
  const auto nodes = NodesOf(change.node, true);
  if (!nodes.ok()) return nodes.error();
  for (const Present::Node* node : *nodes) {
    drained_.insert(node->index);
    events_.emplace_back(ms::NodeSchedulable{node->index, false});
  }
  return {};
}

base::Status Future::Do(const Submit& change) {
  const model::AppIndex index = {next_app_++};
  submitted_.push_back({index, change.queue});
  Job& job = jobs_[index];
  job.submit = change;
  job.master_asks = {Anywhere(0, -1, model::Resources::Of(1024, 1), 1)};
  ms::AppAdded added;
  added.app = index;
  // Behind all that came before it.
  model::ApplicationId last{1, 0};
  for (const Present::App& app : present_.apps) last = std::max(last, app.id);
  added.id = {last.cluster_timestamp, last.number + static_cast<int32_t>(submitted_.size())};
  added.queue = change.queue;
  added.user = change.user;
  added.groups = change.groups;
  added.master_asks = job.master_asks;
  added.token = calls_.TokenFor("the job in " + change.queue);
  added.name = "what-if";
  events_.emplace_back(std::move(added));
  return {};
}

base::Status Future::Do(const KillApp& change) {
  const auto app = AppOf(change.app);
  if (!app.ok()) return app.error();
  Leave(*app, jobs_[*app]);
  outcome_.apps_killed.insert(*app);
  return {};
}

base::Status Future::Do(const MoveApp& change) {
  const auto app = AppOf(change.app);
  if (!app.ok()) return app.error();
  events_.emplace_back(ms::AppMoved{*app, calls_.TokenFor(ToString(change.app)), change.queue});
  return {};
}

}  // namespace fairlead::process::ask
