#include "sim/traces/comparison_report.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/codec.h"
#include "base/text.h"
#include "report/comparison.h"
#include "report/words.h"
#include "sim/traces/page.h"
#include "sim/traces/report.h"

namespace fairlead::sim {

namespace v1 = endpoints::v1;
using report::FromTo;
using report::NumberText;
using report::ReasonText;
using report::Table;

namespace {

constexpr size_t kRowsOfPage = 100;
constexpr size_t kPlacesTold = 5;
/// Where there are many runs.
constexpr report::Most kOfMany{.named = 0, .groups = 2};
/// A reason that held less of the waiting is in JSON alone.
constexpr double kLeastHeld = 0.05;

std::string HeldText(const std::vector<HeldBy>& held) {
  std::string text;
  for (const HeldBy& one : held) {
    if (one.part < kLeastHeld) continue;
    text += (text.empty() ? "" : ", ") + ReasonText(one.reason) + " " + report::WholePercent(one.part);
  }
  return text.empty() ? "-" : text;
}

/// How long the jobs wait, and what held those of the side that waits longer.
std::string WhyText(const Comparison& comparison, const GroupComparison& group) {
  const auto waits = [&](int64_t JobTimes::*part) { return FromTo(group.from.wait.*part, group.to.wait.*part); };
  std::string text = "The first container comes after " + waits(&JobTimes::median_ms) + " at the median, " +
                     waits(&JobTimes::p95_ms) + " at p95.";
  const bool later = group.change == Change::kLater;
  const std::vector<HeldBy>& held = later ? group.to.held : group.from.held;
  if (held.empty()) return text;
  return text + " Under " + (later ? comparison.to : comparison.from).name + " they waited for " + HeldText(held) +
         "; first of these: " + held[0].detail + " (" + held[0].remedy + ").";
}

std::string PlaceText(const std::string& queue, bool refused) {
  if (refused) return "refused: " + queue;
  return queue.empty() ? "not begun" : queue;
}

std::string PlaceSentence(const Comparison& comparison, const QueuePlace& place) {
  const auto side = [](const std::string& name, const std::string& queue, bool refused) {
    return name + (refused ? " refuses them (" + queue + ")" : " runs them in " + (queue.empty() ? "none" : queue));
  };
  return "Queue " + place.asked + ", asked for by " + base::Counted(place.jobs, "job") + ": " +
         side(comparison.from.name, place.from, place.refused_from) + ", " +
         side(comparison.to.name, place.to, place.refused_to) + ".";
}

/// Limits that held jobs of a queue in `in` alone.
std::vector<v1::BindingLimit> LimitsOf(const Comparison& comparison, GroupSide GroupComparison::*without,
                                       GroupSide GroupComparison::*in) {
  std::vector<v1::BindingLimit> limits;
  for (const GroupComparison& queue : comparison.queues) {
    const auto held = [&](const std::vector<HeldBy>& all, model::scheduler::PendingReason reason) {
      return std::any_of(all.begin(), all.end(), [&](const HeldBy& one) { return one.reason == reason; });
    };
    for (const HeldBy& one : (queue.*in).held) {
      if (!report::IsLimit(one.reason) || one.part < kLeastHeld || held((queue.*without).held, one.reason)) continue;
      limits.push_back({queue.name, std::string(EnumName(one.reason))});
    }
  }
  return limits;
}

/// Sums of the jobs, with the times of those that ended in both runs beside them.
std::vector<report::Group> GroupsOf(const Comparison& comparison, const std::vector<v1::AppFates>& jobs,
                                    std::string v1::AppFates::*name, const std::vector<GroupComparison>& compared) {
  std::map<std::string_view, const GroupComparison*> by_name;
  for (const GroupComparison& group : compared) by_name[group.name] = &group;
  std::vector<report::Group> groups = report::GroupsOf(jobs, name, {}, false);
  for (report::Group& group : groups) {
    const GroupComparison& own = *by_name.at(group.sums.name);
    const auto times = [&](JobTimes GroupSide::*what, int64_t JobTimes::*part) {
      return FromTo(own.from.*what.*part, own.to.*what.*part);
    };
    group.told = own.change != Change::kSame;
    group.why = WhyText(comparison, own);
    group.cells = {
        times(&GroupSide::wait, &JobTimes::median_ms),
        times(&GroupSide::wait, &JobTimes::p95_ms),
        times(&GroupSide::completion, &JobTimes::median_ms),
        times(&GroupSide::completion, &JobTimes::p95_ms),
        times(&GroupSide::completion, &JobTimes::mean_ms) + NumberText(" (%+.0f %%)", own.relative_change * 100),
        HeldText(own.from.held),
        HeldText(own.to.held)};
  }
  return groups;
}

report::Comparison Told(const Comparison& comparison, const RunResult& from, const RunResult& to) {
  report::Comparison told{
      .unit = "job", .before = "under " + from.profile, .after = "under " + to.profile, .then = "after"};
  told.apps = FatesOf(from, to);
  told.queues = GroupsOf(comparison, told.apps, &v1::AppFates::queue, comparison.queues);
  told.users = GroupsOf(comparison, told.apps, &v1::AppFates::user, comparison.users);
  told.columns = {"wait p50", "wait p95", "end p50", "end p95", "end, mean", "held before", "held after"};
  told.taken = {{"all jobs", to.preempted - from.preempted}};
  told.lost = (to.lost_containers - to.preempted) - (from.lost_containers - from.preempted);
  told.limits = LimitsOf(comparison, &GroupComparison::from, &GroupComparison::to);
  told.limits_no_more = LimitsOf(comparison, &GroupComparison::to, &GroupComparison::from);
  told.used_before = from.memory;
  told.used_after = to.memory;
  return told;
}

/// What the runs say besides.
std::vector<std::string> Besides(const Comparison& comparison) {
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(kPlacesTold, comparison.places.size()); ++i)
    out.push_back(PlaceSentence(comparison, comparison.places[i]));
  for (const RunSummary* run : {&comparison.from, &comparison.to}) {
    if (run->unended > 0) out.push_back("Under " + run->name + " not all jobs end: " + run->problem + ".");
    for (const std::string& note : run->notes) out.push_back("Under " + run->name + ": " + note + ".");
  }
  return out;
}

Table PlaceTable(const Comparison& comparison) {
  Table table{"Queues that jobs asked for and did not get",
              {"asked for", "jobs", comparison.from.name, comparison.to.name},
              {}};
  for (const QueuePlace& place : comparison.places) {
    table.rows.push_back({{place.asked, std::to_string(place.jobs), PlaceText(place.from, place.refused_from),
                           PlaceText(place.to, place.refused_to)}});
  }
  return table;
}

Table DifferenceTable(const Comparison& comparison) {
  Table table{
      "What the configurations say otherwise", {"queue", "setting", comparison.from.name, comparison.to.name}, {}};
  const auto text = [](const std::string& value) { return value.empty() ? "-" : value; };
  for (const SettingDifference& one : comparison.differences) {
    table.rows.push_back({{one.queue.empty() ? "(all)" : one.queue, one.setting, text(one.from), text(one.to)}});
  }
  return table;
}

/// Seconds of each job's submission to `end`.
std::string TimesPlot(const std::vector<RunResult>& runs, const std::string& title, int64_t JobResult::*end) {
  std::vector<Distribution> lines;
  for (const RunResult& run : runs) {
    lines.push_back({run.profile, {}});
    for (const JobResult& job : run.job_results)
      lines.back().values.push_back(static_cast<double>(job.*end - job.submit_ms) / 1000);
  }
  return report::Figure(title, DistributionPlot(title, "seconds after the submission", 1, std::move(lines)));
}

/// What the runs were of, their figures side by side, and pictures.
report::Report Begin(const std::vector<RunResult>& runs) {
  const RunResult& first = runs[0];
  report::Report out;
  out.title = first.trace;
  out.about = {base::Counted(first.jobs + first.rejected + first.unfinished, "job") + ", " +
               base::Counted(first.tasks, "task") + ", " + base::Counted(first.nodes, "node") + " (" +
               base::Counted(first.cluster.vcores(), "core") + ", " +
               std::to_string(first.cluster.memory_mib() / 1024) + " GiB), seed " + std::to_string(first.seed)};
  out.tables = {MetricTable(runs)};
  out.figures = {TimesPlot(runs, "Wait for the first container", &JobResult::first_container_ms),
                 TimesPlot(runs, "Completion", &JobResult::end_ms), SlowdownFigure(runs), UseFigures(runs),
                 ShareFigures(runs)};
  return out;
}

}  // namespace

