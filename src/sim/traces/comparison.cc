#include "sim/traces/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

namespace fairlead::sim {
namespace {

/// Less is no change.
constexpr int64_t kLeastMs = 1000;
constexpr double kLeastPart = 0.01;
constexpr size_t kMostChanged = 20;

/// What became of one job in one run.
struct Outcome {
  const JobResult* job = nullptr;
  const UnendedJob* unended = nullptr;  // if it is that
  bool ended() const { return job != nullptr && unended == nullptr; }
  int64_t wait_ms() const { return job->first_container_ms - job->submit_ms; }
  int64_t completion_ms() const { return job->end_ms - job->submit_ms; }
};

struct Pair {
  Outcome from;
  Outcome to;
  const JobResult& job() const { return from.job != nullptr ? *from.job : *to.job; }
  bool both_ended() const { return from.ended() && to.ended(); }
  int64_t change_ms() const { return to.completion_ms() - from.completion_ms(); }
};

using Pairs = std::vector<const Pair*>;

void Collect(const RunResult& run, Outcome Pair::*side, std::map<int64_t, Pair>& pairs) {
  for (const JobResult& job : run.job_results) pairs[job.number].*side = {&job, nullptr};
  for (const UnendedJob& unended : run.unended_jobs) pairs[unended.job.number].*side = {&unended.job, &unended};
}

JobTimes TimesOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return {std::llround(Quantile(values, 0.5)), std::llround(Quantile(values, 0.95)),
          std::llround(sum / static_cast<double>(values.size()))};
}

using HeldByName = std::map<std::string, std::map<model::scheduler::PendingReason, HeldBy>>;

/// Sums over whatever is not in the name; the numbers are those of the one that waited longest.
HeldByName SumHeld(const RunResult& run, std::string HeldWait::*name) {
  HeldByName sums;
  std::map<const HeldBy*, double> longest;
  for (const HeldWait& held : run.held_waits) {
    HeldBy& sum = sums[held.*name][held.reason];
    sum.reason = held.reason;
    sum.job_seconds += held.job_seconds;
    double& most = longest[&sum];
    if (held.job_seconds < most) continue;
    most = held.job_seconds;
    sum.detail = held.detail;
    sum.remedy = held.remedy;
  }
  return sums;
}

std::vector<HeldBy> HeldOf(const HeldByName& sums, const std::string& name) {
  std::vector<HeldBy> held;
  const auto found = sums.find(name);
  if (found == sums.end()) return held;
  double all = 0;
  for (const auto& [reason, sum] : found->second) all += sum.job_seconds;
  for (const auto& [reason, sum] : found->second) {
    held.push_back(sum);
    held.back().part = all > 0 ? sum.job_seconds / all : 0;
  }
  std::stable_sort(held.begin(), held.end(), [](const HeldBy& a, const HeldBy& b) { return a.part > b.part; });
  return held;
}

GroupSide SideOf(const Pairs& pairs, Outcome Pair::*side) {
  GroupSide out;
  std::vector<double> waits;
  std::vector<double> completions;
  for (const Pair* pair : pairs) {
    const Outcome& outcome = pair->*side;
    if (outcome.ended()) ++out.ended;
    if (outcome.unended != nullptr) ++(outcome.unended->refused ? out.refused : out.unended);
    if (!pair->both_ended()) continue;
    waits.push_back(static_cast<double>(outcome.wait_ms()));
    completions.push_back(static_cast<double>(outcome.completion_ms()));
  }
  out.wait = TimesOf(std::move(waits));
  out.completion = TimesOf(std::move(completions));
  return out;
}

GroupComparison CompareGroup(const std::string& name, const Pairs& pairs) {
  GroupComparison group;
  group.name = name;
  group.jobs = static_cast<int64_t>(pairs.size());
  group.from = SideOf(pairs, &Pair::from);
  group.to = SideOf(pairs, &Pair::to);
  for (const Pair* pair : pairs) {
    if (!pair->both_ended()) continue;
    ++group.compared;
    if (pair->change_ms() >= kLeastMs) ++group.later;
    if (pair->change_ms() <= -kLeastMs) ++group.sooner;
  }
  const int64_t before = group.from.completion.mean_ms;
  group.mean_change_ms = group.to.completion.mean_ms - before;
  if (before > 0) group.relative_change = static_cast<double>(group.mean_change_ms) / static_cast<double>(before);
  if (std::abs(group.mean_change_ms) >= kLeastMs && (before == 0 || std::abs(group.relative_change) >= kLeastPart)) {
    group.change = group.mean_change_ms > 0 ? Change::kLater : Change::kSooner;
  }
  return group;
}

/// Groups by queue or by user; those whose jobs lose or gain most time in sum come first.
std::vector<GroupComparison> CompareGroups(const std::map<int64_t, Pair>& pairs, std::string JobResult::*name,
                                           const HeldByName& held_from, const HeldByName& held_to) {
  std::map<std::string, Pairs> groups;
  for (const auto& [number, pair] : pairs) groups[pair.job().*name].push_back(&pair);
  std::vector<GroupComparison> out;
  for (const auto& [group, members] : groups) {
    out.push_back(CompareGroup(group, members));
    out.back().from.held = HeldOf(held_from, group);
    out.back().to.held = HeldOf(held_to, group);
  }
  const auto sum = [](const GroupComparison& group) { return std::abs(group.mean_change_ms) * group.compared; };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return sum(a) > sum(b); });
  return out;
}

