#include "engine/history/history_page.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "engine/history/history_format.h"
#include "process/http/http.h"

namespace fairlead::engine::history {

namespace {

/// Bounds of the page: bars of the timeline, rows of one stage's table.
constexpr size_t kBarsMax = 4000;
constexpr size_t kTaskRowsMax = 200;
constexpr int kTimelineWidth = 1000;
constexpr int kLane = 12;
constexpr int kColours = 8;

constexpr char kHead[] = R"(<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root{color-scheme:light dark;--line:#c9ced6;--soft:#f3f5f8;--text:#1c2026;--back:#fff;--quiet:#5c6672;--good:#2c7a4b;
--bad:#b3261e;--warn:#9a6700;--c0:#4477aa;--c1:#66a8a0;--c2:#228833;--c3:#a39b2f;--c4:#c55566;--c5:#aa3377;--c6:#7a6fbe;
--c7:#8a8f98}
@media (prefers-color-scheme:dark){:root{--line:#3a414b;--soft:#1e232a;--text:#e2e6ec;--back:#14171b;--quiet:#98a2ae;
--good:#5cc28a;--bad:#f2837b;--warn:#e0b04c}}
body{font:14px/1.45 system-ui,sans-serif;margin:1.5em auto;max-width:78em;padding:0 1em;color:var(--text);
background:var(--back)}
h1{font-size:1.35em;margin:0 0 .2em}h2{font-size:1.1em;margin:1.6em 0 .5em}
p{margin:.3em 0}.quiet{color:var(--quiet)}.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{border-bottom:1px solid var(--line);padding:.28em .6em;text-align:left;vertical-align:top;white-space:nowrap}
td.name,td.reason{white-space:normal;min-width:12em;overflow-wrap:anywhere}th{background:var(--soft);font-weight:600}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.mark{border:1px solid currentColor;border-radius:.3em;padding:0 .35em;margin-right:.3em;font-size:.86em}
.bar{display:inline-block;width:7em;height:.7em;background:var(--soft);border:1px solid var(--line);vertical-align:middle}
.bar i{display:block;height:100%;background:var(--c0)}
details{margin:.4em 0}summary{cursor:pointer}svg{width:100%;height:auto;background:var(--soft);display:block}
svg text{fill:var(--quiet);font:9px system-ui,sans-serif}
.k0{fill:var(--c0)}.k1{fill:var(--c1)}.k2{fill:var(--c2)}.k3{fill:var(--c3)}.k4{fill:var(--c4)}.k5{fill:var(--c5)}
.k6{fill:var(--c6)}.k7{fill:var(--c7)}.kbad{fill:var(--bad)}.live{opacity:.6}
</style>)";

/// A link to a stage opens it.
constexpr char kOpen[] = R"(<script>
const show=()=>{const part=document.getElementById(location.hash.slice(1));if(part)part.open=true};
addEventListener("hashchange",show);addEventListener("DOMContentLoaded",show);
</script>)";

/// Renews the page in place, so that open parts and the place on it stay.
constexpr char kRenew[] = R"(<script>
setInterval(async()=>{try{const answer=await fetch(location.href,{cache:"no-store"});if(!answer.ok)return;
const next=new DOMParser().parseFromString(await answer.text(),"text/html");
const open=new Set([...document.querySelectorAll("details[open]")].map(d=>d.id));
next.querySelectorAll("details").forEach(d=>{if(open.has(d.id))d.open=true});
document.querySelector("main").replaceWith(next.querySelector("main"));}catch(error){}},2000);
</script><noscript><meta http-equiv="refresh" content="5"></noscript>)";

std::string Escaped(const std::string& text) { return process::http::HtmlEscape(text); }
std::string Number(int64_t value) { return std::to_string(value); }
std::string Cell(const std::string& text, const char* kind = "") {
  return (*kind == 0 ? "<td>" : std::string("<td class=\"") + kind + "\">") + text + "</td>";
}
std::string Mark(const char* kind, const std::string& text, const std::string& title) {
  return std::string("<span class=\"mark ") + kind + "\" title=\"" + Escaped(title) + "\">" + text + "</span>";
}

std::string StateMark(const std::string& state) {
  const char* const kind = state == "done"        ? "good"
                           : state == "running"   ? "warn"
                           : state == "not ended" ? "quiet"
                                                  : "bad";
  return std::string("<span class=\"") + kind + "\">" + state + "</span>";
}

std::string StageName(const StageRow& stage) {
  return Number(stage.started.stage) + (stage.started.attempt > 0 ? "." + Number(stage.started.attempt) : "");
}

std::string StageId(const StageRow& stage) {
  return "stage-" + Number(stage.started.stage) + "-" + Number(stage.started.attempt);
}

int ColourOf(const StageRow& stage) { return stage.started.stage % kColours; }

std::string ProgressBar(int64_t done, int64_t all) {
  const int64_t percent = all <= 0 ? 100 : std::clamp<int64_t>(done * 100 / all, 0, 100);
  return "<span class=\"bar\"><i style=\"width:" + Number(percent) + "%\"></i></span> " + Number(done) + "/" +
         Number(all);
}

std::string MarksOf(const StageRow& stage, const StageSummary& sum) {
  std::string marks;
  if (sum.skewed()) {
    marks +=
        Mark("warn", "skew",
             "slowest task " + DurationText(sum.duration_ms.max) + ", median " + DurationText(sum.duration_ms.median) +
                 "; largest input " + BytesText(sum.read_bytes.max) + ", median " + BytesText(sum.read_bytes.median));
  }
  if (sum.spilled_bytes > 0) marks += Mark("warn", "spill", BytesText(sum.spilled_bytes) + " written to scratch files");
  if (stage.failed > 0) marks += Mark("bad", Number(stage.failed) + " failed", "attempts that did not succeed");
  if (sum.bad_records > 0) marks += Mark("warn", Number(sum.bad_records) + " bad records", "counted and left out");
  if (sum.speculative > 0) marks += Mark("quiet", Number(sum.speculative) + " speculative", "copies of slow tasks");
  return marks;
}

std::string LevelsOf(const StageSummary& sum) {
  std::string text;
  for (const auto& [level, count] : sum.levels) {
    text += (text.empty() ? "" : ", ") + Number(count) + " " + Escaped(level);
  }
  return text;
}

/// The level at which a task ran, and why it was no better one.
std::string LocalityOf(const TaskRow& task) {
  if (task.why.empty()) return Escaped(task.level);
  return Escaped(task.level) + "<br><span class=\"quiet\">wanted " + Escaped(task.wanted) + ": " + Escaped(task.why) +
         "</span>";
}

std::string QuantileCells(const Quantiles& of, std::string (*text)(int64_t)) {
  return Cell(text(of.min), "n") + Cell(text(of.p25), "n") + Cell(text(of.median), "n") + Cell(text(of.p75), "n") +
         Cell(text(of.max), "n");
}

std::string TaskTable(const History& history, const StageRow& stage) {
  if (stage.dropped) return "<p class=\"quiet\">The rows of these tasks are not kept any more.</p>";
  std::vector<const TaskRow*> tasks;
  for (const TaskRow& task : stage.tasks) tasks.push_back(&task);
  // What went wrong first, then what runs, then the slowest.
  const auto rank = [](const TaskRow* task) { return task->ended_ms == 0 ? 1 : task->succeeded() ? 2 : 0; };
  std::stable_sort(tasks.begin(), tasks.end(), [&](const TaskRow* a, const TaskRow* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return rank(a) == 2 ? a->duration_ms() > b->duration_ms() : a->launched_ms < b->launched_ms;
  });
  const size_t shown = std::min(tasks.size(), kTaskRowsMax);
  std::string html;
  if (shown < tasks.size()) {
    html += "<p class=\"quiet\">" + Number(static_cast<int64_t>(shown)) + " of " +
            Number(static_cast<int64_t>(tasks.size())) + " tasks: failed, running, slowest.</p>";
  }
  html +=
      "<div class=\"wide\"><table><tr><th class=\"n\">Task<th class=\"n\">Partition<th class=\"n\">Try<th>Executor<th>"
      "Locality<th>End<th class=\"n\">Time<th class=\"n\">Waited for blocks<th class=\"n\">Read<th "
      "class=\"n\">Wrote<th "
      "class=\"n\">Spilled<th>Reason</tr>";
  for (size_t i = 0; i < shown; ++i) {
    const TaskRow& task = *tasks[i];
    const TaskMetrics& of = task.metrics;
    const bool runs = task.ended_ms == 0;
    html += "<tr>" + Cell(Number(task.task), "n") + Cell(Number(task.partition), "n") +
            Cell(Number(task.attempt) + (task.speculative ? " (copy)" : ""), "n") +
            Cell(Escaped(history.executors()[task.executor].joined.executor)) + Cell(LocalityOf(task), "name") +
            Cell(runs ? "running" : Escaped(task.end), runs               ? "warn"
                                                       : task.succeeded() ? ""
                                                                          : "bad") +
            Cell(runs ? "" : DurationText(task.duration_ms()), "n") +
            Cell(DurationText(of.fetch_wait_ns / 1'000'000), "n") +
            Cell(BytesText(of.bytes_read + of.shuffle_bytes_local + of.shuffle_bytes_remote), "n") +
            Cell(BytesText(of.bytes_written + of.shuffle_bytes_written), "n") + Cell(BytesText(of.spilled_bytes), "n") +
            Cell(Escaped(task.reason), "reason") + "</tr>";
  }
  return html + "</table></div>";
}

std::string StageDetails(const History& history, const StageRow& stage, const StageSummary& sum) {
  std::string html = "<details id=\"" + StageId(stage) + "\"><summary>Stage " + StageName(stage) + ": " +
                     Escaped(stage.started.name) + " " + MarksOf(stage, sum) + "</summary>";
  if (!stage.failure.empty()) html += "<p class=\"bad\">" + Escaped(stage.failure) + "</p>";
  html += "<p class=\"quiet\">" + Number(sum.records_read) + " records read, largest task kept " +
          BytesText(sum.peak_memory) + "; locality: " + LevelsOf(sum) + "</p>";
  for (const auto& [why, count] : sum.away) {
    html += "<p class=\"quiet\">" + Number(count) + " away from their data: " + Escaped(why) + "</p>";
  }
  if (const std::string cached = CachedText(sum); !cached.empty()) html += "<p class=\"quiet\">" + cached + "</p>";
  html +=
      "<div class=\"wide\"><table><tr><th>Of tasks that succeeded<th class=\"n\">Least<th class=\"n\">25 %<th "
      "class=\"n\">Median<th class=\"n\">75 %<th class=\"n\">Largest</tr>";
  html += "<tr>" + Cell("Time") + QuantileCells(sum.duration_ms, DurationText) + "</tr>";
  html += "<tr>" + Cell("Waited for blocks") + QuantileCells(sum.fetch_wait_ms, DurationText) + "</tr>";
  html += "<tr>" + Cell("Read") + QuantileCells(sum.read_bytes, BytesText) + "</tr>";
  html += "<tr>" + Cell("Wrote") + QuantileCells(sum.written_bytes, BytesText) + "</tr></table></div>";
  return html + TaskTable(history, stage) + "</details>";
}

/// A lane of the timeline: one task at a time.
struct Bar {
  const StageRow* stage;
  const TaskRow* task;
};

/// Bars of each executor put into as few lanes as they need.
std::string Timeline(const History& history) {
  std::vector<std::vector<Bar>> bars(history.executors().size());
  int64_t begin = INT64_MAX, end = history.now_ms();
  size_t count = 0;
  for (const auto& [key, stage] : history.stages()) {
    for (const TaskRow& task : stage.tasks) {
      bars[task.executor].push_back({&stage, &task});
      begin = std::min(begin, task.launched_ms);
      ++count;
    }
  }
  if (count == 0) return {};
  // Too many bars to see: the shortest are left out.
  int64_t least = -1;
  if (count > kBarsMax) {
    std::vector<int64_t> lengths;
    for (const auto& of : bars) {
      for (const Bar& bar : of)
        lengths.push_back((bar.task->ended_ms == 0 ? end : bar.task->ended_ms) - bar.task->launched_ms);
    }
    std::nth_element(lengths.begin(), lengths.begin() + kBarsMax, lengths.end(), std::greater<>());
    least = lengths[kBarsMax];
  }
  const double scale = static_cast<double>(kTimelineWidth) / static_cast<double>(std::max<int64_t>(1, end - begin));
  std::string shapes;
  int y = 4;
  for (size_t i = 0; i < bars.size(); ++i) {
    std::vector<Bar>& of = bars[i];
    if (of.empty()) continue;
    std::sort(of.begin(), of.end(),
              [](const Bar& a, const Bar& b) { return a.task->launched_ms < b.task->launched_ms; });
    const ExecutorRow& executor = history.executors()[i];
    shapes += "<text x=\"2\" y=\"" + Number(y + 9) + "\">executor " + Escaped(executor.joined.executor) + " on " +
              Escaped(executor.joined.host) + "</text>";
    y += kLane;
    std::vector<int64_t> free_at;
    for (const Bar& bar : of) {
      const int64_t stop = bar.task->ended_ms == 0 ? end : bar.task->ended_ms;
      size_t lane = 0;
      while (lane < free_at.size() && free_at[lane] > bar.task->launched_ms) ++lane;
      if (lane == free_at.size()) free_at.push_back(0);
      free_at[lane] = stop;
      if (stop - bar.task->launched_ms <= least) continue;
      const bool bad = bar.task->ended_ms != 0 && !bar.task->succeeded();
      char rect[160];
      std::snprintf(rect, sizeof rect, "<rect class=\"%s%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\">",
                    bad ? "kbad" : ("k" + Number(ColourOf(*bar.stage))).c_str(), bar.task->ended_ms == 0 ? " live" : "",
                    static_cast<double>(bar.task->launched_ms - begin) * scale, y + static_cast<int>(lane) * kLane,
                    std::max(0.6, static_cast<double>(stop - bar.task->launched_ms) * scale - 0.4), kLane - 2);
      shapes += rect;
      shapes += "<title>stage " + StageName(*bar.stage) + " " + Escaped(bar.stage->started.name) + ", partition " +
                Number(bar.task->partition) + ", " + DurationText(stop - bar.task->launched_ms) + "</title></rect>";
    }
    y += static_cast<int>(free_at.size()) * kLane + 4;
  }
  std::string html = "<h2>Timeline</h2>";
  if (least >= 0) html += "<p class=\"quiet\">Tasks of " + DurationText(least) + " and less are not drawn.</p>";
  html += "<svg viewBox=\"0 0 " + Number(kTimelineWidth) + " " + Number(y + 12) +
          "\" role=\"img\" aria-label=\"tasks by " + "executor over time\">" + shapes;
  for (int i = 0; i <= 4; ++i) {
    const int x = kTimelineWidth * i / 4;
    html += "<text x=\"" + Number(std::clamp(x, 2, kTimelineWidth - 2)) + "\" y=\"" + Number(y + 9) +
            "\" text-anchor=\"" +
            (i == 0   ? "start"
             : i == 4 ? "end"
                      : "middle") +
            "\">" + DurationText((end - begin) * i / 4) + "</text>";
  }
  return html + "</svg>";
}

std::string JobTable(const History& history) {
  std::string html =
      "<h2>Jobs</h2><div class=\"wide\"><table><tr><th class=\"n\">Job<th>Action<th>State<th class=\"n\">Time<th>Stages"
      "</tr>";
  for (const auto& [id, job] : history.jobs()) {
    std::string links;
    for (const auto& [key, stage] : history.stages()) {
      if (stage.started.job == id) links += "<a href=\"#" + StageId(stage) + "\">" + StageName(stage) + "</a> ";
    }
    const int64_t end = job.ended_ms == 0 ? history.now_ms() : job.ended_ms;
    html +=
        "<tr>" + Cell(Number(id), "n") +
        Cell(Escaped(job.started.description) +
                 (job.started.pool.empty() ? ""
                                           : " <span class=\"quiet\">pool " + Escaped(job.started.pool) + "</span>") +
                 (job.error.empty() ? "" : "<br><span class=\"bad\">" + Escaped(job.error) + "</span>"),
             "name") +
        Cell(StateMark(history.StateOf(job.ended_ms, job.error))) + Cell(DurationText(end - job.started.at_ms), "n") +
        Cell(links, "name") + "</tr>";
  }
  return html + "</table></div>";
}

std::string ExecutorTable(const History& history) {
  std::string html =
      "<h2>Executors</h2><div class=\"wide\"><table><tr><th>Executor<th>Node<th class=\"n\">Slots<th>Shuffle files "
      "served "
      "by<th>State</tr>";
  for (const ExecutorRow& executor : history.executors()) {
    html += "<tr>" + Cell(Escaped(executor.joined.executor)) + Cell(Escaped(executor.joined.host)) +
            Cell(Number(executor.joined.slots), "n") + Cell(executor.joined.serves_own_files ? "itself" : "its node") +
            Cell(executor.left_ms == 0 ? "connected" : "left: " + Escaped(executor.reason), "reason") + "</tr>";
  }
  return html + "</table></div>";
}

}  // namespace

