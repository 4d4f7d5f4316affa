#include "process/driver/job_driver.h"

#include <algorithm>

#include "base/dispatch.h"

namespace fairlead::process::driver {

namespace mt = model::tasks;
namespace we = wire::engine;

namespace {
/// That a plan is not needed any more is told with the next launch, or after this time.
constexpr base::Duration kStalePlansWait = base::Duration::Millis(100);
}  // namespace

JobDriver::JobDriver(env::Loop& loop, tasks::Config config, PlanSource& plans)
    : loop_(loop),
      core_(std::move(config)),
      plans_(plans),
      kept_blocks_([this](uint32_t to, const we::Message& message) {
        if (executors_[to].link != nullptr) executors_[to].link->Send(message);
      }) {}

JobDriver::~JobDriver() = default;

void JobDriver::MergeShuffles(env::Net& net, MergeSettings settings) {
  ShuffleMerges::Hooks hooks;
  hooks.place = [this](int32_t shuffle, std::vector<std::string> hosts) {
    Add(mt::MergePlaced{shuffle, std::move(hosts)});
  };
  hooks.tell_executors = [this](const we::PushShuffle& order) { SendToAll(order); };
  hooks.ended = [this](const MergeResult& result) { OnMerged(result); };
  merges_ = std::make_unique<ShuffleMerges>(loop_, net, std::move(settings), std::move(hooks));
}

void JobDriver::Add(mt::Event event) {
  events_.push_back(std::move(event));
  ScheduleStep();
}

void JobDriver::ScheduleStep() {
  if (step_posted_) return;
  step_posted_ = true;
  loop_.Post(alive_([this] { Step(); }));
}

void JobDriver::Step() {
  step_posted_ = false;
  std::vector<mt::Event> events;
  events.swap(events_);
  for (const mt::Event& event : events) {
    for (DriverListener* listener : listeners_) listener->OnEvent(event);
  }
  tasks::EffectSink effects;
  core_.Step(loop_.Now(), events, effects);
  for (const mt::Effect& effect : effects) {
    for (DriverListener* listener : listeners_) listener->OnEffect(effect);
    if (merges_) FollowMerges(effect);
    Apply(effect);
  }
  FlushLaunches();
  for (const int64_t task : ended_) running_.erase(task);
  ended_.clear();
  ScheduleDeadline();
}

void JobDriver::ScheduleDeadline() {
  const base::Instant next = core_.NextDeadline();
  if (next != deadline_timer_.due()) deadline_timer_.At(next, [this] { ScheduleStep(); });
}

void JobDriver::Submit(mt::SubmitJob job, JobCallbacks callbacks) {
  jobs_[job.job] = Job{std::move(callbacks)};
  Add(std::move(job));
}

void JobDriver::Cancel(mt::JobId job, const std::string& reason) { Add(mt::CancelJob{job, reason}); }

void JobDriver::Forget(std::vector<int32_t> datasets, std::vector<int32_t> shuffles) {
  SendToAll(we::Forget{datasets, shuffles, {}});
  if (std::count(shuffles.begin(), shuffles.end(), outputs_shuffle_) > 0) ForgetOutputsAnswer();
  for (const int32_t dataset : datasets) kept_blocks_.Forget(dataset);
  for (const int32_t shuffle : shuffles) {
    if (!merges_) break;
    merges_->Forget(shuffle);
    AnswerKeptBack(shuffle);
  }
  Add(mt::ForgetDatasets{std::move(datasets), std::move(shuffles)});
}

void JobDriver::DropBroadcast(int64_t id) {
  if (broadcasts_.erase(id) != 0) SendToAll(we::Forget{{}, {}, {id}});
}

void JobDriver::SendToAll(const we::Message& message) {
  for (Executor& executor : executors_) {
    if (executor.link != nullptr) executor.link->Send(message);
  }
}

void JobDriver::KnowRack(const std::string& host, const std::string& rack) {
  if (!rack.empty() && racks_.emplace(host, rack).second) Add(mt::HostRack{host, rack});
}

mt::ExecutorIndex JobDriver::AddExecutor(const ExecutorInfo& info, ExecutorLink* link) {
  const mt::ExecutorIndex index{static_cast<uint32_t>(executors_.size())};
  Executor executor;
  executor.info = info;
  executor.link = link;
  executors_.push_back(std::move(executor));
  ++live_executors_;
  Add(mt::ExecutorAdded{index, info.id, info.host, info.rack, info.slots, info.serves_own_files});
  if (merges_ && info.service_merges) {
    merges_->ExecutorAdded(index.value, info.host, {info.shuffle_host, static_cast<uint16_t>(info.shuffle_port)});
  }
  if (merges_) {
    for (const we::PushShuffle& order : merges_->Orders())
      loop_.Post(alive_([this, index, order] {
        Executor& late = executors_[index.value];
        if (late.link != nullptr) late.link->Send(order);
      }));
  }
  return index;
}

void JobDriver::RemoveExecutor(mt::ExecutorIndex executor, mt::LossKind kind, bool host_lost,
                               const std::string& message) {
  Executor& gone = executors_[executor.value];
  if (gone.link == nullptr) return;
  gone.link = nullptr;
  gone.plans.clear();
  gone.stale_plans.clear();
  kept_blocks_.OnLost(executor.value);
  if (merges_) merges_->ExecutorLost(executor.value);
  --live_executors_;
  // A process that crashed had begun the oldest of its tasks, also one that died before it could say so.
  if (kind == mt::LossKind::kExitedByApp) {
    int32_t begun = gone.info.slots;
    for (const auto& [task, running] : running_) {
      if (running.executor == executor.value && begun-- > 0) Add(mt::TaskStarted{task});
    }
  }
  std::erase_if(running_, [&](const auto& entry) { return entry.second.executor == executor.value; });
  Add(mt::ExecutorLost{executor, kind, host_lost, message});
}

bool JobDriver::Busy(mt::ExecutorIndex executor) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& entry) { return entry.second.executor == executor.value; });
}

