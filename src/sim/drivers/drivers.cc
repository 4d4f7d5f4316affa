#include "sim/drivers/drivers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "config/hadoop_conf.h"
#include "process/spark_master/executor_placement.h"
#include "profiles/profile.h"
#include "scheduler/spark_standalone/master.h"

namespace fairlead::sim {

namespace sa = model::standalone;
namespace ss = scheduler::standalone;
using process::spark_master::ExecutorPlacement;

namespace {

constexpr int64_t kStartMs = 2'000;  // until an executor takes tasks
constexpr int64_t kIdleMs = 60'000;  // spark.dynamicAllocation.executorIdleTimeout
constexpr int64_t kLongestMs = int64_t{30} * 24 * 3600 * 1000;

class DriversRun {
 public:
  DriversRun(std::vector<DriverApplication> applications, int32_t workers,
             std::unique_ptr<scheduler::Scheduler> scheduler);
  DriversResult Run();

 private:
  enum class Kind : uint8_t { kSubmit, kStarted, kTaskEnd, kIdle };
  using ExecutorKey = std::pair<uint32_t, int32_t>;            // application, its executor
  using Due = std::tuple<int64_t, Kind, ExecutorKey, size_t>;  // when, what, whose, which task
  struct Executor {
    int32_t cores = 0;
    int32_t busy = 0;
    bool started = false;
    int64_t idle_since_ms = 0;
  };
  struct Application {
    std::vector<size_t> waiting;  // tasks, the next one last
    size_t left = 0;              // tasks that have not ended
    std::map<int32_t, Executor> executors;
    std::multimap<int32_t, size_t> running;  // tasks, by executor
    int64_t ended_ms = -1;
  };

  void Feed(sa::Event event);
  /// All that follows from an event, and what the queues decide.
  void Settle();
  void Apply(const sa::Effect& effect);
  void Handle(const Due& due);
  void Submit(uint32_t index);
  void LaunchTasks(uint32_t index);
  void EndTask(const ExecutorKey& key, size_t task);
  void GiveBackIdle(const ExecutorKey& key);
  void Lose(const ExecutorKey& key);
  sa::Profile ProfileOf(uint32_t index) const;
  int32_t Wanted(uint32_t index) const;
  DriversResult Sum() const;

