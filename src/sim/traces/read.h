#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/traces/trace.h"

// Trace files of others. Everything in them is checked: a mistake is refused with "FILE:LINE: what".

namespace fairlead::sim {

/// How SWIM's bytes become tasks, as its own tools do: a map per block, a reduce per so many bytes of shuffle, the rest
/// by rates.
struct SwimRates {
  int64_t block_bytes = int64_t{64} << 20;
  int64_t bytes_per_reduce = int64_t{1} << 30;
  int64_t map_bytes_per_second = int64_t{10} << 20;
  int64_t reduce_bytes_per_second = int64_t{20} << 20;
  int64_t task_start_ms = 2000;
};

struct TraceOptions {
  uint64_t seed = 1;  // of SLS workload descriptions
  SwimRates swim;
  // Bounds of one file; times are within ten years.
  int64_t tasks_of_job = 1'000'000;
  int64_t tasks = 50'000'000;
  int64_t jobs = 2'000'000;
  int64_t stages_of_job = 1000;
};

struct TraceFile {
  std::string format;          // "sls", "rumen", "synth", "swim" or "swf"
  std::vector<TraceJob> jobs;  // by time of submission; the first is submitted at 0
};

/// Reads a trace of any known format, told apart by its beginning: Hadoop SLS jobs (AMDefinitionSLS), a Rumen job
/// history (LoggedJob), an SLS workload description (SynthTraceJobProducer, old and generic style), SWIM's tab
/// separated lines, or the Standard Workload Format. O(size).
base::Result<TraceFile> ReadTrace(std::string_view text, const std::string& file, const TraceOptions& options = {});

/// Deals jobs in order over so many queues (q1, q2, ...) and in each over so many users, whatever they name; 0: as they
/// name them.
void Deal(std::vector<TraceJob>& jobs, int64_t queues, int64_t users);

/// An SLS node list: {"rack": ..., "nodes": [{"node": ..., "memory-mb": ..., "vcores": ...}]}; what a node does not say
/// is as in `usual`.
base::Result<std::vector<TraceNode>> ReadNodes(std::string_view text, const std::string& file,
                                               const model::Resources& usual);

/// The hosts that the jobs name ("/rack/host", or a host alone in /default-rack), in order of appearance.
std::vector<TraceNode> NodesNamedBy(const std::vector<TraceJob>& jobs, const model::Resources& capacity);

/// "/rack/host" to {"/rack", "host"}; a name without a rack is in /default-rack.
std::pair<std::string, std::string> SplitHost(std::string_view name);

}  // namespace fairlead::sim
