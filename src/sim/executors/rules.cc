#include "sim/executors/rules.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"
#include "scheduler/shared/executor_shares.h"

namespace fairlead::sim {
namespace {

int32_t StagesOf(const SharedCluster& cluster, int32_t number) {
  return static_cast<int32_t>(cluster.job(number).stages.size());
}

bool HasUnclaimed(const SharedCluster& cluster, int32_t number) {
  for (int32_t i = 0; i < StagesOf(cluster, number); ++i) {
    if (cluster.Unclaimed({number, i}) > 0) return true;
  }
  return false;
}

int32_t ExecutorsOf(const SharedCluster& cluster, int32_t number) {
  return cluster.job(number).executors + cluster.job(number).coming;
}

/// An open stage of the job: one that runs at once, else the first; none: it has none.
StageRef FirstOpen(const SharedCluster& cluster, int32_t number) {
  for (const int32_t stage : cluster.job(number).runnable) {
    if (cluster.Open({number, stage})) return {number, stage};
  }
  for (int32_t i = 0; i < StagesOf(cluster, number); ++i) {
    if (cluster.Open({number, i})) return {number, i};
  }
  return {};
}

/// Mean time from the stage's begin to the end of the job along the longest path, one task a stage.
double PathFrom(const TimedJob& job, size_t stage, std::vector<double>& known) {
  if (known[stage] >= 0) return known[stage];
  double longest = 0;
  for (const int32_t child : job[stage].children) {
    longest = std::max(longest, PathFrom(job, static_cast<size_t>(child), known));
  }
  return known[stage] = longest + job[stage].mean_ms;
}

}  // namespace

ExecutorRule::Choice EqualShares::Choose(const SharedCluster& cluster) {
  const int32_t source = cluster.source_job();
  if (source >= 0) {
    const StageRef stage = FirstOpen(cluster, source);
    if (!stage.none()) return {stage, cluster.source_executors()};
  }
  int32_t jobs = 0;
  for (const int32_t number : cluster.live()) jobs += HasUnclaimed(cluster, number) ? 1 : 0;
  jobs = std::max(jobs, 1);
  const int32_t part = (cluster.executors() + jobs - 1) / jobs;
  for (const int32_t number : cluster.live()) {
    const int32_t has = ExecutorsOf(cluster, number);
    if (has >= part) continue;
    const StageRef stage = FirstOpen(cluster, number);
    if (!stage.none()) return {stage, part - has};
  }
  return {{}, cluster.source_executors()};
}

const char* EnumText(ShareReason reason) {
  switch (reason) {
    case ShareReason::kStays:
      return "stays with its job: the job has no more than its share, or no job with less work left waits";
    case ShareReason::kBelowShare:
      return "goes to the job with the least work left of those below their share";
    case ShareReason::kSpare:
      return "goes to the job with the least work left: all have their share or nothing to run";
    case ShareReason::kNothingOpen:
      return "stays idle: no stage may begin a task";
  }
  return "";
}

const LeastWorkFirst::Known& LeastWorkFirst::KnownOf(const SharedCluster& cluster, int32_t number) {
  // In order of submission, so that the factors do not depend on when a job is looked at.
  while (known_.size() <= static_cast<size_t>(number)) {
    const TimedJob& job = *cluster.job(static_cast<int32_t>(known_.size())).timed;
    Known& known = known_.emplace_back();
    known.factor = std::exp(misjudged_ * (2 * rng_.Unit() - 1));
    known.path_ms.assign(job.size(), -1);
    for (size_t i = 0; i < job.size(); ++i) PathFrom(job, i, known.path_ms);
  }
  return known_[static_cast<size_t>(number)];
}

double LeastWorkFirst::WorkLeft(const SharedCluster& cluster, int32_t number) {
  const SharedJob& job = cluster.job(number);
  double work = 0;
  for (size_t i = 0; i < job.stages.size(); ++i) {
    const TimedStage& timed = (*job.timed)[i];
    work += (timed.tasks - job.stages[i].begun) * timed.mean_ms;
  }
  return work * KnownOf(cluster, number).factor;
}

StageRef LeastWorkFirst::BestStage(const SharedCluster& cluster, int32_t number) {
  StageRef best;
  std::tuple<bool, double> highest;
  for (int32_t i = 0; i < StagesOf(cluster, number); ++i) {
    const StageRef stage{number, i};
    if (!cluster.Open(stage)) continue;
    const std::tuple<bool, double> rank{cluster.Runnable(stage),
                                        KnownOf(cluster, number).path_ms[static_cast<size_t>(i)]};
    if (!best.none() && rank <= highest) continue;
    best = stage;
    highest = rank;
  }
  return best;
}

ExecutorRule::Choice LeastWorkFirst::Decide(const SharedCluster& cluster, ShareReason& reason) {
  const std::vector<int32_t>& live = cluster.live();
  std::vector<scheduler::SharingJob> jobs;
  std::vector<StageRef> open;
  size_t source = live.size();
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i] == cluster.source_job()) source = i;
    open.push_back(BestStage(cluster, live[i]));
    jobs.push_back({WorkLeft(cluster, live[i]), ExecutorsOf(cluster, live[i]), HasUnclaimed(cluster, live[i])});
  }
  const scheduler::ExecutorShares shares(jobs, cluster.executors());
  if (source < live.size() && !open[source].none()) {
    const int32_t leave = shares.LessWorkWaits(source) ? shares.Excess(source) : 0;
    const int32_t stay = cluster.source_executors() - leave;
    reason = ShareReason::kStays;
    if (stay > 0) return {open[source], stay};
  }
  reason = ShareReason::kBelowShare;
  for (const size_t job : shares.order()) {
    if (shares.Missing(job) > 0 && !open[job].none()) return {open[job], shares.Missing(job)};
  }
  reason = ShareReason::kSpare;
  if (source < live.size() && !open[source].none()) return {open[source], cluster.source_executors()};
  for (const size_t job : shares.order()) {
    if (!open[job].none()) return {open[job], 1};
  }
  reason = ShareReason::kNothingOpen;
  return {{}, cluster.source_executors()};
}

ExecutorRule::Choice LeastWorkFirst::Choose(const SharedCluster& cluster) {
  ShareReason reason = ShareReason::kStays;
  const Choice choice = Decide(cluster, reason);
  ++reasons_[reason];
  if (tell_) tell_(Sentence(cluster, choice, reason));
  return choice;
}

std::string LeastWorkFirst::Sentence(const SharedCluster& cluster, const Choice& choice, ShareReason reason) {
  const int64_t now = cluster.now_ms();
  const std::string ms = std::to_string(1000 + now % 1000).substr(1);
  const int32_t executors = std::min(choice.executors, cluster.source_executors());
  std::string text = std::to_string(now / 1000) + "." + ms + " s: " + base::Counted(executors, "executor") + " of " +
                     (cluster.source_job() < 0 ? "no job" : "job " + std::to_string(cluster.source_job()));
  if (!choice.stage.none()) {
    text += " for stage " + std::to_string(choice.stage.stage) + " of job " + std::to_string(choice.stage.job) +
            ", which has " + std::to_string(ExecutorsOf(cluster, choice.stage.job));
  }
  return text + ": " + EnumText(reason);
}

}  // namespace fairlead::sim