  const std::vector<DriverApplication> day_;
  ss::Master books_;
  std::optional<ExecutorPlacement> placement_;
  std::vector<Application> applications_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<sa::Event> events_;
  int64_t now_ms_ = 0;
  int64_t executors_ = 0;
  size_t left_;
};

ss::MasterConfig BooksOf(bool queues) {
  ss::MasterConfig config;
  config.places_executors = !queues;
  return config;
}

DriversRun::DriversRun(std::vector<DriverApplication> applications, int32_t workers,
                       std::unique_ptr<scheduler::Scheduler> scheduler)
    : day_(std::move(applications)),
      books_(BooksOf(scheduler != nullptr)),
      applications_(day_.size()),
      left_(day_.size()) {
  if (scheduler) {
    placement_.emplace(std::move(scheduler), [this](uint32_t app) {
      return process::spark_master::Standing{day_[app].user, "default", 0, false};
    });
  }
  for (uint32_t i = 0; i < static_cast<uint32_t>(workers); ++i) {
    const std::string name = "worker" + std::to_string(i);
    Feed(sa::WorkerRegistered{{i}, name, name, 1, kWorkerCores, kWorkerMib, {}});
  }
  for (uint32_t i = 0; i < day_.size(); ++i) due_.push({day_[i].submit_ms, Kind::kSubmit, {i, 0}, 0});
}

DriversResult DriversRun::Run() {
  Settle();
  while (left_ > 0 && now_ms_ < kLongestMs) {
    const base::Instant deadline = placement_ ? placement_->NextDeadline() : base::Instant::Max();
    int64_t next_ms = due_.empty() ? kLongestMs : std::get<0>(due_.top());
    if (deadline != base::Instant::Max()) next_ms = std::min(next_ms, (deadline.ns + 999'999) / 1'000'000);
    now_ms_ = std::max(now_ms_, next_ms);
    while (!due_.empty() && std::get<0>(due_.top()) <= now_ms_) {
      const Due due = due_.top();
      due_.pop();
      Handle(due);
    }
    Settle();
  }
  return Sum();
}

void DriversRun::Feed(sa::Event event) { events_.push_back(std::move(event)); }

void DriversRun::Settle() {
  bool decided = false;  // again after every change, as the Master's process does
  while (!events_.empty() || !decided) {
    std::vector<sa::Effect> effects;
    books_.Step(std::exchange(events_, {}), effects);
    for (const sa::Effect& effect : effects) Apply(effect);
    decided = events_.empty();
    if (!decided || !placement_) continue;
    events_ = placement_->Decide(base::Instant{now_ms_ * 1'000'000}, books_);
  }
}

void DriversRun::Apply(const sa::Effect& effect) {
  if (const auto* launch = std::get_if<sa::LaunchExecutor>(&effect)) {
    const ExecutorKey key{launch->app.value, launch->executor};
    applications_[key.first].executors[key.second] = {launch->cores};
    due_.push({now_ms_ + kStartMs, Kind::kStarted, key, 0});
    ++executors_;
  } else if (const auto* kill = std::get_if<sa::KillExecutor>(&effect)) {
    Lose({kill->app.value, kill->executor});
  }
}

void DriversRun::Handle(const Due& due) {
  const auto& [at_ms, kind, key, task] = due;
  switch (kind) {
    case Kind::kSubmit:
      return Submit(key.first);
    case Kind::kStarted: {
      const auto found = applications_[key.first].executors.find(key.second);
      if (found == applications_[key.first].executors.end()) return;
      found->second.started = true;
      found->second.idle_since_ms = now_ms_;
      Feed(sa::ExecutorStateChanged{{key.first}, key.second, sa::ExecutorState::kRunning, {}, "", 0});
      due_.push({now_ms_ + kIdleMs, Kind::kIdle, key, 0});
      return LaunchTasks(key.first);
    }
    case Kind::kTaskEnd:
      return EndTask(key, task);
    case Kind::kIdle:
      return GiveBackIdle(key);
  }
}

sa::Profile DriversRun::ProfileOf(uint32_t index) const {
  return {0, day_[index].executor_cores, day_[index].executor_mib, {}};
}

/// Executors for all tasks that have not ended.
int32_t DriversRun::Wanted(uint32_t index) const {
  const auto cores = static_cast<size_t>(day_[index].executor_cores);
  return static_cast<int32_t>((applications_[index].left + cores - 1) / cores);
}

void DriversRun::Submit(uint32_t index) {
  Application& application = applications_[index];
  const DriverApplication& drawn = day_[index];
  application.left = drawn.task_ms.size();
  for (size_t task = application.left; task-- > 0;) application.waiting.push_back(task);
  Feed(sa::AppRegistered{{index},
                         drawn.cores_max,
                         ProfileOf(index),
                         drawn.dynamic ? std::optional<int32_t>(Wanted(index)) : std::nullopt});
}

void DriversRun::LaunchTasks(uint32_t index) {
  Application& application = applications_[index];
  for (auto& [id, executor] : application.executors) {
    while (executor.started && executor.busy < executor.cores && !application.waiting.empty()) {
      const size_t task = application.waiting.back();
      application.waiting.pop_back();
      application.running.emplace(id, task);
      ++executor.busy;
      due_.push({now_ms_ + day_[index].task_ms[task], Kind::kTaskEnd, {index, id}, task});
    }
  }
}

void DriversRun::EndTask(const ExecutorKey& key, size_t task) {
  Application& application = applications_[key.first];
  const auto [first, last] = application.running.equal_range(key.second);
  const auto found = std::find_if(first, last, [&](const auto& one) { return one.second == task; });
  if (found == last) return;  // it went with its executor
  application.running.erase(found);
  Executor& executor = application.executors.at(key.second);
  if (--executor.busy == 0) {
    executor.idle_since_ms = now_ms_;
    due_.push({now_ms_ + kIdleMs, Kind::kIdle, key, 0});
  }
  if (--application.left > 0) return LaunchTasks(key.first);
  application.ended_ms = now_ms_;
  --left_;
  Feed(sa::AppFinished{{key.first}});
}

/// Dynamic allocation: asks for less first, so that nobody replaces it.
void DriversRun::GiveBackIdle(const ExecutorKey& key) {
  const auto& [index, id] = key;
  const auto found = applications_[index].executors.find(id);
  if (!day_[index].dynamic || found == applications_[index].executors.end()) return;
  if (found->second.busy > 0 || now_ms_ - found->second.idle_since_ms < kIdleMs) return;
  Feed(sa::ExecutorsRequested{{index}, 0, {{ProfileOf(index), Wanted(index)}}});
  Feed(sa::ExecutorsKilled{{index}, 0, {id}});
}

/// What ran there waits again.
void DriversRun::Lose(const ExecutorKey& key) {
  Application& application = applications_[key.first];
  application.executors.erase(key.second);
  const auto [first, last] = application.running.equal_range(key.second);
  for (auto one = first; one != last; ++one) application.waiting.push_back(one->second);
  application.running.erase(first, last);
  LaunchTasks(key.first);
}

DriversResult DriversRun::Sum() const {
  DriversResult result;
  result.makespan = base::Duration::Millis(now_ms_);
  result.executors = executors_;
  std::vector<double> slowdowns;
  double completions_ms = 0;
  for (size_t i = 0; i < day_.size(); ++i) {
    if (applications_[i].ended_ms < 0) continue;
    const auto took_ms = static_cast<double>(applications_[i].ended_ms - day_[i].submit_ms);
    completions_ms += took_ms;
    slowdowns.push_back(took_ms / static_cast<double>(day_[i].alone_ms() + kStartMs));
    result.slowdown_mean += slowdowns.back();
  }
  result.ended = static_cast<int64_t>(slowdowns.size());
  if (slowdowns.empty()) return result;
  const auto count = static_cast<double>(slowdowns.size());
  result.slowdown_mean /= count;
  result.completion_mean = base::Duration::Millis(static_cast<int64_t>(completions_ms / count));
  std::sort(slowdowns.begin(), slowdowns.end());
  result.slowdown_p99 = slowdowns[(slowdowns.size() - 1) * 99 / 100];
  return result;
}

}  // namespace

std::vector<DriverRules> DriverRuleSets() {
  return {{"Spark's", false, ""}, {"fairlead", true, ""}, {"fairlead, small-jobs", true, "small-jobs"}};
}

base::Result<DriversResult> RunDrivers(const DriversOptions& options, const DriverRules& rules) {
  std::unique_ptr<scheduler::Scheduler> scheduler;
  if (rules.queues) {
    config::HadoopConf conf;
    if (!rules.wishes.empty()) conf.Set(profiles::kWishesKey, rules.wishes);
    profiles::SetForDrivers(conf);
    const auto maker = profiles::Read("fairlead", conf, model::QueueTree());
    if (!maker.ok()) return maker.error();
    scheduler = (*maker)(0);
  }
  return DriversRun(DrawApplications(options), options.workers, std::move(scheduler)).Run();
}

base::Result<std::vector<DriversBeside>> CompareDrivers(DriversOptions options, int32_t seeds) {
  const std::vector<DriverRules> sets = DriverRuleSets();
  std::vector<DriversBeside> rows(sets.size());
  for (int32_t i = 0; i < seeds; ++i, ++options.seed) {
    std::optional<DriversResult> spark;
    for (size_t set = 0; set < sets.size(); ++set) {
      const auto run = RunDrivers(options, sets[set]);
      if (!run.ok()) return run.error();
      if (!spark) spark = *run;
      DriversBeside& row = rows[set];
      row.name = sets[set].name;
      const auto take = [&](double& mean, double ours, double theirs) { mean *= std::pow(ours / theirs, 1.0 / seeds); };
      const double slowdown = run->slowdown_mean / spark->slowdown_mean;
      take(row.slowdown_mean, run->slowdown_mean, spark->slowdown_mean);
      row.slowdown_worst = i == 0 ? slowdown : std::max(row.slowdown_worst, slowdown);
      take(row.slowdown_p99, run->slowdown_p99, spark->slowdown_p99);
      take(row.completion_mean, static_cast<double>(run->completion_mean.ns),
           static_cast<double>(spark->completion_mean.ns));
      take(row.makespan, static_cast<double>(run->makespan.ns), static_cast<double>(spark->makespan.ns));
    }
  }
  return rows;
}

}  // namespace fairlead::sim