void JobDriver::Decommission(mt::ExecutorIndex executor) { Add(mt::ExecutorDecommissioning{executor}); }

void JobDriver::Detach(mt::ExecutorIndex executor) {
  if (executors_[executor.value].link == nullptr) return;
  executors_[executor.value].link = &nowhere_;
  Decommission(executor);
}

bool JobDriver::OwnsTask(uint32_t executor, int64_t task) const {
  const auto found = running_.find(task);
  return found != running_.end() && found->second.executor == executor;
}

void JobDriver::OnMessage(mt::ExecutorIndex index, we::Message message) {
  Executor& executor = executors_[index.value];
  if (executor.link == nullptr) return;
  base::Dispatch(
      message,
      [&](const we::TaskStarted& started) {
        if (OwnsTask(index.value, started.task)) Add(mt::TaskStarted{started.task});
      },
      [&](we::TaskDone& done) { OnTaskDone(index.value, done); },
      [&](const we::TaskBroke& broke) { OnTaskBroke(index.value, broke); },
      [&](const we::AskCommit& ask) {
        if (OwnsTask(index.value, ask.task)) {
          Add(mt::AskCommit{ask.task, ask.token});
        } else {
          executor.link->Send(we::CommitAnswer{ask.token, false});
        }
      },
      [&](const we::AskMapOutputs& ask) { OnAskMapOutputs(index.value, ask.shuffle); },
      [&](const we::MapPushed& pushed) {
        if (merges_) merges_->MapPushed(pushed);
      },
      [&](const we::AskBroadcast& ask) {
        const auto found = broadcasts_.find(ask.id);
        const bool known = found != broadcasts_.end();
        executor.link->Send(we::Broadcast{ask.id, known, known ? found->second : std::string()});
      },
      [&](const we::BlockKept& kept) {
        kept_blocks_.OnChanged(index.value, kept.dataset, kept.partition);
        Add(mt::BlockCached{kept.dataset, kept.partition, index, kept.present});
      },
      [&](const we::AskKept& ask) { OnAskKept(index.value, ask); },
      [&](const we::KeptPublished& published) { kept_blocks_.OnPublished(index.value, published); },
      [&](const we::HostLoad& load) {
        // A host that is all busy counts as one more task in each slot.
        Add(mt::ExecutorLoad{index, std::clamp(load.thousandths, 0, 1000) * executor.info.slots});
      },
      base::Others{[](const auto&) {}});  // no executor sends them
}

/// Holders on the asker's host come first, then those of its rack.
void JobDriver::OnAskKept(uint32_t asker, const we::AskKept& ask) {
  const ExecutorInfo& mine = executors_[asker].info;
  std::vector<std::pair<int, we::Place>> holders;
  for (const mt::ExecutorIndex holder : core_.CachedAt(ask.dataset, ask.partition)) {
    const Executor& executor = executors_[holder.value];
    const ExecutorInfo& info = executor.info;
    const bool reachable = executor.link != nullptr && executor.link != &nowhere_ && info.shuffle_port > 0;
    if (!reachable || holder.value == asker) continue;
    const int distance = info.host == mine.host ? 0 : info.rack == mine.rack ? 1 : 2;
    holders.push_back({distance, {holder.value, info.id, info.shuffle_host, info.shuffle_port}});
  }
  std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<we::Place> places;
  for (auto& [distance, place] : holders) places.push_back(std::move(place));
  kept_blocks_.Ask(asker, ask, places);
}

