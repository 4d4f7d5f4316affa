#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "sim/cluster/job.h"

namespace fairlead::sim {

/// The job of JobSpec::Kind::kCount: how often does each key occur, and how many keys occur how often? Three stages and
/// two shuffles over an input that follows from the job's seed.
using Counts = std::map<int64_t, int64_t>;

inline constexpr int32_t kHistogramPartitions = 2;

/// Its datasets. The input and the doubled input are cached; two jobs after the first read them again.
enum CountDataset : int32_t { kInput, kCountByKey, kKeysByCount, kDoubled };

/// What the tasks of one stage do: take the input or what the stage before wrote, and write for the next stage or give
/// the result.
struct StagePlan {
  int32_t reads = -1;         // a shuffle; -1: the job's input
  int32_t writes = -1;        // a shuffle; -1: the result
  int32_t reduces = 0;        // partitions that it writes
  std::vector<int32_t> kept;  // cached datasets on the way from the input, the last first
  bool commits = false;       // its tasks ask for leave before they end
  uint64_t input_seed = 0;
  FL_FIELDS(reads, writes, reduces, kept, commits, input_seed)
};

/// Occurrences of each key in one partition of the input.
Counts InputOf(uint64_t seed, int32_t partition);
/// How many keys have each count.
Counts Histogram(const Counts& counts);
void Merge(Counts& into, const Counts& more);
/// The parts for each reduce partition.
std::vector<Counts> Split(const Counts& counts, int32_t reduces);
std::string Encoded(const Counts& counts);
/// False: not what Encoded gives.
bool DecodeInto(std::string_view bytes, Counts& counts);

/// Several, one behind the other.
bool DecodeAllInto(std::string_view bytes, Counts& counts);

/// Each count twice as large.
Counts Doubled(const Counts& counts);

/// What the jobs of one program read, in order: their last dataset.
inline constexpr CountDataset kTargets[] = {kKeysByCount, kDoubled, kInput};
/// The right result of a job, computed without stages.
Counts Expected(const JobSpec& job, CountDataset target);

}  // namespace fairlead::sim
