#include "sim/traces/run.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/prefetch.h"

namespace fairlead::sim {

namespace ms = model::scheduler;

namespace {

/// A run in which nothing moves for so long while nothing runs will not move any more.
constexpr int64_t kStuckMs = 3'600'000;
constexpr int32_t kKilled = 137;                     // exit status of a process that the kernel killed
constexpr int64_t kTimestamp = 1;                    // of application ids
constexpr uint64_t kSubmission = uint64_t{1} << 61;  // in tokens of AppAdded, beside the index
constexpr uint64_t kStepsPerReport = 1 << 14;

/// Looked at between two steps of prefetching; tens of thousands of instructions.
constexpr size_t kBetweenSteps = 2;
/// So far ahead at most: what is added within that time is met unprepared.
constexpr int64_t kSoonMs = 64;
/// What comes so long after that is asked for before it is looked at.
constexpr int64_t kNextMs = 2;
/// Of what has passed, until it is dropped all at once.
constexpr size_t kSoonKept = 4096;

std::string FullName(const std::string& queue) { return queue.starts_with("root.") ? queue : "root." + queue; }

int64_t CeilMillis(base::Instant at) { return at.ns / 1'000'000 + (at.ns % 1'000'000 != 0); }

}  // namespace

struct TraceRun::Job {
  // What every task touches, side by side.
  int32_t attempt = 1;
  bool accepted = false;
  bool master_runs = false;
  bool beat_due = false;
  bool calls = false;  // at the end of this turn
  uint32_t queue = 0;
  uint32_t master = 0;  // its container's number
  uint32_t master_node = 0;
  std::vector<Container> containers;  // by number, of this attempt
  std::vector<StageRun> stages;
  std::vector<uint32_t> granted;  // not yet claimed
  int64_t master_start_ms = 0;
  model::Resources master_booked;

  std::vector<model::ContainerId> surplus;  // granted in excess
  int64_t first_container_ms = -1;
  int64_t first_start_ms = -1;
  int64_t ideal_ms = 0;
  int64_t number = 0;
  TraceJob trace;

