#include "sim/stages/stages.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "base/rng.h"
#include "tasks/tasks.h"

namespace fairlead::sim {

namespace mt = model::tasks;
using base::Duration;

namespace {

constexpr int32_t kSlots = 4;
constexpr int32_t kHostsInRack = 8;
constexpr int64_t kBetweenJobsMs = 1'500;
constexpr int64_t kJobsTillPause = 40;
constexpr int64_t kPauseMs = 40'000;
constexpr int64_t kRackReadMs = 110;  // of a map's input from another host of the rack
constexpr int64_t kFarReadMs = 220;   // from another rack
constexpr int64_t kIdleMs = 15'000;   // then an executor is given back
constexpr int64_t kReplaceMs = 2'000;
constexpr int64_t kCrashEveryMs = 100'000;
constexpr int64_t kLoadEveryMs = 10'000;
constexpr int64_t kTickMs = 1'000;
constexpr int64_t kLongestMs = 24LL * 3600 * 1000;
constexpr uint8_t kSizeCode = 100;  // of a map's output for one reducer

std::string HostName(int32_t host) { return "host" + std::to_string(host); }
int32_t RackOf(int32_t host) { return host / kHostsInRack; }

struct TraceStageTask {
  int64_t run_ms = 0;
  std::vector<int32_t> hosts;  // of its input; empty: a shuffle's
};

/// Source, then one or two shuffles; dataset d of the job is stage d.
struct StagesJob {
  int64_t submit_ms = 0;
  std::vector<std::vector<TraceStageTask>> stages;
  bool order_sensitive = false;  // the middle stage's rows depend on the order of its input
};

int64_t Drawn(base::Rng& rng, double median_ms) {
  return 1 + static_cast<int64_t>(median_ms * std::exp(0.5 * (rng.Unit() + rng.Unit() + rng.Unit() - 1.5) * 2));
}

std::vector<StagesJob> MakeTrace(const StagesOptions& options) {
  base::Rng rng(options.seed);
  std::vector<StagesJob> jobs(static_cast<size_t>(options.jobs));
  int64_t at_ms = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    StagesJob& job = jobs[i];
    // A larger cluster gets more jobs at a time.
    at_ms += rng.Between(0, 2 * kBetweenJobsMs * 40 / options.hosts);
    if (i % kJobsTillPause == kJobsTillPause - 1) at_ms += kPauseMs;
    job.submit_ms = at_ms;
    const auto maps = static_cast<size_t>(4 * std::exp(rng.Unit() * std::log(40.0)));
    // Blocks that were written together lie on few hosts.
    const auto around = static_cast<int32_t>(rng.Below(static_cast<uint64_t>(options.hosts)));
    const int64_t spread = std::min<int64_t>(options.hosts, 6);
    auto& source = job.stages.emplace_back(maps);
    for (TraceStageTask& task : source) {
      task.run_ms = Drawn(rng, 400);
      for (int copy = 0; copy < 3; ++copy) {
        task.hosts.push_back(static_cast<int32_t>((around + rng.Between(0, spread - 1) * 5) % options.hosts));
      }
    }
    job.order_sensitive = rng.Chance(0.3);
    const int shuffles = job.order_sensitive ? 2 : 1;
    for (int s = 0; s < shuffles; ++s) {
      auto& stage = job.stages.emplace_back(std::max<size_t>(1, maps / 4));
      for (TraceStageTask& task : stage) task.run_ms = Drawn(rng, 600);
      if (rng.Chance(0.2)) stage.front().run_ms = rng.Between(3'000, 8'000);  // a skewed key
    }
  }
  return jobs;
}

class StagesRun {
 public:
  StagesRun(const StagesOptions& options, const tasks::Config& rules)
      : options_(options), jobs_(MakeTrace(options)), core_(rules), rng_(options.seed + 1) {}
  StagesResult Run();

 private:
  enum class Kind : uint8_t { kSubmit, kTaskEnd, kExecutor, kCrash, kLoad, kTick };
  using Due = std::tuple<int64_t, Kind, int64_t>;  // time in ms, what, which
  struct Executor {
    int32_t host = 0;
    bool alive = true;
    int64_t since_ms = 0;
    int64_t idle_since_ms = -1;
  };
  struct Stage {
    size_t job = 0;
    size_t number = 0;  // in the job
    std::vector<mt::ShuffleId> reads;
    mt::ShuffleId writes = -1;
  };
  struct Running {
    uint32_t executor = 0;
    std::pair<mt::StageId, int32_t> stage;
    int32_t partition = 0;
    int64_t remote_ms = 0;
  };

