#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/resources.h"
#include "model/scheduler.h"

namespace fairlead::sim {

/// Of results.json and report.json (docs/simulator.md, "Result files"): one more once a field goes or means something
/// else. New fields leave it.
inline constexpr int kResultsVersion = 1;

/// Jobs of about the same number of tasks.
struct SizeClass {
  std::string name;  // "1-10", ...
  int64_t jobs = 0;
  double mean_slowdown = 0;
  double median_slowdown = 0;
  double p99_slowdown = 0;
  int64_t longest_wait_ms = 0;  // from submission to the first task
};

/// The jobs of one queue.
struct QueueResult {
  int64_t jobs = 0;
  double mean_slowdown = 1;
  double p99_slowdown = 1;
  double mean_share = 0;  // of the cluster, dominant
  /// The longest time without a break with less than half of its entitlement by weight and demand: it was starved, as
  /// Hadoop says (fairSharePreemptionThreshold 0.5). As far as samples tell.
  int64_t longest_short_ms = 0;
};

/// One job that ended.
struct JobResult {
  int64_t number = 0;  // in order of submission, from 0
  std::string name;
  std::string user;
  std::string asked_queue;  // full name
  std::string queue;        // in which it ran
  int64_t tasks = 0;
  int64_t submit_ms = 0;
  int64_t first_container_ms = -1;
  int64_t first_start_ms = -1;  // of a task
  int64_t end_ms = 0;
  int64_t ideal_ms = 0;  // alone in an empty cluster
  double slowdown = 1;
};

/// One job that did not end.
struct UnendedJob {
  JobResult job;
  bool refused = false;  // else it waited, or ran, when nothing moved any more
  std::string why;       // of a refused one
};

/// What held asks of a user's jobs in a queue, from looks at some of the waiting jobs now and then.
struct HeldWait {
  std::string asked_queue;
  std::string user;
  model::scheduler::PendingReason reason = model::scheduler::PendingReason::kNone;
  double job_seconds = 0;  // summed over the jobs that waited
  std::string detail;      // with the numbers of the first look
  std::string remedy;
};

/// What a run looked like at one moment.
struct Sample {
  int64_t at_ms = 0;
  double cpu = 0;  // used part of the nodes that are there
  double memory = 0;
  double jain = 1;
  std::vector<float> share;   // per queue: its dominant share of the cluster
  std::vector<float> wanted;  // per queue: what it was entitled to
};

/// What came of one trace under one profile. Times are virtual unless they say otherwise.
struct RunResult {
  std::string profile;
  std::string wishes = "none";  // that were on
  std::string trace;
  uint64_t seed = 0;
  int64_t nodes = 0;
  model::Resources cluster;

  int64_t jobs = 0;  // ended
  int64_t rejected = 0;
  int64_t unfinished = 0;
  std::string first_problem;  // of a job that was refused or did not end
  bool diverged = false;      // the rm core told the scheduler otherwise than it was told: `first_problem` says what
  int64_t tasks = 0;
  int64_t grants = 0;
  int64_t makespan_ms = 0;  // first submission to last end

  /// Slowdown: time from submission to end / time alone in an empty cluster, both at least 10 s and at least 1
  /// ("bounded slowdown", Feitelson and Rudolph 1998).
  double mean_slowdown = 1;
  double p99_slowdown = 1;
  std::vector<SizeClass> sizes;

  int64_t node_local = 0;  // of the grants for tasks that named places
  int64_t rack_local = 0;
  int64_t off_switch = 0;
  /// Jain's index of (dominant share / entitlement) over queues that want something, mean over time.
  double jain = 1;
  double cpu = 0;  // mean used part over the makespan
  double memory = 0;
  int64_t lost_containers = 0;  // ended before their task was done
  double lost_seconds = 0;      // container-seconds of them
  double work_seconds = 0;      // container-seconds of tasks that were done
  int64_t preempted = 0;
  int64_t out_of_memory = 0;  // of the lost ones, those that a node had not enough memory for

  int64_t steps = 0;
  uint64_t decisions = 0;  // hash over every grant, in order
  double real_seconds = 0;

  std::vector<std::string> queues;
  std::vector<QueueResult> queue_results;  // beside `queues`
  std::vector<Sample> samples;             // evenly spaced, less than 1,024; each of a moment before its events
  std::vector<JobResult> job_results;
  std::vector<UnendedJob> unended_jobs;
  std::vector<HeldWait> held_waits;  // where the setup looks at waits

  double local_part() const {
    const int64_t all = node_local + rack_local + off_switch;
    return all == 0 ? 0 : static_cast<double>(node_local) / static_cast<double>(all);
  }
  double lost_part() const {
    return lost_seconds + work_seconds <= 0 ? 0 : lost_seconds / (lost_seconds + work_seconds);
  }
};

/// The smallest value up to which `part` of a sorted list lies; 0 of an empty one.
double Quantile(const std::vector<double>& sorted, double part);

/// Fills slowdowns, makespan, size classes and queues from job_results and samples.
void Summarize(RunResult& result);

}  // namespace fairlead::sim