  bool waits() const {
    const auto waiting = [](const StageRun& stage) { return stage.open() && stage.waiting() > 0; };
    return accepted && (!master_runs || std::any_of(stages.begin(), stages.end(), waiting));
  }
};

TraceRun::TraceRun(TraceTarget& target, const std::vector<TraceNode>& nodes, JobSource& jobs, RunSetup setup)
    : target_(target),
      list_(nodes),
      source_(jobs),
      setup_(std::move(setup)),
      topology_(nodes),
      recorder_(setup_.queues, result_),
      use_(setup_.use, nodes) {}

TraceRun::~TraceRun() = default;

RunResult TraceRun::Run(const std::function<void(const Progress&)>& report) {
  const auto began = std::chrono::steady_clock::now();
  node_of_list_.resize(list_.size());
  for (uint32_t i = 0; i < list_.size(); ++i) AddNode(i);
  result_.nodes = static_cast<int64_t>(list_.size());
  result_.cluster = recorder_.total();
  faults_left_ = 2 * static_cast<int64_t>(setup_.faults.losses.size());
  for (uint32_t i = 0; i < setup_.faults.losses.size(); ++i) {
    Add(Kind::kFault, setup_.faults.losses[i].at_ms, i, 0);
    Add(Kind::kFault, setup_.faults.losses[i].back_ms, i, 1);
  }
  has_ahead_ = source_.Next(ahead_);
  StepAll();
  uint64_t turns = 0;
  while (has_ahead_ || result_.jobs + result_.rejected < static_cast<int64_t>(jobs_.size())) {
    int64_t next = 0;
    if (!NextTime(next)) break;
    if (!has_ahead_ && running_ == 0 && faults_left_ == 0 && next - moved_ms_ > kStuckMs) break;
    now_ms_ = std::max(now_ms_, next);
    recorder_.Advance(now_ms_);
    LookAtWaits();
    PrefetchSoon();
    HandleDue();
    StepAll();
    if (report && turns++ % kStepsPerReport == 0) report({now_ms_, result_.jobs, source_.jobs(), result_.tasks});
  }
  recorder_.Close(now_ms_);
  result_.held_waits = waits_.Take();
  Unfinished();
  if (const std::string problem = target_.Finish(); !problem.empty()) {
    result_.first_problem = problem;
    result_.diverged = true;
  }
  Summarize(result_);
  result_.decisions = decisions_.value();
  result_.real_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return std::move(result_);
}

void TraceRun::Add(Kind kind, int64_t at_ms, uint32_t who, uint32_t what) {
  due_.Add({static_cast<uint64_t>(at_ms) << Due::kKindBits | static_cast<uint64_t>(kind), who, what});
}

bool TraceRun::NextTime(int64_t& at_ms) const {
  at_ms = due_.Next();
  if (has_ahead_) at_ms = std::min(at_ms, ahead_.submit_ms);
  if (const base::Instant deadline = target_.NextDeadline(); deadline != base::Instant::Max()) {
    at_ms = std::min(at_ms, CeilMillis(deadline));
  }
  return at_ms != INT64_MAX;
}

TraceRun::Kind TraceRun::KindOf(const Due& due) { return static_cast<Kind>(due.key & ((1 << Due::kKindBits) - 1)); }

void TraceRun::HandleDue() {
  Due due;
  while (due_.Take(now_ms_, due)) {
    switch (KindOf(due)) {
      case Kind::kFault:
        HandleFault(setup_.faults.losses[due.who].node, due.what == 0);
        break;
      case Kind::kMeasure:
        Measure(due.who, due.what != 0);
        break;
      case Kind::kTaskEnd:
        TaskEnded(due.who, due.what);
        break;
      case Kind::kNodeBeat:
        NodeBeat(due.who);
        break;
      case Kind::kMasterBeat:
        if (jobs_[due.who]) {
          Job& job = *jobs_[due.who];
          job.beat_due = false;
          if (job.master_runs && OpenStages(due.who, job)) Call(due.who, job);
        }
        break;
    }
  }
  while (has_ahead_ && ahead_.submit_ms <= now_ms_) Arrive();
}

void TraceRun::PrefetchSoon() {
  while (next_soon_ < soon_.size() && soon_[next_soon_].at_ms() < now_ms_) ++next_soon_;
  looked_ms_ = std::max(looked_ms_, now_ms_ - 1);
  while (soon_.size() < next_soon_ + kSoonSteps * kBetweenSteps && looked_ms_ < now_ms_ + kSoonMs) {
    due_.LookAhead(looked_ms_, looked_ms_ + 1, [this](const Due& due) { soon_.push_back(due); });
    ++looked_ms_;
  }
  due_.Prefetch(looked_ms_, looked_ms_ + kNextMs);
  for (size_t step = 0; step < kSoonSteps; ++step) {
    const size_t end = std::min(soon_.size(), next_soon_ + (kSoonSteps - step) * kBetweenSteps);
    size_t& at = soon_step_[step];
    for (at = std::max(at, next_soon_); at < end; ++at) Prefetch(soon_[at], static_cast<int>(step));
  }
  if (const size_t done = soon_step_.back(); done > kSoonKept) {
    soon_.erase(soon_.begin(), soon_.begin() + static_cast<ptrdiff_t>(done));
    next_soon_ -= std::min(next_soon_, done);
    for (size_t& position : soon_step_) position -= done;
  }
}

void TraceRun::Prefetch(const Due& due, int step) const {
  const Kind kind = KindOf(due);
  if (kind != Kind::kTaskEnd && kind != Kind::kMasterBeat) return;
  if (step == 0) return base::Prefetch(&jobs_[due.who]);
  const Job* job = jobs_[due.who].get();
  if (job == nullptr) return;
  if (step == 1) return base::PrefetchUpTo(job, &job->surplus);
  if (kind == Kind::kMasterBeat) return PrefetchBeat(due.who, *job, step);
  target_.Prefetch(IdOf(due.who, *job, due.what), step - kTargetSteps);
  if (due.what >= job->containers.size()) return;
  const Container& container = job->containers[due.what];
  if (step == 2) return base::Prefetch(&container);
  const Node& node = nodes_[container.node];
  if (container.stage < job->stages.size()) {
    const StageRun& stage = job->stages[container.stage];
    if (step == 3) base::Prefetch(&stage, sizeof(stage));
    if (step == 4) base::Prefetch(&stage.stage(), sizeof(TraceStage));
    if (step == 4) recorder_.Prefetch(job->queue);
  }
  if (step == 3) return base::Prefetch(&node, sizeof(node));
  if (step == 4) return base::Prefetch(node.launched.data());
  // It reports the end together with what it has launched since its last report.
  for (const model::ContainerId& id : node.launched) target_.Prefetch(id, step - kLaunchedSteps);
}

/// The master will claim what it has been granted since its last call.
void TraceRun::PrefetchBeat(uint32_t app, const Job& job, int step) const {
  if (step == 2) {
    base::Prefetch(job.granted.data());
    return base::Prefetch(job.stages.data(), sizeof(StageRun));
  }
  if (job.granted.empty()) return;
  target_.Prefetch(IdOf(app, job, job.granted.front()), step - kTargetSteps - 1);
  for (const uint32_t sequence : job.granted) {
    const Container& container = job.containers[sequence];
    if (step == 3) base::Prefetch(&container);
    if (step == 4) base::Prefetch(&nodes_[container.node]);
    if (step == 5) base::Prefetch(nodes_[container.node].launched.data());
  }
}

/// Steps until the events that effects cause are dealt with too.
void TraceRun::StepAll() {
  do {
    Flush();
    for (const ms::Effect& effect : effects_) {
      std::visit([this](const auto& one) { On(one); }, effect);
    }
    for (const uint32_t app : std::exchange(callers_, {})) {
      if (!jobs_[app]) continue;
      jobs_[app]->calls = false;
      if (jobs_[app]->master_runs) Call(app, *jobs_[app]);
    }
  } while (!events_.empty());
}

void TraceRun::Flush() {
  effects_.clear();
  ++batch_;
  ++result_.steps;
  target_.Step(base::Instant{now_ms_ * 1'000'000}, events_, effects_);
  events_.clear();
}

// Nodes.

void TraceRun::AddNode(uint32_t list) {
  const auto index = static_cast<uint32_t>(nodes_.size());
  node_of_list_[list] = index;
  nodes_.emplace_back();
  nodes_.back().list = list;
  const TraceNode& node = list_[list];
  events_.push_back(ms::NodeAdded{{index}, node.host, 8041, node.rack, node.capacity, node.labels});
  recorder_.NodeChanged(node.capacity, 1);
  // Heartbeats are spread over the interval.
  if (setup_.node_heartbeat_ms > 0) {
    Add(Kind::kNodeBeat, now_ms_ + static_cast<int64_t>(list) % setup_.node_heartbeat_ms, index);
  }
  if (!use_.on()) return;
  use_.AddNode(index, list, now_ms_);
  Add(Kind::kMeasure, now_ms_ + 1 + static_cast<int64_t>(list) % setup_.use.measure_ms, index);
}

void TraceRun::HandleFault(uint32_t list, bool lost) {
  --faults_left_;
  moved_ms_ = now_ms_;
  const bool alive = nodes_[node_of_list_[list]].alive;
  if (lost && alive) LoseNode(list);
  if (!lost && !alive) AddNode(list);
}

void TraceRun::LoseNode(uint32_t list) {
  const uint32_t index = node_of_list_[list];
  Node& node = nodes_[index];
  node.alive = false;
  node.launched.clear();
  node.completed.clear();
  events_.push_back(ms::NodeRemoved{{index}});
  recorder_.NodeChanged(list_[list].capacity, -1);
}

void TraceRun::Measure(uint32_t index, bool report) {
  Node& node = nodes_[index];
  if (!node.alive) return;
  if (report) {
    node.measured = true;
    if (setup_.node_heartbeat_ms == 0) Report(index);
    return;
  }
  use_.Look(index, now_ms_);
  Add(Kind::kMeasure, now_ms_ + setup_.use.measure_ms, index, 0);
  Add(Kind::kMeasure, now_ms_ + setup_.use.delay_ms, index, 1);
}

/// Before what the node says of its containers, as the resource manager takes a heartbeat apart.
void TraceRun::Report(uint32_t index) {
  if (!std::exchange(nodes_[index].measured, false)) return;
  const model::Resources& capacity = list_[nodes_[index].list].capacity;
  ms::NodeMeasured measured{
      {index}, use_.seen(index), {}, model::Resources::Of(capacity.memory_mib(), capacity.vcores())};
  for (const RealUse::Task& task : use_.tasks(index)) {
    measured.each.push_back({IdOf(task.app, *jobs_[task.app], task.sequence), use_.UseOf(index, task)});
  }
  events_.push_back(std::move(measured));
  if (setup_.node_heartbeat_ms == 0) UpdateOf(index);
}

void TraceRun::NodeBeat(uint32_t index) {
  Node& node = nodes_[index];
  if (!node.alive) return;
  Report(index);
  ms::NodeUpdated update;
  update.node = {index};
  update.launched = TakeLaunched(node);
  update.completed.swap(node.completed);
  events_.push_back(std::move(update));
  Add(Kind::kNodeBeat, now_ms_ + setup_.node_heartbeat_ms, index);
}

void TraceRun::Complete(uint32_t index, const model::ContainerId& id, int32_t exit_status) {
  Node& node = nodes_[index];
  if (!node.alive) return;
  // A node says what has become of a container, not what was in between.
  std::erase(node.launched, id);
  if (setup_.node_heartbeat_ms > 0) {
    node.completed.push_back({id, exit_status});
    return;
  }
  ms::NodeUpdated& update = UpdateOf(index);
  std::erase(update.launched, id);
  update.completed.push_back({id, exit_status});
}

ms::NodeUpdated& TraceRun::UpdateOf(uint32_t index) {
  Node& node = nodes_[index];
  if (node.batch != batch_) {
    node.batch = batch_;
    node.event = events_.size();
    ms::NodeUpdated update;
    update.node = {index};
    update.launched = TakeLaunched(node);
    events_.push_back(std::move(update));
  }
  return std::get<ms::NodeUpdated>(events_[node.event]);
}

/// In order of ids, as a NodeManager reports its containers (a ConcurrentSkipListMap).
std::vector<model::ContainerId> TraceRun::TakeLaunched(Node& node) {
  std::vector<model::ContainerId> launched = std::exchange(node.launched, {});
  std::sort(launched.begin(), launched.end());
  return launched;
}

void TraceRun::Launch(uint32_t index, const model::ContainerId& id) { nodes_[index].launched.push_back(id); }

// Jobs and their masters.

void TraceRun::Arrive() {
  const auto app = static_cast<uint32_t>(jobs_.size());
  auto job = std::make_unique<Job>();
  job->trace = std::move(ahead_);
  job->number = arrived_++;
  has_ahead_ = source_.Next(ahead_);
  moved_ms_ = now_ms_;
  if (const model::Resources* size = TooLarge(job->trace)) {
    if (result_.first_problem.empty()) {
      result_.first_problem =
          "job " + job->trace.name + " did not end: it asks for " + ToString(*size) + ", larger than every node";
    }
    ++result_.unfinished;
    if (setup_.keep_jobs) result_.unended_jobs.push_back({ResultOf(*job), false, ""});
    return;
  }
  ms::AppAdded added;
  added.app = {app};
  added.id = {kTimestamp, static_cast<int32_t>(app) + 1};
  added.queue = FullName(job->trace.queue);
  if (const auto other = setup_.goes_to.find(added.queue); other != setup_.goes_to.end()) added.queue = other->second;
  added.user = job->trace.user;
  added.place = false;
  added.submitted = {now_ms_};
  added.master_asks = {MasterAsk()};
  added.token = kSubmission | app;
  if (use_.on()) added.session.kind = added.name = use_.NameOf(app);
  events_.push_back(std::move(added));
  job->ideal_ms = IdealMs(job->trace);
  jobs_.push_back(std::move(job));
}

/// What no node could hold even when empty; null: nothing. YARN's service for masters refuses such asks, whatever the
/// scheduler (InvalidResourceRequestException).
const model::Resources* TraceRun::TooLarge(const TraceJob& job) const {
  const auto fits = [&](const model::Resources& size) {
    return std::any_of(list_.begin(), list_.end(), [&](const TraceNode& node) { return size.FitsIn(node.capacity); });
  };
  if (!fits(setup_.master_size)) return &setup_.master_size;
  const auto stage =
      std::find_if(job.stages.begin(), job.stages.end(), [&](const auto& one) { return !fits(one.size); });
  return stage == job.stages.end() ? nullptr : &stage->size;
}

model::Ask TraceRun::MasterAsk() const {
  model::Ask ask;
  ask.name = "*";
  ask.count = 1;
  ask.capability = setup_.master_size;
  return ask;
}

void TraceRun::On(const ms::AppAccepted& effect) {
  Job& job = *jobs_[effect.app.value];
  job.accepted = true;
  job.queue = recorder_.QueueNumber(effect.queue);
  job.stages.reserve(job.trace.stages.size());
  for (const TraceStage& stage : job.trace.stages) job.stages.emplace_back(stage, topology_);
  recorder_.Wanted(job.queue, setup_.master_size, 1);
}

void TraceRun::On(const ms::CallRefused& effect) {
  const std::string why = ToString(effect.refused);
  const bool submission = (effect.token & kSubmission) != 0;
  const uint64_t app = effect.token - kSubmission;
  if (result_.first_problem.empty()) {
    result_.first_problem = submission ? "job " + jobs_[app]->trace.name + " was rejected: " + why : why;
  }
  if (!submission) return;
  ++result_.rejected;
  if (setup_.keep_jobs) result_.unended_jobs.push_back({ResultOf(*jobs_[app]), true, why});
  jobs_[app].reset();
}

model::ContainerId TraceRun::IdOf(uint32_t app, const Job& job, uint32_t sequence) const {
  return {{{kTimestamp, static_cast<int32_t>(app) + 1}, job.attempt}, sequence};
}

TraceRun::Container* TraceRun::Find(Job& job, const model::ContainerId& id) {
  const auto sequence = static_cast<size_t>(id.sequence());
  if (id.attempt.attempt != job.attempt || sequence >= job.containers.size()) return nullptr;
  return &job.containers[sequence];
}

void TraceRun::On(const ms::Granted& effect) {
  const uint32_t app = effect.app.value;
  const auto sequence = static_cast<uint32_t>(effect.container.sequence());
  ++result_.grants;
  decisions_.Mix(app);
  decisions_.Mix(sequence);
  decisions_.Mix(effect.node.value);
  // Granted of what its master had asked for too much, until a node tells of the master's end: it ends with the job.
  if (jobs_[app] == nullptr) return;
  Job& job = *jobs_[app];
  // Granted in the very step in which its master was lost: it ends with the attempt.
  if (effect.container.attempt.attempt != job.attempt) return;
  if (!job.master_runs) {
    job.master_runs = true;
    job.master = sequence;
    job.master_node = effect.node.value;
    job.master_start_ms = now_ms_;
    if (job.first_container_ms < 0) job.first_container_ms = now_ms_;
    Launch(effect.node.value, effect.container);
    recorder_.Wanted(job.queue, setup_.master_size, -1);
    job.master_booked = effect.resources;
    recorder_.Used(job.queue, setup_.master_size, job.master_booked, 1);
    if (OpenStages(app, job)) Call(app, job);
    return;
  }
  const auto stage_number = static_cast<size_t>(effect.allocation_request_id);
  FL_CHECK(stage_number < job.stages.size(), "a grant for nothing that was asked for");
  StageRun& stage = job.stages[stage_number];
  const uint32_t list = nodes_[effect.node.value].list;
  const int64_t task = stage.Assign(effect.locality, topology_.nodes[list]);
  if (task < 0) {
    job.surplus.push_back(effect.container);
    return WantBeat(app, job);
  }
  if (stage.has_places()) {
    ++(effect.locality == model::Locality::kNodeLocal   ? result_.node_local
       : effect.locality == model::Locality::kRackLocal ? result_.rack_local
                                                        : result_.off_switch);
  }
  if (job.containers.size() <= sequence) job.containers.resize(sequence + 1);
  Container& container = job.containers[sequence];
  container = {Container::State::kGranted,
               stage.has_places() && effect.locality == model::Locality::kRackLocal,
               stage.has_places() && effect.locality == model::Locality::kOffSwitch,
               static_cast<uint16_t>(stage_number),
               effect.node.value,
               static_cast<uint32_t>(task),
               now_ms_,
               0};
  recorder_.Wanted(job.queue, stage.stage().size, -1);
  stage.Book(effect.resources);
  recorder_.Used(job.queue, stage.stage().size, stage.booked(), 1);
  job.granted.push_back(sequence);
  if (!setup_.pushed_grants) {
    WantBeat(app, job);
  } else if (!job.calls) {
    job.calls = true;
    callers_.push_back(app);
  }
}

/// The answer to a call takes along what the call, or anything before it, has granted.
void TraceRun::On(const ms::AllocateAnswered& effect) {
  Job* job = jobs_[effect.app.value].get();
  if (job && job->master_runs) Claim(effect.app.value, *job);
}

void TraceRun::Claim(uint32_t app, Job& job) {
  if (job.granted.empty()) return;
  for (const uint32_t sequence : job.granted) {
    Container& container = job.containers[sequence];
    if (container.state == Container::State::kGranted) Begin(app, job, sequence);  // not lost meanwhile
  }
  job.granted.clear();
  moved_ms_ = now_ms_;
}

void TraceRun::Begin(uint32_t app, Job& job, uint32_t sequence) {
  Container& container = job.containers[sequence];
  const uint32_t list = nodes_[container.node].list;
  const double slow = setup_.faults.slowness.empty() ? 1 : setup_.faults.slowness[list];
  const TraceStage& stage = job.trace.stages[container.stage];
  const auto run = static_cast<double>(stage.run_ms[container.task]);
  container.state = Container::State::kRunning;
  container.start_ms = now_ms_;
  container.end_ms = now_ms_ + static_cast<int64_t>(run * slow);
  if (job.first_start_ms < 0) job.first_start_ms = now_ms_;
  ++running_;
  Launch(container.node, IdOf(app, job, sequence));
  if (!use_.on()) return Add(Kind::kTaskEnd, container.end_ms, app, sequence);
  RealUse::Task task = use_.Draw(app, uint32_t{container.stage} << 24 ^ container.task, stage.size);
  task.sequence = sequence;
  task.left_ms = run * slow + use_.ReadMs(container.reads_rack, container.reads_far);
  use_.Start(container.node, task, now_ms_, moved_);
  TakeMoved();
  OutOfMemory(container.node);
}

void TraceRun::TakeMoved() {
  for (const RealUse::Task& task : moved_) {
    jobs_[task.app]->containers[task.sequence].end_ms = task.end_ms;
    Add(Kind::kTaskEnd, task.end_ms, task.app, task.sequence);
  }
  moved_.clear();
}

void TraceRun::Stop(uint32_t app, const Container& container, uint32_t sequence) {
  if (!use_.on()) return;
  use_.Stop(container.node, app, sequence, now_ms_, moved_);
  TakeMoved();
}

void TraceRun::OutOfMemory(uint32_t node) {
  while (const RealUse::Task* newest = use_.OutOfMemory(node)) {
    const uint32_t app = newest->app;
    const uint32_t sequence = newest->sequence;
    Job& job = *jobs_[app];
    ++result_.out_of_memory;
    Complete(node, IdOf(app, job, sequence), kKilled);
    Lost(app, job, sequence, false);
    WantBeat(app, job);
  }
}

void TraceRun::WantBeat(uint32_t app, Job& job) {
  if (job.beat_due) return;
  job.beat_due = true;
  const int64_t every = setup_.pushed_grants ? 1 : std::max<int64_t>(setup_.master_heartbeat_ms, 1);
  const int64_t beats = (now_ms_ - job.master_start_ms) / every + 1;
  Add(Kind::kMasterBeat, job.master_start_ms + beats * every, app);
}

/// With news, or to fetch what was granted.
void TraceRun::Call(uint32_t app, Job& job) {
  ms::Allocate call;
  for (size_t i = 0; i < job.stages.size(); ++i) job.stages[i].AddAsks(static_cast<int64_t>(i), call.asks);
  if (call.asks.empty() && job.surplus.empty() && job.granted.empty()) return;
  call.app = {app};
  call.token = ++calls_;
  call.releases.swap(job.surplus);
  events_.push_back(std::move(call));
}

bool TraceRun::OpenStages(uint32_t app, Job& job) {
  bool before_done = true;  // every stage before this one
  int64_t later_ms = INT64_MAX;
  for (size_t i = 0; i < job.stages.size(); ++i) {
    StageRun& stage = job.stages[i];
    if (!stage.open() && (before_done || !stage.stage().waits_for_previous)) {
      const int64_t at = job.master_start_ms + stage.stage().after.millis();
      if (at <= now_ms_) {
        stage.Open();
        recorder_.Wanted(job.queue, stage.stage().size, stage.waiting());
      } else {
        later_ms = std::min(later_ms, at);
      }
    } else if (!stage.open()) {
      break;  // what follows waits for it
    }
    before_done = before_done && stage.done();
  }
  if (before_done) {
    JobEnded(app);
    return false;
  }
  if (later_ms != INT64_MAX && !job.beat_due) {
    job.beat_due = true;
    Add(Kind::kMasterBeat, later_ms, app);
  }
  return true;
}

void TraceRun::TaskEnded(uint32_t app, uint32_t sequence) {
  if (!jobs_[app]) return;
  Job& job = *jobs_[app];
  if (sequence >= job.containers.size()) return;
  Container& container = job.containers[sequence];
  // A container that was lost leaves its end behind.
  if (container.state != Container::State::kRunning || container.end_ms != now_ms_) return;
  container.state = Container::State::kNone;
  Stop(app, container, sequence);
  StageRun& stage = job.stages[container.stage];
  stage.Finished();
  --running_;
  ++result_.tasks;
  moved_ms_ = now_ms_;
  result_.work_seconds += static_cast<double>(now_ms_ - container.start_ms) / 1000;
  recorder_.Used(job.queue, stage.stage().size, stage.booked(), -1);
  Complete(container.node, IdOf(app, job, sequence), 0);
  if (!stage.done()) return;
  const bool all = std::all_of(job.stages.begin(), job.stages.end(), [](const StageRun& one) { return one.done(); });
  if (all) return JobEnded(app);
  WantBeat(app, job);
}

void TraceRun::JobEnded(uint32_t app) {
  const Job& job = *jobs_[app];
  ++result_.jobs;
  if (setup_.keep_jobs) {
    result_.job_results.push_back(ResultOf(job));
    result_.job_results.back().end_ms = now_ms_;
  }
  recorder_.Used(job.queue, setup_.master_size, job.master_booked, -1);
  Complete(job.master_node, IdOf(app, job, job.master), 0);
  events_.push_back(ms::AppRemoved{{app}});
  jobs_[app].reset();
}

JobResult TraceRun::ResultOf(const Job& job) const {
  JobResult result;
  result.number = job.number;
  result.name = job.trace.name;
  result.user = job.trace.user;
  result.asked_queue = FullName(job.trace.queue);
  if (job.accepted) result.queue = result_.queues[job.queue];
  for (const TraceStage& stage : job.trace.stages) result.tasks += static_cast<int64_t>(stage.run_ms.size());
  result.submit_ms = job.trace.submit_ms;
  result.first_container_ms = job.first_container_ms;
  result.first_start_ms = job.first_start_ms;
  result.ideal_ms = job.ideal_ms;
  return result;
}

/// Asks the scheduler before what happens now: nothing has changed since the last step.
void TraceRun::LookAtWaits() {
  if (!setup_.look_at_waits || !waits_.Due(now_ms_)) return;
  while (first_alive_ < jobs_.size() && !jobs_[first_alive_]) ++first_alive_;
  std::vector<uint32_t> waiting;
  for (uint32_t app = first_alive_; app < jobs_.size(); ++app) {
    if (jobs_[app] && jobs_[app]->waits()) waiting.push_back(app);
  }
  for (const auto& [app, jobs] : waits_.Choose(waiting)) {
    const Job& job = *jobs_[app];
    for (const ms::Pending& pending : target_.Why({app}, base::Instant{now_ms_ * 1'000'000})) {
      if (pending.reason == ms::PendingReason::kNone) continue;
      waits_.Add(FullName(job.trace.queue), job.trace.user, pending, jobs,
                 now_ms_ - std::max(waits_.last_ms(), job.trace.submit_ms));
      break;  // what comes next holds the job
    }
  }
  waits_.Looked(now_ms_);
}

/// A container ended that the simulator did not end: its node was lost, or the scheduler took it back.
void TraceRun::On(const ms::Finished& effect) {
  Job* job = jobs_[effect.app.value].get();
  if (job == nullptr || effect.container.attempt.attempt != job->attempt) return;
  if (job->master_runs && effect.container.sequence() == job->master) {
    if (nodes_[job->master_node].alive) Complete(job->master_node, effect.container, effect.exit_status);
    return MasterLost(effect.app.value, *job);
  }
  const Container* container = Find(*job, effect.container);
  if (container == nullptr || container->state == Container::State::kNone) return;
  Complete(effect.node.value, effect.container, effect.exit_status);
  Lost(effect.app.value, *job, static_cast<uint32_t>(effect.container.sequence()),
       effect.exit_status == model::kExitPreempted);
  WantBeat(effect.app.value, *job);
}

void TraceRun::Lost(uint32_t app, Job& job, uint32_t sequence, bool preempted) {
  Container& container = job.containers[sequence];
  if (container.state == Container::State::kRunning) {
    --running_;
    Stop(app, container, sequence);
    result_.lost_seconds += static_cast<double>(now_ms_ - container.start_ms) / 1000;
  }
  ++result_.lost_containers;
  if (preempted) ++result_.preempted;
  StageRun& stage = job.stages[container.stage];
  recorder_.Used(job.queue, stage.stage().size, stage.booked(), -1);
  recorder_.Wanted(job.queue, stage.stage().size, 1);
  stage.PutBack(container.task);
  container.state = Container::State::kNone;
  moved_ms_ = now_ms_;
}

/// The job goes on with a new attempt that knows which tasks are done, as MapReduce's recovery does; what ran is lost.
void TraceRun::MasterLost(uint32_t app, Job& job) {
  for (uint32_t sequence = 0; sequence < job.containers.size(); ++sequence) {
    const Container& container = job.containers[sequence];
    if (container.state == Container::State::kNone) continue;
    Complete(container.node, IdOf(app, job, sequence), model::kExitAborted);
    Lost(app, job, sequence, false);
  }
  recorder_.Used(job.queue, setup_.master_size, job.master_booked, -1);
  recorder_.Wanted(job.queue, setup_.master_size, 1);
  job.containers.clear();
  job.granted.clear();
  job.surplus.clear();
  for (StageRun& stage : job.stages) stage.ForgetAsks();
  job.master_runs = false;
  ++job.attempt;
}

/// On its own in the empty cluster: each chain of stages takes as long as its longest task, or as its work spread over
/// the whole cluster.
int64_t TraceRun::IdealMs(const TraceJob& job) const {
  double before = 0;
  double together = 0;
  for (const TraceStage& stage : job.stages) {
    double longest = 0;
    double sum = 0;
    for (const uint32_t run : stage.run_ms) {
      longest = std::max<double>(longest, run);
      sum += run;
    }
    double part = 0;
    for (size_t t = 0; t < model::Resources::kMaxTypes; ++t) {
      if (result_.cluster[t] > 0) {
        part = std::max(part, static_cast<double>(stage.size[t]) / static_cast<double>(result_.cluster[t]));
      }
    }
    if (stage.waits_for_previous) {
      before += together;
      together = 0;
    }
    together = std::max(together, static_cast<double>(stage.after.millis()) + std::max(longest, sum * part));
  }
  return static_cast<int64_t>(before + together);
}

void TraceRun::Unfinished() {
  for (uint32_t app = 0; app < jobs_.size(); ++app) {
    if (!jobs_[app]) continue;
    ++result_.unfinished;
    if (setup_.keep_jobs) result_.unended_jobs.push_back({ResultOf(*jobs_[app]), false, ""});
    if (!result_.first_problem.empty()) continue;
    result_.first_problem = "job " + jobs_[app]->trace.name + " did not end";
    for (const ms::Pending& pending : target_.Why({app}, base::Instant{now_ms_ * 1'000'000})) {
      result_.first_problem += ": " + pending.detail;
      break;
    }
  }
}

}  // namespace fairlead::sim