report::Report ReportOf(Comparison& comparison, const std::vector<RunResult>& runs) {
  const report::Comparison told = Told(comparison, runs[0], runs[1]);
  comparison.sentences = report::Sentences(told);
  std::ranges::move(Besides(comparison), std::back_inserter(comparison.sentences));
  report::Report out = Begin(runs);
  out.parts = {{"", comparison.sentences}};
  std::vector<Table> tables = report::Tables(told, kRowsOfPage);
  tables.push_back(PlaceTable(comparison));
  tables.push_back(DifferenceTable(comparison));
  for (Table& table : tables) {
    report::Cut(table, kRowsOfPage);
    if (!table.rows.empty()) out.tables.push_back(std::move(table));
  }
  return out;
}

report::Report ReportOf(const std::vector<RunResult>& runs) {
  report::Report out = Begin(runs);
  for (size_t i = 1; i < runs.size(); ++i) {
    const Comparison comparison = CompareRuns(runs[0], runs[i]);
    out.parts.push_back({runs[i].profile + " instead of " + runs[0].profile,
                         report::Sentences(Told(comparison, runs[0], runs[i]), kOfMany)});
  }
  out.tables.push_back(QueueTable(runs));
  return out;
}

std::string ComparisonJson(const Comparison& comparison) {
  std::string out;
  base::ToJson(out, comparison);
  return out + "\n";
}

}  // namespace fairlead::sim
