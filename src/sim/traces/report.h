#pragma once

#include <string>
#include <vector>

#include "sim/traces/result.h"

// What came of runs of one trace, for people and for programs.

namespace fairlead::sim {

/// One line of the table that sets profiles side by side.
struct MetricRow {
  std::string name;
  std::vector<std::string> cells;  // one per run
  int best = -1;                   // the run that does best, -1 when they do not differ in what is printed
};

/// Makespan, slowdown by size of job, locality, fairness, lost work, use of the cluster.
std::vector<MetricRow> Compare(const std::vector<RunResult>& runs);

/// Queue, jobs, mean and p99 slowdown, mean share of the cluster: a row per queue, the largest share first.
std::vector<std::vector<std::string>> QueueRows(const RunResult& run);

/// {"runs": [...]} with everything but the single jobs.
std::string ResultsJson(const std::vector<RunResult>& runs);
/// profile,queue,seconds,share,entitled,cpu,memory,jain: a line per queue and sample.
std::string SamplesCsv(const std::vector<RunResult>& runs);
/// profile,job,queue,tasks,submit_s,first_start_s,end_s,ideal_s,slowdown: a line per job.
std::string JobsCsv(const std::vector<RunResult>& runs);
/// Compare() as a table with its explanation.
std::string MetricsHtml(const std::vector<RunResult>& runs);
/// One page: table, plots.
std::string ReportHtml(const std::vector<RunResult>& runs);

}  // namespace fairlead::sim
