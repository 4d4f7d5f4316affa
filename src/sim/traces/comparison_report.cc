#include "sim/traces/comparison_report.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/codec.h"
#include "base/text.h"
#include "process/http/http.h"
#include "sim/traces/page.h"
#include "sim/traces/report.h"

namespace fairlead::sim {

using process::http::HtmlEscape;

namespace {

constexpr size_t kRowsOfPage = 100;
constexpr size_t kSentencesOfPage = 8;
/// A reason that held less of the waiting is in JSON alone.
constexpr double kLeastHeld = 0.05;

/// "user limit" of USER_LIMIT.
std::string ReasonText(model::scheduler::PendingReason reason) {
  std::string text(EnumName(reason));
  for (char& c : text) c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string WholePercent(double part) { return NumberText("%.0f %%", part * 100); }

std::string HeldText(const std::vector<HeldBy>& held) {
  std::string text;
  for (const HeldBy& one : held) {
    if (one.part < kLeastHeld) continue;
    text += (text.empty() ? "" : ", ") + ReasonText(one.reason) + " " + WholePercent(one.part);
  }
  return text.empty() ? "-" : text;
}

/// "+12 min 3 s (+85 %)"
std::string ChangeText(const GroupComparison& group) {
  if (group.compared == 0) return "-";
  const std::string sign = group.mean_change_ms < 0 ? "-" : "+";
  return sign + SpanText(std::abs(group.mean_change_ms)) + " (" + NumberText("%+.0f %%", group.relative_change * 100) +
         ")";
}

std::string FromTo(int64_t from_ms, int64_t to_ms) { return SpanText(from_ms) + " -> " + SpanText(to_ms); }

/// What held the jobs of the side that waits longer.
std::string WhyText(const Comparison& comparison, const GroupComparison& group) {
  const bool later = group.change == Change::kLater;
  const std::vector<HeldBy>& held = later ? group.to.held : group.from.held;
  if (held.empty()) return "";
  const HeldBy& first = held[0];
  return " Under " + (later ? comparison.to : comparison.from).name + " they waited for " + HeldText(held) +
         "; first of these: " + first.detail + " (" + first.remedy + ").";
}

std::string GroupSentence(const Comparison& comparison, const std::string& what, const GroupComparison& group) {
  std::string text = what + " " + group.name + " waits " + (group.change == Change::kLater ? "longer" : "shorter") +
                     ": " + base::Counted(group.compared, "job") + " " + (group.compared == 1 ? "ends" : "end") + " " +
                     SpanText(std::abs(group.mean_change_ms)) +
                     (group.change == Change::kLater ? " later" : " sooner") + " on the mean (" +
                     NumberText("%+.0f %%", group.relative_change * 100) + "); the first container comes after " +
                     FromTo(group.from.wait.median_ms, group.to.wait.median_ms) + " at the median, " +
                     FromTo(group.from.wait.p95_ms, group.to.wait.p95_ms) + " at p95.";
  return text + WhyText(comparison, group);
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

void AddGroups(const Comparison& comparison, const std::string& what, const std::vector<GroupComparison>& groups,
               size_t most, std::vector<std::string>& out) {
  for (const GroupComparison& group : groups) {
    if (most == 0) return;
    if (group.change == Change::kSame) continue;
    out.push_back(GroupSentence(comparison, what, group));
    --most;
  }
}

void Cut(ReportTable& table, size_t most) {
  if (table.rows.size() <= most) return;
  table.left_out = table.rows.size() - most;
  table.rows.resize(most);
}

ReportTable GroupTable(const std::string& title, const std::string& what, const std::vector<GroupComparison>& groups) {
  ReportTable table{title,
                    {what, "jobs", "wait p50", "wait p95", "end p50", "end p95", "mean change", "later", "sooner",
                     "held before", "held after"},
                    {}};
  for (const GroupComparison& group : groups) {
    const GroupSide& from = group.from;
    const GroupSide& to = group.to;
    table.rows.push_back(
        {group.name, std::to_string(group.jobs), FromTo(from.wait.median_ms, to.wait.median_ms),
         FromTo(from.wait.p95_ms, to.wait.p95_ms), FromTo(from.completion.median_ms, to.completion.median_ms),
         FromTo(from.completion.p95_ms, to.completion.p95_ms), ChangeText(group), std::to_string(group.later),
         std::to_string(group.sooner), HeldText(from.held), HeldText(to.held)});
  }
  return table;
}

ReportTable PlaceTable(const Comparison& comparison) {
  ReportTable table{"Queues that jobs asked for and did not get",
                    {"asked for", "jobs", comparison.from.name, comparison.to.name},
                    {}};
  for (const QueuePlace& place : comparison.places) {
    table.rows.push_back({place.asked, std::to_string(place.jobs), PlaceText(place.from, place.refused_from),
                          PlaceText(place.to, place.refused_to)});
  }
  return table;
}

ReportTable DifferenceTable(const Comparison& comparison) {
  ReportTable table{
      "What the configurations say otherwise", {"queue", "setting", comparison.from.name, comparison.to.name}, {}};
  const auto text = [](const std::string& value) { return value.empty() ? "-" : value; };
  for (const SettingDifference& one : comparison.differences) {
    table.rows.push_back({one.queue.empty() ? "(all)" : one.queue, one.setting, text(one.from), text(one.to)});
  }
  return table;
}

std::string Paragraphs(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += "<p>" + HtmlEscape(text) + "</p>";
  return out;
}

/// Seconds of each job's `from` to `to`.
std::string TimesPlot(const std::vector<RunResult>& runs, const std::string& title, int64_t JobResult::*end) {
  std::vector<Distribution> lines;
  for (const RunResult& run : runs) {
    lines.push_back({run.profile, {}});
    for (const JobResult& job : run.job_results)
      lines.back().values.push_back(static_cast<double>(job.*end - job.submit_ms) / 1000);
  }
  return Figure(title, DistributionPlot(title, "seconds after the submission", 1, std::move(lines)));
}

}  // namespace

std::vector<std::string> SentencesOf(const Comparison& comparison, size_t most) {
  std::vector<std::string> out;
  AddGroups(comparison, "Queue", comparison.queues, most, out);
  AddGroups(comparison, "User", comparison.users, most, out);
  if (out.empty()) {
    out.emplace_back("No queue's and no user's jobs end later or sooner by a second and a hundredth on the mean.");
  }
  for (size_t i = 0; i < std::min(most, comparison.places.size()); ++i)
    out.push_back(PlaceSentence(comparison, comparison.places[i]));
  for (const RunSummary* run : {&comparison.from, &comparison.to}) {
    if (run->unended > 0) out.push_back("Under " + run->name + " not all jobs end: " + run->problem + ".");
    for (const std::string& note : run->notes) out.push_back("Under " + run->name + ": " + note + ".");
  }
  return out;
}

std::vector<ReportTable> TablesOf(const Comparison& comparison, size_t most) {
  std::vector<ReportTable> tables = {GroupTable("Queues", "queue", comparison.queues),
                                     GroupTable("Users", "user", comparison.users), PlaceTable(comparison),
                                     DifferenceTable(comparison)};
  std::erase_if(tables, [](const ReportTable& table) { return table.rows.empty(); });
  for (ReportTable& table : tables) Cut(table, most);
  return tables;
}

std::string ComparisonJson(const Comparison& comparison) {
  std::string out;
  base::ToJson(out, comparison);
  return out + "\n";
}

std::string ComparisonHtml(const Comparison& comparison, const std::vector<RunResult>& runs) {
  std::string out = "<p class=\"soft\">" + base::Counted(comparison.jobs, "job") + " on " +
                    base::Counted(comparison.nodes, "node") + ", seed " + std::to_string(comparison.seed) + "; " +
                    HtmlEscape(comparison.from.name) + " against " + HtmlEscape(comparison.to.name) + "</p>";
  out += Paragraphs(SentencesOf(comparison, kSentencesOfPage));
  out += "<h2>Both runs</h2>" + MetricsHtml(runs) + "<div class=\"plots\">" +
         TimesPlot(runs, "Wait for the first container", &JobResult::first_container_ms) +
         TimesPlot(runs, "Completion", &JobResult::end_ms) + UseFigures(runs) + ShareFigures(runs) + "</div>";
  for (const ReportTable& table : TablesOf(comparison, kRowsOfPage)) {
    std::vector<TableRow> rows;
    for (const std::vector<std::string>& cells : table.rows) rows.push_back({cells});
    out += "<h2>" + HtmlEscape(table.title) + "</h2>" + TableHtml(table.header, rows);
    if (table.left_out > 0) out += "<p class=\"soft\">and " + std::to_string(table.left_out) + " more</p>";
  }
  return PageHtml(comparison.trace, out);
}

}  // namespace fairlead::sim
