#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"

namespace fairlead::engine::history {

/// Of the tasks that succeeded: least, quartiles and largest, as Spark takes them: of n sorted values the one at
/// min(floor(q * n), n - 1) (AppStatusStore.taskSummary).
struct Quantiles {
  int64_t min = 0;
  int64_t p25 = 0;
  int64_t median = 0;
  int64_t p75 = 0;
  int64_t max = 0;
  FL_FIELDS(min, p25, median, p75, max)
};

/// What is made of the tasks of a stage.
struct StageSummary {
  int64_t succeeded = 0;
  int64_t failed = 0;      // attempts that ended otherwise
  int64_t taken_back = 0;  // and by no fault of their own
  int64_t speculative = 0;
  Quantiles duration_ms;
  Quantiles fetch_wait_ms;
  Quantiles read_bytes;     // files and shuffles
  Quantiles written_bytes;  // files and shuffles
  Quantiles spill_bytes;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  int64_t shuffle_read_bytes = 0;
  int64_t shuffle_written_bytes = 0;
  int64_t spilled_bytes = 0;
  int64_t records_read = 0;
  int64_t bad_records = 0;
  int64_t peak_memory = 0;  // of one task
  /// Partitions of cached datasets; see TaskMetrics.
  int64_t cached_read = 0;
  int64_t cached_fetched = 0;
  int64_t cached_bytes_fetched = 0;
  int64_t cached_made = 0;
  /// Of the shuffle that the stage wrote: its blocks, how many were merged, their bytes, and by how many services.
  int64_t blocks_written = 0;
  int64_t blocks_merged = 0;
  int64_t bytes_merged = 0;
  int64_t merging_services = 0;
  /// Of merged shuffles that it read; see TaskMetrics.
  int64_t blocks_read_merged = 0;
  int64_t blocks_read_single = 0;
  int64_t merged_fallbacks = 0;
  /// The slowest task by the median one, in hundredths, and the largest input by the median one; 0: nothing to compare.
  int64_t duration_skew_percent = 0;
  int64_t input_skew_percent = 0;
  /// Tasks that took at least three times the median and a noticeable time, that read so much more, that spilled.
  int64_t slow_tasks = 0;
  int64_t large_reads = 0;
  int64_t spilling_tasks = 0;
  /// Ids of executors whose tasks, three or more, took twice the median of all and a noticeable time.
  std::vector<std::string> slow_executors;
  /// Launches by level, as Spark names them.
  std::map<std::string, int64_t> levels;
  /// Launches away from their data, by the reason.
  std::map<std::string, int64_t> away;
  FL_FIELDS(succeeded, failed, speculative, duration_ms, fetch_wait_ms, read_bytes, written_bytes, input_bytes,
            output_bytes, shuffle_read_bytes, shuffle_written_bytes, spilled_bytes, records_read, bad_records,
            peak_memory, duration_skew_percent, input_skew_percent, levels, away, cached_read, cached_fetched,
            cached_bytes_fetched, cached_made, spill_bytes, slow_tasks, large_reads, spilling_tasks, slow_executors,
            taken_back, blocks_written, blocks_merged, bytes_merged, merging_services, blocks_read_merged,
            blocks_read_single, merged_fallbacks)
  /// Worth a look: tasks that took or read far more than the others.
  bool skewed() const { return slow_tasks > 0 || large_reads > 0; }
};

/// What is worth a look in a stage.
struct Finding {
  std::string kind;  // "slow tasks"
  int64_t count = 0;
  std::string text;  // for people, with what may help
  FL_FIELDS(kind, count, text)
};

}  // namespace fairlead::engine::history