void JobDriver::OnTaskDone(uint32_t executor, we::TaskDone& done) {
  if (!OwnsTask(executor, done.task)) return;
  running_[done.task].result = std::move(done.result);
  mt::TaskSucceeded event;
  event.task = done.task;
  event.sizes.assign(done.sizes.begin(), done.sizes.end());
  event.remote_read_ns = done.remote_read_ns;
  event.remote_read_bytes = done.remote_read_bytes;
  event.run_ns = done.run_ns;
  for (DriverListener* listener : listeners_) listener->OnTaskDone(done);
  Add(std::move(event));
}

void JobDriver::OnTaskBroke(uint32_t executor, const we::TaskBroke& broke) {
  if (!OwnsTask(executor, broke.task)) return;
  for (DriverListener* listener : listeners_) listener->OnTaskBroke(broke);
  mt::TaskFailed event;
  event.task = broke.task;
  event.kind = broke.kind >= 0 && broke.kind <= static_cast<int32_t>(mt::FailureKind::kFetchFailed)
                   ? static_cast<mt::FailureKind>(broke.kind)
                   : mt::FailureKind::kException;
  event.message = broke.message;
  event.shuffle = broke.shuffle;
  event.map_index = broke.map_index;
  event.source = mt::ExecutorIndex{broke.source};
  Add(std::move(event));
}

void JobDriver::OnAskMapOutputs(uint32_t executor, int32_t shuffle) {
  if (merges_ && merges_->KeepsBack(shuffle)) {
    kept_back_[shuffle].insert(executor);
  } else {
    SendMapOutputs(executors_[executor], shuffle);
  }
}

/// What happens to shuffles that may be merged.
void JobDriver::FollowMerges(const mt::Effect& effect) {
  if (const auto* submitted = std::get_if<mt::StageSubmitted>(&effect)) {
    const tasks::MapOutputTable* const table = core_.Outputs(submitted->shuffle);
    if (table == nullptr) return;
    merges_->StageBegins(submitted->shuffle, table->maps(), table->reduces(),
                         core_.HasTheSameRowsAgain(submitted->shuffle));
  } else if (const auto* ended = std::get_if<mt::TaskEnded>(&effect)) {
    const auto stage = stages_.find({ended->stage, ended->stage_attempt});
    if (stage == stages_.end() || ended->kind != mt::EndKind::kSuccess) return;
    const mt::StageSubmitted& of = stage->second.submitted;
    const tasks::MapOutputTable* const table = core_.Outputs(of.shuffle);
    if (table == nullptr) return;
    merges_->MapWritten(of.shuffle, of.partitions[static_cast<size_t>(ended->index)], ended->executor.value, *table);
  } else if (const auto* completed = std::get_if<mt::StageCompleted>(&effect)) {
    const auto stage = stages_.find({completed->stage, completed->attempt});
    if (stage == stages_.end() || !completed->failure.empty()) return;
    merges_->StageDone(stage->second.submitted.shuffle);
  }
}

void JobDriver::OnMerged(const MergeResult& result) {
  for (DriverListener* listener : listeners_) listener->OnMerged(result);
  AnswerKeptBack(result.shuffle);
}

void JobDriver::AnswerKeptBack(int32_t shuffle) {
  const auto waiting = kept_back_.find(shuffle);
  if (waiting == kept_back_.end()) return;
  const std::set<uint32_t> executors = std::move(waiting->second);
  kept_back_.erase(waiting);
  for (const uint32_t executor : executors) {
    if (executors_[executor].link != nullptr) SendMapOutputs(executors_[executor], shuffle);
  }
}

void JobDriver::SendMapOutputs(Executor& executor, int32_t shuffle) {
  if (outputs_shuffle_ == shuffle) {
    std::get<we::MapOutputs>(outputs_answer_).epoch = core_.Epoch();
    return executor.link->Send(outputs_answer_);
  }
  we::MapOutputs answer;
  answer.shuffle = shuffle;
  answer.epoch = core_.Epoch();
  const tasks::MapOutputTable* table = core_.Outputs(shuffle);
  if (table != nullptr) {
    EncodeMapOutputs(*table, answer.table);
    std::set<uint32_t> places;
    for (int32_t map = 0; map < table->maps(); ++map) places.insert(table->place(map));
    for (const uint32_t place : places) {
      if (place >= executors_.size()) continue;
      const ExecutorInfo& info = executors_[place].info;
      answer.places.push_back({place, info.id, info.shuffle_host, info.shuffle_port});
    }
  }
  if (merges_) merges_->AddTo(answer);
  const bool complete = table != nullptr && table->available() == table->maps();
  outputs_answer_ = std::move(answer);
  executor.link->Send(outputs_answer_);
  if (!complete) return ForgetOutputsAnswer();
  outputs_shuffle_ = shuffle;
}