  void Add(int64_t at_ms, Kind kind, int64_t which = 0) { due_.push({at_ms, kind, which}); }
  void Handle(const Due& due);
  void Submit(size_t number);
  void AddExecutor(int32_t host);
  void Lose(uint32_t executor, mt::LossKind kind);
  void Crash();
  void DrawLoads();
  void TellLoad(uint32_t executor);
  void GiveBackIdle();
  void EndTask(mt::TaskId id);
  bool ReadAll(mt::TaskId id, const Running& task, mt::TaskFailed& failed);
  void Apply(const mt::Effect& effect);
  void Launch(const mt::LaunchTask& launch);
  void EndJob(const mt::JobEnded& end);
  size_t Live() const;
  StagesResult Sum();

  const StagesOptions options_;
  const std::vector<StagesJob> jobs_;
  tasks::Tasks core_;
  base::Rng rng_;  // of the events besides the jobs
  int64_t now_ms_ = 0;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<mt::Event> events_;
  std::vector<Executor> executors_;
  std::vector<int32_t> load_milli_;  // by host
  std::set<int32_t> hosts_without_;  // an executor
  std::map<std::pair<mt::StageId, int32_t>, Stage> stages_;
  std::map<mt::TaskId, Running> running_;
  std::set<std::tuple<size_t, size_t, int32_t>> computed_;  // job, stage of it, partition
  std::map<mt::TaskId, uint64_t> rows_read_;                // hashed: which outputs an ended task has read
  std::map<mt::JobId, std::set<uint64_t>> rows_used_;       // by order-sensitive job: what its results come from
  std::vector<int64_t> took_ms_;
  int64_t pending_ = 0;
  int64_t with_hosts_ = 0;
  int64_t on_hosts_ = 0;
  StagesResult result_;
};

StagesResult StagesRun::Run() {
  load_milli_.assign(static_cast<size_t>(options_.hosts), 0);
  for (int32_t host = 0; host < options_.hosts; ++host) AddExecutor(host);
  for (size_t job = 0; job < jobs_.size(); ++job) Add(jobs_[job].submit_ms, Kind::kSubmit, static_cast<int64_t>(job));
  Add(kCrashEveryMs, Kind::kCrash);
  Add(0, Kind::kLoad);
  Add(kTickMs, Kind::kTick);
  while (took_ms_.size() + static_cast<size_t>(result_.jobs_failed) < jobs_.size() && now_ms_ < kLongestMs) {
    const base::Instant deadline = core_.NextDeadline();
    const int64_t next_ms = std::get<0>(due_.top());
    const int64_t core_ms = deadline == base::Instant::Max() ? INT64_MAX : (deadline.ns + 999'999) / 1'000'000;
    if (events_.empty()) now_ms_ = std::max(now_ms_, std::min(next_ms, core_ms));
    while (std::get<0>(due_.top()) <= now_ms_) {
      const Due due = due_.top();
      due_.pop();
      Handle(due);
    }
    std::vector<mt::Effect> effects;
    core_.Step(base::Instant{now_ms_ * 1'000'000}, std::exchange(events_, {}), effects);
    for (const mt::Effect& effect : effects) Apply(effect);
  }
  return Sum();
}

void StagesRun::Handle(const Due& due) {
  const auto& [at_ms, kind, which] = due;
  switch (kind) {
    case Kind::kSubmit:
      return Submit(static_cast<size_t>(which));
    case Kind::kTaskEnd:
      return EndTask(which);
    case Kind::kExecutor:
      return AddExecutor(static_cast<int32_t>(which));
    case Kind::kCrash:
      Add(now_ms_ + kCrashEveryMs, Kind::kCrash);
      return Crash();
    case Kind::kLoad:
      Add(now_ms_ + kLoadEveryMs, Kind::kLoad);
      return DrawLoads();
    case Kind::kTick:
      Add(now_ms_ + kTickMs, Kind::kTick);
      return GiveBackIdle();
  }
}

void StagesRun::Submit(size_t number) {
  const StagesJob& trace = jobs_[number];
  mt::SubmitJob job;
  job.job = static_cast<mt::JobId>(number);
  for (size_t s = 0; s < trace.stages.size(); ++s) {
    mt::Dataset dataset;
    dataset.id = static_cast<mt::DatasetId>(number * 4 + s);
    dataset.name = "stage " + std::to_string(s) + " of job " + std::to_string(number);
    dataset.partitions = static_cast<int32_t>(trace.stages[s].size());
    if (s > 0) {
      mt::Dependency dependency;
      dependency.kind = mt::Dependency::Kind::kShuffle;
      dependency.dataset = dataset.id - 1;
      dependency.shuffle = dataset.id;
      dataset.dependencies.push_back(dependency);
      dataset.order_sensitive = trace.order_sensitive && s == 1;
    }
    for (const TraceStageTask& task : trace.stages[s]) {
      auto& places = dataset.preferred.emplace_back();
      for (const int32_t host : task.hosts) places.push_back({mt::TaskLocation::Kind::kHost, HostName(host), {}});
    }
    job.target = dataset.id;
    job.partitions.resize(static_cast<size_t>(dataset.partitions));
    job.datasets.push_back(std::move(dataset));
  }
  for (size_t i = 0; i < job.partitions.size(); ++i) job.partitions[i] = static_cast<int32_t>(i);
  events_.push_back(std::move(job));
}

// Executors.

void StagesRun::AddExecutor(int32_t host) {
  const auto index = static_cast<uint32_t>(executors_.size());
  executors_.push_back({host, true, now_ms_, -1});
  mt::ExecutorAdded added;
  added.executor = {index};
  added.id = "e" + std::to_string(index);
  added.host = HostName(host);
  added.rack = "rack" + std::to_string(RackOf(host));
  added.slots = kSlots;
  added.serves_own_files = true;
  events_.push_back(std::move(added));
  TellLoad(index);
}

/// Its outputs go with it. If it is missed, a new one comes to the host.
void StagesRun::Lose(uint32_t index, mt::LossKind kind) {
  Executor& executor = executors_[index];
  executor.alive = false;
  result_.executors_held = result_.executors_held + Duration::Millis(now_ms_ - executor.since_ms);
  hosts_without_.insert(executor.host);
  std::erase_if(running_, [&](const auto& entry) { return entry.second.executor == index; });
  events_.push_back(mt::ExecutorLost{{index}, kind, false, "gone"});
}

void StagesRun::Crash() {
  std::vector<uint32_t> alive;
  for (uint32_t i = 0; i < executors_.size(); ++i) {
    if (executors_[i].alive) alive.push_back(i);
  }
  if (!alive.empty()) Lose(alive[rng_.Below(alive.size())], mt::LossKind::kExitedNotByApp);
}

/// What other programs do on the hosts: a fifth of them is busy with up to two slots' work for each of ours.
void StagesRun::DrawLoads() {
  for (int32_t& load : load_milli_) {
    load = rng_.Chance(0.2) ? static_cast<int32_t>(rng_.Between(1, 2 * kSlots)) * 1000 : 0;
  }
  for (uint32_t i = 0; i < executors_.size(); ++i) {
    if (executors_[i].alive) TellLoad(i);
  }
}

void StagesRun::TellLoad(uint32_t executor) {
  events_.push_back(mt::ExecutorLoad{{executor}, load_milli_[static_cast<size_t>(executors_[executor].host)]});
}

void StagesRun::GiveBackIdle() {
  const std::vector<mt::ExecutorIndex> removable = core_.Removable();
  std::set<uint32_t> idle;
  for (const mt::ExecutorIndex index : removable) idle.insert(index.value);
  for (uint32_t i = 0; i < executors_.size(); ++i) {
    Executor& executor = executors_[i];
    if (!executor.alive || !idle.contains(i)) {
      executor.idle_since_ms = -1;
    } else if (executor.idle_since_ms < 0) {
      executor.idle_since_ms = now_ms_;
    } else if (now_ms_ - executor.idle_since_ms >= kIdleMs && Live() > 1) {
      Lose(i, mt::LossKind::kKilled);
    }
  }
  if (pending_ == 0) return;
  for (const int32_t host : std::exchange(hosts_without_, {})) Add(now_ms_ + kReplaceMs, Kind::kExecutor, host);
}

size_t StagesRun::Live() const {
  return static_cast<size_t>(
      std::count_if(executors_.begin(), executors_.end(), [](const Executor& one) { return one.alive; }));
}

// Tasks.

void StagesRun::Launch(const mt::LaunchTask& launch) {
  const Stage& stage = stages_.at({launch.stage, launch.stage_attempt});
  const TraceStageTask& task = jobs_[stage.job].stages[stage.number][static_cast<size_t>(launch.partition)];
  const int32_t host = executors_[launch.executor.value].host;
  Running running{launch.executor.value, {launch.stage, launch.stage_attempt}, launch.partition, 0};
  if (!task.hosts.empty()) {
    const auto near = [&](int32_t other) { return RackOf(other) == RackOf(host); };
    const bool here = std::find(task.hosts.begin(), task.hosts.end(), host) != task.hosts.end();
    const bool in_rack = std::any_of(task.hosts.begin(), task.hosts.end(), near);
    running.remote_ms = here ? 0 : in_rack ? kRackReadMs : kFarReadMs;
    ++with_hosts_;
    on_hosts_ += here ? 1 : 0;
  }
  result_.remote_reads = result_.remote_reads + Duration::Millis(running.remote_ms);
  ++result_.tasks;
  if (!computed_.insert({stage.job, stage.number, launch.partition}).second) ++result_.recomputed;
  const int64_t load = load_milli_[static_cast<size_t>(host)];
  Add(now_ms_ + running.remote_ms + task.run_ms + task.run_ms * load / (1000 * kSlots), Kind::kTaskEnd, launch.task);
  running_[launch.task] = running;
  events_.push_back(mt::TaskStarted{launch.task});
}

/// False, with what to say of it, when an output that the task reads has gone.
bool StagesRun::ReadAll(mt::TaskId id, const Running& task, mt::TaskFailed& failed) {
  const Stage& stage = stages_.at(task.stage);
  base::StateHasher rows;
  for (const mt::ShuffleId shuffle : stage.reads) {
    const tasks::MapOutputTable* outputs = core_.Outputs(shuffle);
    for (int32_t map = 0; outputs != nullptr && map < outputs->maps(); ++map) {
      rows.Mix(static_cast<uint64_t>(outputs->task(map)));
      if (outputs->place(map) != tasks::MapOutputTable::kMissing) continue;
      failed.shuffle = shuffle;
      failed.map_index = map;
      return false;
    }
  }
  rows_read_[id] = rows.value();
  return true;
}

void StagesRun::EndTask(mt::TaskId id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  const Running task = found->second;
  running_.erase(found);
  mt::TaskFailed failed;
  failed.task = id;
  failed.kind = mt::FailureKind::kFetchFailed;
  failed.message = "an output is gone";
  if (!ReadAll(id, task, failed)) {
    events_.push_back(std::move(failed));
    return;
  }
  const Stage& stage = stages_.at(task.stage);
  mt::TaskSucceeded done;
  done.task = id;
  if (stage.writes >= 0) done.sizes.assign(jobs_[stage.job].stages[stage.number + 1].size(), kSizeCode);
  done.remote_read_ns = task.remote_ms * 1'000'000;
  done.remote_read_bytes = task.remote_ms > 0 ? 1 : 0;
  events_.push_back(std::move(done));
}

void StagesRun::Apply(const mt::Effect& effect) {
  if (const auto* submitted = std::get_if<mt::StageSubmitted>(&effect)) {
    const auto dataset = static_cast<size_t>(submitted->dataset);
    stages_[{submitted->stage, submitted->attempt}] = {dataset / 4, dataset % 4, submitted->reads, submitted->shuffle};
  } else if (const auto* launch = std::get_if<mt::LaunchTask>(&effect)) {
    ++result_.launch_messages;
    Launch(*launch);
  } else if (const auto* batch = std::get_if<mt::LaunchBatch>(&effect)) {
    ++result_.launch_messages;
    for (const mt::LaunchTask& one : batch->tasks) Launch(one);
  } else if (const auto* kill = std::get_if<mt::KillTask>(&effect)) {
    if (running_.erase(kill->task) == 0) return;
    mt::TaskFailed killed;
    killed.task = kill->task;
    killed.kind = mt::FailureKind::kKilled;
    events_.push_back(std::move(killed));
  } else if (const auto* demand = std::get_if<mt::DemandChanged>(&effect)) {
    pending_ = demand->pending;
  } else if (const auto* accepted = std::get_if<mt::ResultAccepted>(&effect)) {
    // Computed again, an output has other rows only if they depend on the order of its input.
    const bool may_differ = jobs_[static_cast<size_t>(accepted->job)].order_sensitive;
    if (may_differ) rows_used_[accepted->job].insert(rows_read_[accepted->task]);
  } else if (const auto* end = std::get_if<mt::JobEnded>(&effect)) {
    EndJob(*end);
  }
}

void StagesRun::EndJob(const mt::JobEnded& end) {
  if (!end.succeeded) {
    ++result_.jobs_failed;
    return;
  }
  ++result_.jobs_done;
  took_ms_.push_back(now_ms_ - jobs_[static_cast<size_t>(end.job)].submit_ms);
  if (const auto used = rows_used_.find(end.job); used != rows_used_.end() && used->second.size() > 1) {
    ++result_.mixed_results;
  }
}

StagesResult StagesRun::Sum() {
  for (const Executor& executor : executors_) {
    if (executor.alive) result_.executors_held = result_.executors_held + Duration::Millis(now_ms_ - executor.since_ms);
  }
  result_.makespan = Duration::Millis(now_ms_);
  result_.jobs_failed = static_cast<int64_t>(jobs_.size()) - result_.jobs_done;
  result_.local = with_hosts_ > 0 ? static_cast<double>(on_hosts_) / static_cast<double>(with_hosts_) : 1;
  if (took_ms_.empty()) return result_;
  std::sort(took_ms_.begin(), took_ms_.end());
  int64_t sum = 0;
  for (const int64_t took : took_ms_) sum += took;
  result_.job_mean = Duration::Millis(sum / static_cast<int64_t>(took_ms_.size()));
  result_.job_p95 = Duration::Millis(took_ms_[(took_ms_.size() - 1) * 95 / 100]);
  return result_;
}

}  // namespace

std::vector<StageRules> StageRuleSets() {
  std::vector<StageRules> sets(7);
  sets[0].name = "Spark's";
  sets[1].name = "adaptive delay";
  sets[2].name = "load against locality";
  sets[3].name = "executors kept for their outputs";
  sets[4].name = "templates";
  sets[5].name = "all of these";
  sets[6].name = "Spark's, lost outputs only";
  for (const size_t i : {1, 5}) sets[i].config.beyond.adaptive_delay = true;
  for (const size_t i : {2, 5}) sets[i].config.beyond.load_weight_milli = 500;
  for (const size_t i : {3, 5}) sets[i].config.beyond.retain_shuffle_executors = true;
  for (const size_t i : {4, 5}) sets[i].config.beyond.templates = true;
  sets[6].config.beyond.whole_stage_when_indeterminate = false;
  return sets;
}

StagesResult RunStages(const StagesOptions& options, const tasks::Config& rules) {
  return StagesRun(options, rules).Run();
}

std::vector<StagesBeside> CompareStages(StagesOptions options, int32_t seeds) {
  const std::vector<StageRules> sets = StageRuleSets();
  std::vector<StagesBeside> rows(sets.size());
  const auto ratio = [](base::Duration ours, base::Duration theirs) {
    return static_cast<double>(ours.ns) / static_cast<double>(theirs.ns);
  };
  for (int32_t i = 0; i < seeds; ++i, ++options.seed) {
    const StagesResult spark = RunStages(options, sets.front().config);
    for (size_t set = 0; set < sets.size(); ++set) {
      const StagesResult run = set == 0 ? spark : RunStages(options, sets[set].config);
      StagesBeside& row = rows[set];
      row.name = sets[set].name;
      const double mean = ratio(run.job_mean, spark.job_mean);
      row.job_mean *= std::pow(mean, 1.0 / seeds);
      row.job_mean_worst = i == 0 ? mean : std::max(row.job_mean_worst, mean);
      row.job_p95 *= std::pow(ratio(run.job_p95, spark.job_p95), 1.0 / seeds);
      row.jobs_failed += run.jobs_failed;
    }
  }
  return rows;
}

}  // namespace fairlead::sim
