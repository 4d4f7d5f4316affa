#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "endpoints/v1/ask.h"
#include "sim/traces/queue_settings.h"
#include "sim/traces/result.h"

// The same jobs twice: who waits longer or shorter, by how much, and why. comparison_report.h shows it.

namespace fairlead::sim {

/// Times of a group of jobs.
struct JobTimes {
  int64_t median_ms = 0;
  int64_t p95_ms = 0;
  int64_t mean_ms = 0;
  FL_FIELDS(median_ms, p95_ms, mean_ms)
};

/// One reason why containers of a group's jobs had to wait.
struct HeldBy {
  model::scheduler::PendingReason reason = model::scheduler::PendingReason::kNone;
  double part = 0;         // of the group's waiting, 0 to 1
  double job_seconds = 0;  // summed over the jobs that waited
  std::string detail;      // the numbers of one such moment, for a person
  std::string remedy;      // what would have freed it
  FL_FIELDS(reason, part, job_seconds, detail, remedy)
};

/// A group of jobs in one of the runs. Times are those of jobs that ended in both runs.
struct GroupSide {
  int64_t ended = 0;
  int64_t refused = 0;
  int64_t unended = 0;       // neither ended nor refused
  JobTimes wait;             // from submission to the first container
  JobTimes completion;       // from submission to the end
  std::vector<HeldBy> held;  // by part, the largest first
  FL_FIELDS(ended, refused, unended, wait, completion, held)
};

/// What becomes of a group's jobs in the other run. A change below a second or a hundredth is none.
enum class Change : uint8_t { kSame, kLater, kSooner };
std::string_view EnumName(Change change);

/// The jobs of one queue, or of one user.
struct GroupComparison {
  std::string name;
  int64_t jobs = 0;
  int64_t compared = 0;  // that ended in both runs
  int64_t later = 0;     // of them, those that end at least a second later in the second run
  int64_t sooner = 0;
  Change change = Change::kSame;  // of the mean completion
  int64_t mean_change_ms = 0;     // mean completion in the second run less that in the first
  double relative_change = 0;     // by the mean completion in the first: 0.5 is half as long again
  GroupSide from;
  GroupSide to;
  FL_FIELDS(name, jobs, compared, later, sooner, change, mean_change_ms, relative_change, from, to)
};

/// One job that ended in both runs.
struct JobComparison {
  std::string name;
  std::string queue;  // that it asked for
  std::string user;
  int64_t from_wait_ms = 0;
  int64_t to_wait_ms = 0;
  int64_t from_completion_ms = 0;
  int64_t to_completion_ms = 0;
  FL_FIELDS(name, queue, user, from_wait_ms, to_wait_ms, from_completion_ms, to_completion_ms)
};

/// Jobs that one of the runs did not put into the queue that they asked for.
struct QueuePlace {
  std::string asked;
  int64_t jobs = 0;
  std::string from;  // the queue in which they ran, or why they were refused
  std::string to;
  bool refused_from = false;
  bool refused_to = false;
  FL_FIELDS(asked, jobs, from, to, refused_from, refused_to)
};

/// One of the runs as a whole.
struct RunSummary {
  std::string name;
  int64_t ended = 0;
  int64_t refused = 0;
  int64_t unended = 0;
  std::string problem;  // of the first job that was refused or did not end
  int64_t makespan_ms = 0;
  double cpu = 0;  // mean used part of the nodes
  double memory = 0;
  int64_t preempted = 0;           // containers
  double lost_part = 0;            // of the containers' time, what ended before its task
  std::vector<std::string> notes;  // what of its configuration has no effect, and why
  FL_FIELDS(name, ended, refused, unended, problem, makespan_ms, cpu, memory, preempted, lost_part, notes)
};

struct Comparison {
  int32_t version = kResultsVersion;
  std::string trace;
  uint64_t seed = 0;
  int64_t nodes = 0;
  int64_t jobs = 0;
  RunSummary from;
  RunSummary to;
  GroupComparison all;
  std::vector<GroupComparison> queues;         // that jobs asked for; those first that lose or gain most time
  std::vector<GroupComparison> users;          // the same
  std::vector<JobComparison> most_changed;     // by change of completion, the largest first
  std::vector<QueuePlace> places;              // by name
  std::vector<SettingDifference> differences;  // of the configurations, by queue
  std::vector<std::string> sentences;          // of the report
  FL_FIELDS(version, trace, seed, nodes, jobs, from, to, all, queues, users, most_changed, places, differences,
            sentences)
};

/// Both runs are of the same jobs, and have kept their results; notes and differences are the caller's to add.
/// O(jobs log jobs).
Comparison CompareRuns(const RunResult& from, const RunResult& to);
/// All jobs of both runs, as a report has them. Times are since each job's submission.
std::vector<endpoints::v1::AppFates> FatesOf(const RunResult& from, const RunResult& to);

}  // namespace fairlead::sim
