#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/queues.h"
#include "sim/traces/trace.h"

namespace fairlead::sim {

/// A workload that is drawn from a seed: its nodes, its queues, and its jobs one at a time.
struct SyntheticWorkload {
  std::vector<TraceNode> nodes;
  model::QueueTree queues;
  std::unique_ptr<JobSource> jobs;
  int64_t span_ms = 0;  // of submissions
  /// What a job's master asks for.
  model::Resources master_size = model::Resources::Of(1024, 1);
};

struct SyntheticOptions {
  double scale = 1;  // of nodes and jobs together
  uint64_t seed = 1;
  double hours = 24;
  /// The TDW day asks for network and disk, too; without it, for memory and cores alone.
  bool network_and_disk = true;
};

/// A day as the TDW article describes its cluster: 5,600 nodes, 1,000,000 MapReduce jobs and, with this generator,
/// about 100,000,000 tasks. Chosen, because the article does not say: 24 cores and 64 GiB a node, 20 groups of 10 pools
/// of Zipf popularity, maps by a truncated Pareto law (half of the jobs below 9 maps, one in a thousand above 10,000),
/// a reduce for every eighth map, log-normal task times (a job's tasks are alike), submissions that follow the
/// day (a third at night), input of a job on three hosts. Jobtrackers, maps and reduces ask for 50, 10 and 50 Mbit/s of
/// network and 10 GB of disk, as the article says.
SyntheticWorkload TdwDay(const SyntheticOptions& options);
/// A node of that cluster: with 10 Gbit/s and 12 TB, which the tasks that its cores take do not use up. Adds the
/// resource types "network" (Mbit/s) and "disk" (GB), unless it has neither.
model::Resources TdwNode(bool network_and_disk = true);

/// A mix as in Google's cluster (Reiss et al., Heterogeneity and Dynamicity of Clouds at Scale, SoCC 2012; Tirmazi et
/// al., Borg: the Next Generation, EuroSys 2020): 12,000 nodes of three sizes, four bands (free, batch, mid,
/// production) as queues, most jobs of one task, most resources in few long jobs, sizes that fill no node evenly.
/// Chosen: 3.6 million jobs a day, so that the cluster is about full.
SyntheticWorkload GoogleMix(const SyntheticOptions& options);

/// The jobs of another source; the first stage of a job that names no hosts gets, for each task, three nodes where its
/// block lies: one anywhere and two in another rack, as HDFS places replicas.
class PlacedJobs final : public JobSource {
 public:
  PlacedJobs(JobSource& jobs, const std::vector<TraceNode>& nodes, uint64_t seed);
  ~PlacedJobs() override;
  bool Next(TraceJob& job) override;
  int64_t jobs() const override { return jobs_.jobs(); }

 private:
  struct Racks;
  JobSource& jobs_;
  const std::vector<TraceNode>& nodes_;
  uint64_t seed_;
  uint64_t count_ = 0;
  std::unique_ptr<Racks> racks_;
};

}  // namespace fairlead::sim