void JobDriver::ForgetOutputsAnswer() {
  outputs_shuffle_ = -1;
  outputs_answer_ = we::MapOutputs{};
}

void JobDriver::Launch(const mt::LaunchTask& launch) {
  running_[launch.task] = Running{launch.executor.value, {}};
  const auto same = [&](const auto& batch) {
    return batch.first == launch.executor.value && batch.second.stage == launch.stage &&
           batch.second.stage_attempt == launch.stage_attempt;
  };
  // Offers go round the executors, so the batch of this one is among the latest few.
  auto found = std::find_if(launches_.rbegin(), launches_.rend(), same);
  if (found == launches_.rend()) {
    launches_.push_back({launch.executor.value, we::Launch{launch.stage, launch.stage_attempt, {}}});
    found = launches_.rbegin();
  }
  found->second.tasks.push_back({launch.task, launch.partition, launch.attempt});
}

void JobDriver::FlushLaunches() {
  for (auto& [index, batch] : launches_) {
    Executor& executor = executors_[index];
    if (executor.link == nullptr) continue;
    SendStalePlans(executor);
    const std::pair<int32_t, int32_t> key{batch.stage, batch.stage_attempt};
    if (executor.plans.insert(key).second) {
      const Stage& stage = stages_[key];
      executor.link->Send(we::StagePlanned{batch.stage, batch.stage_attempt, stage.plan, stage.submitted.epoch,
                                           core_.DatasetsWithCached()});
    }
    executor.link->Send(batch);
  }
  launches_.clear();
}

void JobDriver::DropPlans(const std::pair<int32_t, int32_t>& stage) {
  for (Executor& executor : executors_) {
    if (executor.plans.erase(stage) != 0) executor.stale_plans.push_back(stage);
  }
  if (stale_timer_.waits()) return;
  stale_timer_.After(kStalePlansWait, [this] {
    for (Executor& executor : executors_) SendStalePlans(executor);
  });
}

void JobDriver::SendStalePlans(Executor& executor) {
  if (executor.link == nullptr) return;
  for (const auto& [stage, attempt] : executor.stale_plans) executor.link->Send(we::StageGone{stage, attempt});
  executor.stale_plans.clear();
}

void JobDriver::EndJob(mt::JobId id, const mt::JobEnded& end) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const JobCallbacks callbacks = std::move(found->second.callbacks);
  jobs_.erase(found);
  callbacks.on_end(end);
}

void JobDriver::Apply(const mt::Effect& effect) {
  base::Dispatch(
      effect, [&](const mt::LaunchTask& launch) { Launch(launch); },
      [&](const mt::LaunchBatch& batch) {
        for (const mt::LaunchTask& task : batch.tasks) Launch(task);
      },
      [&](const mt::KillTask& kill) {
        FlushLaunches();  // a kill must not overtake its launch
        Executor& executor = executors_[kill.executor.value];
        if (executor.link != nullptr) executor.link->Send(we::Kill{kill.task});
      },
      [&](const mt::StageSubmitted& submitted) {
        stages_[{submitted.stage, submitted.attempt}] = Stage{submitted, plans_.PlanOf(submitted)};
      },
      [&](const mt::StageCompleted& completed) {
        FlushLaunches();
        const std::pair<int32_t, int32_t> key{completed.stage, completed.attempt};
        stages_.erase(key);
        DropPlans(key);
      },
      [&](const mt::MapOutputsChanged& changed) {
        if (changed.shuffle == outputs_shuffle_) ForgetOutputsAnswer();
      },
      [&](const mt::ResultAccepted& accepted) {
        const auto job = jobs_.find(accepted.job);
        const auto task = running_.find(accepted.task);
        if (job != jobs_.end() && task != running_.end()) {
          job->second.callbacks.on_result(accepted.output, std::move(task->second.result));
        }
      },
      [&](const mt::TaskEnded& ended) {
        if (ended.kind != mt::EndKind::kResubmitted) ended_.push_back(ended.task);
      },
      [&](const mt::JobEnded& end) { EndJob(end.job, end); },
      [&](const mt::JobRejected& rejected) {
        mt::JobEnded end;
        end.job = rejected.job;
        end.error = rejected.error;
        EndJob(rejected.job, end);
      },
      [&](const mt::CommitAnswered& answer) {
        const auto task = running_.find(answer.task);
        if (task == running_.end()) return;
        Executor& executor = executors_[task->second.executor];
        if (executor.link != nullptr) executor.link->Send(we::CommitAnswer{answer.token, answer.granted});
      },
      base::Ignored<mt::ExecutorExcluded, mt::DemandChanged>{});  // for listeners
}

}  // namespace fairlead::process::driver
