#pragma once

#include <string>
#include <vector>

#include "report/report.h"
#include "sim/traces/result.h"

// Tables and files about runs of one trace; comparison_report.h has the whole report.

namespace fairlead::sim {

/// Makespan, slowdown by size of job, locality, fairness, lost work, use of the cluster: a column a run; the one that
/// does best stands out, unless they do not differ in what is printed.
report::Table MetricTable(const std::vector<RunResult>& runs);
/// A row a queue, the largest share in the first run first.
report::Table QueueTable(const std::vector<RunResult>& runs);
std::string SlowdownFigure(const std::vector<RunResult>& runs);

/// {"runs": [...]} with everything but the single jobs; `parts`: of the report, one for each run after the first.
std::string ResultsJson(const std::vector<RunResult>& runs, const std::vector<report::Report::Part>& parts);
/// profile,queue,seconds,share,entitled,cpu,memory,jain: a line per queue and sample.
std::string SamplesCsv(const std::vector<RunResult>& runs);
/// profile,job,queue,tasks,submit_s,first_start_s,end_s,ideal_s,slowdown: a line per job.
std::string JobsCsv(const std::vector<RunResult>& runs);

}  // namespace fairlead::sim