std::vector<JobComparison> MostChanged(const std::map<int64_t, Pair>& all) {
  Pairs pairs;
  for (const auto& [number, pair] : all) {
    if (pair.both_ended() && std::abs(pair.change_ms()) >= kLeastMs) pairs.push_back(&pair);
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair* a, const Pair* b) { return std::abs(a->change_ms()) > std::abs(b->change_ms()); });
  pairs.resize(std::min(pairs.size(), kMostChanged));
  std::vector<JobComparison> out;
  for (const Pair* pair : pairs) {
    const JobResult& job = pair->job();
    out.push_back({job.name, job.asked_queue, job.user, pair->from.wait_ms(), pair->to.wait_ms(),
                   pair->from.completion_ms(), pair->to.completion_ms()});
  }
  return out;
}

/// The queue in which it ran, or why not; empty: it waited in vain.
std::string PlaceOf(const Outcome& outcome) {
  return outcome.unended != nullptr && outcome.unended->refused ? outcome.unended->why : outcome.job->queue;
}

std::vector<QueuePlace> PlacesOf(const std::map<int64_t, Pair>& pairs) {
  std::map<std::vector<std::string>, QueuePlace> places;
  for (const auto& [number, pair] : pairs) {
    if (pair.from.job == nullptr || pair.to.job == nullptr) continue;
    const std::string& asked = pair.job().asked_queue;
    const std::string from = PlaceOf(pair.from);
    const std::string to = PlaceOf(pair.to);
    if ((from.empty() || from == asked) && (to.empty() || to == asked)) continue;
    QueuePlace& place = places[{asked, from, to}];
    const auto refused = [](const Outcome& outcome) { return outcome.unended != nullptr && outcome.unended->refused; };
    place = {asked, place.jobs + 1, from, to, refused(pair.from), refused(pair.to)};
  }
  std::vector<QueuePlace> out;
  for (auto& [key, place] : places) out.push_back(std::move(place));
  return out;
}

RunSummary SummaryOf(const RunResult& run) {
  RunSummary summary;
  summary.name = run.profile;
  summary.ended = run.jobs;
  summary.refused = run.rejected;
  summary.unended = run.unfinished;
  summary.problem = run.first_problem;
  summary.makespan_ms = run.makespan_ms;
  summary.cpu = run.cpu;
  summary.memory = run.memory;
  summary.preempted = run.preempted;
  summary.lost_part = run.lost_part();
  return summary;
}

}  // namespace

std::string_view EnumName(Change change) {
  switch (change) {
    case Change::kSame:
      return "SAME";
    case Change::kLater:
      return "LATER";
    case Change::kSooner:
      return "SOONER";
  }
  return "?";
}

std::vector<endpoints::v1::AppFates> FatesOf(const RunResult& from, const RunResult& to) {
  std::map<int64_t, Pair> pairs;
  Collect(from, &Pair::from, pairs);
  Collect(to, &Pair::to, pairs);
  const auto fate = [](const Outcome& outcome) {
    endpoints::v1::Fate out;
    if (outcome.job && outcome.job->first_container_ms >= 0) out.first_ms = outcome.wait_ms();
    if (outcome.ended()) out.end_ms = outcome.completion_ms();
    return out;
  };
  std::vector<endpoints::v1::AppFates> fates;
  for (const auto& [number, pair] : pairs) {
    const JobResult& job = pair.job();
    fates.push_back({job.name.empty() ? "job " + std::to_string(number) : job.name, "", job.user, job.asked_queue,
                     fate(pair.from), fate(pair.to)});
  }
  return fates;
}

Comparison CompareRuns(const RunResult& from, const RunResult& to) {
  Comparison out;
  std::map<int64_t, Pair> pairs;
  Collect(from, &Pair::from, pairs);
  Collect(to, &Pair::to, pairs);
  out.trace = from.trace;
  out.seed = from.seed;
  out.nodes = from.nodes;
  out.jobs = static_cast<int64_t>(pairs.size());
  out.from = SummaryOf(from);
  out.to = SummaryOf(to);
  Pairs all;
  for (const auto& [number, pair] : pairs) all.push_back(&pair);
  out.all = CompareGroup("all jobs", all);
  out.queues = CompareGroups(pairs, &JobResult::asked_queue, SumHeld(from, &HeldWait::asked_queue),
                             SumHeld(to, &HeldWait::asked_queue));
  out.users = CompareGroups(pairs, &JobResult::user, SumHeld(from, &HeldWait::user), SumHeld(to, &HeldWait::user));
  out.most_changed = MostChanged(pairs);
  out.places = PlacesOf(pairs);
  return out;
}

}  // namespace fairlead::sim
