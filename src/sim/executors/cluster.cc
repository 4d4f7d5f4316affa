#include "sim/executors/cluster.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/check.h"

namespace fairlead::sim {
namespace {

/// Numbers of executors with which Decima's queries were timed.
constexpr int32_t kTimedWith[] = {5, 10, 20, 40, 50, 60, 80, 100};

template <class T>
void Remove(std::vector<T>& from, const T& what) {
  const auto found = std::find(from.begin(), from.end(), what);
  if (found != from.end()) from.erase(found);
}

}  // namespace

SharedCluster::SharedCluster(const SharedOptions& options, uint64_t seed)
    : options_(options), rng_(seed), state_(static_cast<size_t>(options.executors)) {
  for (int32_t i = 0; i < options.executors; ++i) idle_.push_back(i);
}

SharedCluster::~SharedCluster() = default;

void SharedCluster::Submit(const TimedJob& timed, int64_t at_ms) {
  FL_CHECK(jobs_.empty() || jobs_.back().submit_ms <= at_ms, "jobs come in order of submission");
  SharedJob& job = jobs_.emplace_back();
  job.timed = &timed;
  job.submit_ms = at_ms;
  job.stages.resize(timed.size());
  for (size_t i = 0; i < timed.size(); ++i) {
    if (timed[i].parents.empty()) job.runnable.push_back(static_cast<int32_t>(i));
  }
  ended_ms_.push_back(-1);
  Push(at_ms, Happening::Kind::kSubmit, static_cast<int32_t>(jobs_.size()) - 1);
}

std::vector<int64_t> SharedCluster::Run(ExecutorRule& rule) {
  while (source_executors_ > 0 || !happenings_.empty()) {
    if (source_executors_ == 0) {
      Next();
      continue;
    }
    const ExecutorRule::Choice choice = rule.Choose(*this);
    int32_t executors = std::min(choice.executors, source_executors_);
    if (!choice.stage.none()) {
      FL_CHECK(Open(choice.stage), "a rule chooses open stages");
      chosen_.push_back(choice.stage);
      executors = std::min(executors, Unclaimed(choice.stage));
    }
    FL_CHECK(executors > 0, "a rule places an executor at a time, or more");
    Commit(choice.stage, executors);
    source_executors_ -= executors;
    if (source_executors_ == 0) {
      chosen_.clear();
      FulfilCommitments();
    }
  }
  return ended_ms_;
}

int32_t SharedCluster::Unclaimed(StageRef stage) const {
  const SharedStage& of = StageOf(stage);
  return TimedOf(stage).tasks - of.begun - of.committed - of.moving;
}

bool SharedCluster::Open(StageRef stage) const {
  if (Unclaimed(stage) <= 0 || std::find(chosen_.begin(), chosen_.end(), stage) != chosen_.end()) return false;
  const std::vector<int32_t>& parents = TimedOf(stage).parents;
  return std::all_of(parents.begin(), parents.end(), [&](int32_t parent) {
    return Unclaimed({stage.job, parent}) <= 0;
  });
}

bool SharedCluster::Runnable(StageRef stage) const {
  const std::vector<int32_t>& runnable = job(stage.job).runnable;
  return std::find(runnable.begin(), runnable.end(), stage.stage) != runnable.end();
}

Commitments& SharedCluster::CommitmentsOf(const Executor& executor) {
  if (!executor.stage.none()) return StageOf(executor.stage).commitments;
  return executor.job < 0 ? commitments_ : JobOf(executor.job).commitments;
}

void SharedCluster::Push(int64_t at, Happening::Kind kind, int32_t number) {
  happenings_.push_back({at, order_++, kind, number});
  std::push_heap(happenings_.begin(), happenings_.end(), std::greater<>());
}

void SharedCluster::Next() {
  std::pop_heap(happenings_.begin(), happenings_.end(), std::greater<>());
  const Happening next = happenings_.back();
  happenings_.pop_back();
  now_ = next.at;
  switch (next.kind) {
    case Happening::Kind::kSubmit:
      return JobArrives(next.number);
    case Happening::Kind::kTaskEnds:
      return TaskEnds(next.number);
    case Happening::Kind::kArrives:
      return ExecutorArrives(next.number);
  }
}

void SharedCluster::Commit(StageRef stage, int32_t executors) {
  const Executor& source = ExecutorOf(looking_.front());
  Commitments& commitments = CommitmentsOf(source);
  const auto found =
      std::find_if(commitments.begin(), commitments.end(), [&](const auto& one) { return one.first == stage; });
  if (found != commitments.end()) {
    found->second += executors;
  } else {
    commitments.emplace_back(stage, executors);
  }
  if (stage.none()) return;
  StageOf(stage).committed += executors;
  if (stage.job != source.job) JobOf(stage.job).coming += executors;
}

StageRef SharedCluster::TakeCommitment(const Executor& executor) {
  Commitments& commitments = CommitmentsOf(executor);
  const StageRef stage = commitments.front().first;
  if (--commitments.front().second == 0) commitments.erase(commitments.begin());
  if (stage.none()) return stage;
  --StageOf(stage).committed;
  if (stage.job != executor.job) --JobOf(stage.job).coming;
  return stage;
}

void SharedCluster::FulfilCommitments() {
  const Executor source = ExecutorOf(looking_.front());
  while (!looking_.empty() && !CommitmentsOf(source).empty()) {
    const StageRef stage = TakeCommitment(source);
    const int32_t executor = looking_.front();
    looking_.erase(looking_.begin());
    Remove(IdleOf(ExecutorOf(executor).job), executor);
    GoTo(executor, stage);
  }
}

void SharedCluster::GoTo(int32_t executor, StageRef stage) {
  const int32_t of = ExecutorOf(executor).job;
  if (stage.none()) {
    const auto has_tasks = [&] {
      for (size_t i = 0; i < JobOf(of).stages.size(); ++i) {
        if (JobOf(of).stages[i].begun < (*JobOf(of).timed)[i].tasks) return true;
      }
      return false;
    };
    return Idle(of >= 0 && has_tasks() ? of : -1, executor);
  }
  if (StageOf(stage).begun == TimedOf(stage).tasks) return GoSomewhere(executor);
  if (of != stage.job) return Move(executor, stage);
  if (Runnable(stage)) return BeginTask(executor, stage);
  Idle(of, executor);
}

/// For an executor that came too late: every task of its stage has begun.
void SharedCluster::GoSomewhere(int32_t executor) {
  const int32_t of = ExecutorOf(executor).job;
  if (of >= 0) {
    for (const int32_t stage : JobOf(of).runnable) {
      if (Unclaimed({of, stage}) > 0) return BeginTask(executor, {of, stage});
    }
  }
  for (const int32_t number : live_) {
    for (int32_t i = 0; i < static_cast<int32_t>(JobOf(number).stages.size()); ++i) {
      if (Open({number, i})) return Move(executor, {number, i});
    }
  }
  Idle(of, executor);
}

void SharedCluster::Move(int32_t executor, StageRef stage) {
  LeaveJob(executor);
  ExecutorOf(executor).moving = stage;
  ++StageOf(stage).moving;
  ++JobOf(stage.job).coming;
  Push(now_ + options_.moving_ms, Happening::Kind::kArrives, executor);
}

void SharedCluster::BeginTask(int32_t executor, StageRef stage) {
  const int64_t takes = DrawTaskMs(ExecutorOf(executor), stage);
  LeaveStage(executor);
  ExecutorOf(executor).stage = stage;
  SharedStage& of = StageOf(stage);
  ++of.executors;
  if (++of.begun == TimedOf(stage).tasks) Remove(JobOf(stage.job).runnable, stage.stage);
  Push(now_ + takes, Happening::Kind::kTaskEnds, executor);
}

int64_t SharedCluster::DrawTaskMs(const Executor& executor, StageRef stage) {
  const TimedStage& timed = TimedOf(stage);
  const auto draw = [&](const std::vector<int32_t>& from) -> int64_t { return from[rng_.Below(from.size())]; };
  const TaskTimes& times = timed.times.at(DrawTimed(job(stage.job).executors, timed));
  if (executor.stage.none()) return times.fresh.empty() ? draw(times.first) + options_.warm_up_ms : draw(times.fresh);
  if (executor.stage == stage && !times.rest.empty()) return draw(times.rest);
  return draw(times.first.empty() ? times.fresh : times.first);
}

/// Of the two numbers of executors beside the job's with which queries were timed, one at random, as the environment
/// does; the largest one where the stage was not timed with it.
int32_t SharedCluster::DrawTimed(int32_t executors, const TimedStage& stage) {
  const auto* above = std::lower_bound(std::begin(kTimedWith), std::end(kTimedWith), executors);
  if (above == std::end(kTimedWith)) --above;
  int32_t with = *above;
  if (above != std::begin(kTimedWith) && executors < with) {
    const int32_t below = above[-1];
    if (rng_.Between(1, with - below) <= executors - below) with = below;
  }
  return stage.times.contains(with) ? with : stage.times.rbegin()->first;
}

void SharedCluster::LeaveStage(int32_t executor) {
  Executor& of = ExecutorOf(executor);
  if (!of.stage.none()) --StageOf(of.stage).executors;
  of.stage = {};
}

void SharedCluster::LeaveJob(int32_t executor) {
  LeaveStage(executor);
  Executor& of = ExecutorOf(executor);
  if (of.job >= 0) --JobOf(of.job).executors;
  of.job = -1;
}

void SharedCluster::Idle(int32_t job, int32_t executor) {
  if (job < 0) {
    LeaveJob(executor);
  } else {
    LeaveStage(executor);
  }
  IdleOf(job).push_back(executor);
}

void SharedCluster::JobArrives(int32_t number) {
  live_.push_back(number);
  if (idle_.empty()) return;
  looking_ = idle_;
  source_job_ = -1;
  source_executors_ = static_cast<int32_t>(idle_.size());
}

void SharedCluster::ExecutorArrives(int32_t number) {
  Executor& executor = ExecutorOf(number);
  const StageRef stage = std::exchange(executor.moving, {});
  if (!stage.none()) {
    --StageOf(stage).moving;
    --JobOf(stage.job).coming;
    executor.job = stage.job;
    ++JobOf(stage.job).executors;
    if (StageOf(stage).begun < TimedOf(stage).tasks) {
      return Runnable(stage) ? BeginTask(number, stage) : Idle(stage.job, number);
    }
  }
  GoSomewhere(number);
}

void SharedCluster::TaskEnds(int32_t executor) {
  const StageRef stage = ExecutorOf(executor).stage;
  SharedJob& job = JobOf(stage.job);
  bool more_runnable = false;
  if (++StageOf(stage).ended == TimedOf(stage).tasks) {
    ++job.stages_ended;
    more_runnable = MakeRunnable(stage);
  }
  FindWork(executor, more_runnable);
  if (job.stages_ended == static_cast<int32_t>(job.stages.size())) JobEnds(stage.job);
}

bool SharedCluster::MakeRunnable(StageRef ended) {
  bool any = false;
  for (const int32_t child : TimedOf(ended).children) {
    const StageRef stage{ended.job, child};
    if (StageOf(stage).begun == TimedOf(stage).tasks) continue;
    const std::vector<int32_t>& parents = TimedOf(stage).parents;
    const auto over = [&](int32_t parent) {
      return StageOf({ended.job, parent}).ended == TimedOf({ended.job, parent}).tasks;
    };
    if (!std::all_of(parents.begin(), parents.end(), over)) continue;
    any = true;
    if (!Runnable(stage)) JobOf(ended.job).runnable.push_back(child);
  }
  return any;
}

/// For an executor whose task has ended.
void SharedCluster::FindWork(int32_t number, bool stages_became_runnable) {
  const Executor executor = ExecutorOf(number);
  if (StageOf(executor.stage).begun < TimedOf(executor.stage).tasks) return BeginTask(number, executor.stage);
  const bool committed = !StageOf(executor.stage).commitments.empty();
  looking_ = {number};
  if (committed) FulfilCommitments();
  if (stages_became_runnable) {
    // Those that waited in this job for the new stages look for work, too.
    if (!committed) Idle(executor.job, number);
    looking_ = JobOf(executor.job).idle;
    source_job_ = executor.job;
    source_executors_ = static_cast<int32_t>(looking_.size());
  } else if (!committed) {
    // The choice holds for every executor of the stage: none has another task there.
    source_job_ = executor.job;
    source_executors_ = StageOf(executor.stage).executors;
  }
}

void SharedCluster::JobEnds(int32_t number) {
  SharedJob& job = JobOf(number);
  ended_ms_[static_cast<size_t>(number)] = now_ - job.submit_ms;
  for (int32_t i = 0; i < options_.executors; ++i) {
    Executor& executor = ExecutorOf(i);
    if (executor.job == number) LeaveJob(i);
    if (executor.moving.job == number) executor.moving = {};
  }
  idle_.insert(idle_.end(), job.idle.begin(), job.idle.end());
  Remove(live_, number);
  if (source_job_ == number) source_job_ = -1;
  ForgetCommitmentsTo(number, commitments_);
  for (const int32_t other : live_) {
    ForgetCommitmentsTo(number, JobOf(other).commitments);
    for (SharedStage& stage : JobOf(other).stages) ForgetCommitmentsTo(number, stage.commitments);
  }
  job.stages.clear();
  job.idle.clear();
}

void SharedCluster::ForgetCommitmentsTo(int32_t job, Commitments& commitments) {
  std::erase_if(commitments, [&](const auto& one) { return one.first.job == job; });
}

}  // namespace fairlead::sim
