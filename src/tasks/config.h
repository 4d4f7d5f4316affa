#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/time.h"

// Settings of the tasks core. Names in comments are Spark's; defaults are those of Spark 3.5.

namespace fairlead::tasks {

enum class PoolMode : uint8_t { kFifo, kFair };

/// One <pool> of the allocation file.
struct PoolConfig {
  std::string name;
  PoolMode mode = PoolMode::kFifo;
  int32_t weight = 1;
  int32_t min_share = 0;
  FL_FIELDS(name, mode, weight, min_share)
};

/// Delay scheduling: spark.locality.wait.{process,node,rack}, .legacyResetOnTaskLaunch, revive interval.
struct LocalityConfig {
  base::Duration wait_process = base::Duration::Seconds(3);
  base::Duration wait_node = base::Duration::Seconds(3);
  base::Duration wait_rack = base::Duration::Seconds(3);
  bool legacy_reset = false;
  FL_FIELDS(wait_process, wait_node, wait_rack, legacy_reset)
};

/// spark.speculation*.
struct SpeculationConfig {
  bool enabled = false;
  base::Duration interval = base::Duration::Millis(100);
  double quantile = 0.75;
  double multiplier = 1.5;
  base::Duration min_task_runtime = base::Duration::Millis(100);
  /// spark.speculation.task.duration.threshold; negative: not set.
  base::Duration task_duration_threshold = base::Duration::Nanos(-1);
  /// Tasks an executor can run, when known from configuration (spark.executor.cores / spark.task.cpus); 0: unknown.
  int32_t executor_slots = 0;
  FL_FIELDS(enabled, interval, quantile, multiplier, min_task_runtime, task_duration_threshold, executor_slots)
};

/// spark.excludeOnFailure.*.
struct ExclusionConfig {
  bool enabled = false;
  base::Duration timeout = base::Duration::Seconds(3600);
  int32_t task_attempts_per_executor = 1;
  int32_t task_attempts_per_node = 2;
  int32_t stage_failed_tasks_per_executor = 2;
  int32_t stage_failed_executors_per_node = 2;
  int32_t app_failed_tasks_per_executor = 2;
  int32_t app_failed_executors_per_node = 2;
  /// How long a set that may run nowhere waits for an idle executor to be replaced before it fails
  /// (spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout).
  base::Duration unschedulable_timeout = base::Duration::Seconds(120);
  /// Executors come and go by demand: such a set waits also without an idle executor.
  bool dynamic_allocation = false;
  FL_FIELDS(enabled, timeout, task_attempts_per_executor, task_attempts_per_node, stage_failed_tasks_per_executor,
            stage_failed_executors_per_node, app_failed_tasks_per_executor, app_failed_executors_per_node,
            unschedulable_timeout, dynamic_allocation)
};

/// Settings beyond Spark; all off: decisions are Spark's.
struct BeyondConfig {
  /// Waits follow the measured cost of a remote read: a level is held no longer than what running there is expected to
  /// save (mean remote-read time of the task set's tasks so far); before anything is measured, `adaptive_first_wait`.
  bool adaptive_delay = false;
  base::Duration adaptive_first_wait = base::Duration::Millis(100);
  /// A local executor loses its preference while its measured load (ExecutorLoad) per slot exceeds that of the offered
  /// one by more than this many thousandths of a slot; 0: off.
  int32_t load_weight_milli = 0;
  /// Executors that hold shuffle outputs a live job still needs are not named removable (View, Removable()).
  bool retain_shuffle_executors = false;
  /// Launches of one task set on one executor within one Step travel as one LaunchBatch.
  bool templates = false;
  /// A lost output of a stage with indeterminate rows recomputes the whole stage (and fails jobs that already hold
  /// results of it). Spark's rule when its RDDs say so; false: only the lost outputs, at the user's risk.
  bool whole_stage_when_indeterminate = true;
  /// Executors whose tasks are short get more of them than they have slots, as many as they run in about this time;
  /// they run them in order. What waits there for `run_ahead_stall` without any task's end is killed and goes
  /// elsewhere. 0: off.
  base::Duration run_ahead;
  base::Duration run_ahead_stall = base::Duration::Millis(50);
  FL_FIELDS(adaptive_delay, adaptive_first_wait, load_weight_milli, retain_shuffle_executors, templates,
            whole_stage_when_indeterminate, run_ahead, run_ahead_stall)
};

struct Config {
  PoolMode mode = PoolMode::kFifo;  // spark.scheduler.mode
  std::vector<PoolConfig> pools;
  LocalityConfig locality;
  SpeculationConfig speculation;
  ExclusionConfig exclusion;
  BeyondConfig beyond;
  int32_t task_max_failures = 4;               // spark.task.maxFailures
  int32_t stage_max_consecutive_attempts = 4;  // spark.stage.maxConsecutiveAttempts
  base::Duration resubmit_delay = base::Duration::Millis(200);
  base::Duration revive_interval = base::Duration::Seconds(1);  // spark.scheduler.revive.interval
  /// Shuffle outputs outlive their executor (an external shuffle service serves them), unless it said otherwise
  /// (ExecutorAdded::serves_own_files).
  bool external_shuffle_service = false;
  bool reduce_locality = true;  // spark.shuffle.reduceLocality.enabled
  FL_FIELDS(mode, pools, locality, speculation, exclusion, beyond, task_max_failures, stage_max_consecutive_attempts,
            resubmit_delay, revive_interval, external_shuffle_service, reduce_locality)
};

}  // namespace fairlead::tasks