std::string ToHtml(const History& history) {
  const ApplicationStarted& application = history.application();
  const std::string error = history.ended() ? history.ended()->error : "";
  std::string html = kHead;
  html += "<title>" + Escaped(application.program + " " + application.id) + "</title>";
  html += kOpen;
  if (!history.ended()) html += kRenew;
  html += "</head><body><main><h1>" + Escaped(application.program) + " <span class=\"quiet\">" +
          Escaped(application.id) + "</span></h1><p>" + StateMark(history.state()) + ", began " +
          TimeText(application.at_ms) + " UTC, " + (history.ended() ? "took " : "for ") +
          DurationText(history.now_ms() - application.at_ms) + "</p>";
  if (!error.empty()) html += "<p class=\"bad\">" + Escaped(error) + "</p>";
  if (!application.locality_waits.empty()) {
    html += "<p class=\"quiet\">Waits for places near the data: " + Escaped(application.locality_waits) + "</p>";
  }
  if (history.tasks_omitted()) html += "<p class=\"warn\">The log reached its bound: the last tasks are not in it.</p>";
  html += JobTable(history);
  html +=
      "<h2>Stages</h2><div class=\"wide\"><table><tr><th class=\"n\">Stage<th>What<th>State<th>Tasks<th "
      "class=\"n\">Time<th "
      "class=\"n\">Median task<th class=\"n\">Slowest<th class=\"n\">Input<th class=\"n\">Shuffle read<th class=\"n\">"
      "Shuffle written<th class=\"n\">Output</tr>";
  std::string details;
  for (const auto& [key, stage] : history.stages()) {
    const StageSummary sum = Summarize(stage);
    const int64_t end = stage.ended_ms == 0 ? history.now_ms() : stage.ended_ms;
    html += "<tr>" + Cell("<a href=\"#" + StageId(stage) + "\">" + StageName(stage) + "</a>", "n") +
            Cell("<svg style=\"display:inline;width:.8em;height:.8em\" viewBox=\"0 0 8 8\"><rect class=\"k" +
                     Number(ColourOf(stage)) + "\" width=\"8\" height=\"8\"/></svg> " + Escaped(stage.started.name) +
                     " " + MarksOf(stage, sum),
                 "name") +
            Cell(StateMark(history.StateOf(stage.ended_ms, stage.failure))) +
            Cell(ProgressBar(stage.done, stage.started.tasks)) + Cell(DurationText(end - stage.started.at_ms), "n") +
            Cell(DurationText(sum.duration_ms.median), "n") + Cell(DurationText(sum.duration_ms.max), "n") +
            Cell(BytesText(sum.input_bytes), "n") + Cell(BytesText(sum.shuffle_read_bytes), "n") +
            Cell(BytesText(sum.shuffle_written_bytes), "n") + Cell(BytesText(sum.output_bytes), "n") + "</tr>";
    details += StageDetails(history, stage, sum);
  }
  html += "</table></div>" + Timeline(history) + "<h2>Tasks by stage</h2>" + details + ExecutorTable(history);
  return html + "</main></body></html>\n";
}

}  // namespace fairlead::engine::history
