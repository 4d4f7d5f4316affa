#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::sim {

/// A day of drivers' applications at a Standalone Master. Everything is drawn from the seed.
struct DriversOptions {
  uint64_t seed = 1;
  int32_t applications = 400;
  int32_t workers = 20;  // of 16 cores and 64 GiB
  double load = 1.2;     // of the workers' cores, while applications come
  double dynamic = 0.5;  // part of the applications with spark.dynamicAllocation.enabled
  double bounded = 0.5;  // part of them with a spark.cores.max of 8 to 64; the others take what there is
};

/// One stage of tasks that need a core each.
struct DriverApplication {
  int64_t submit_ms = 0;
  std::string user;
  int32_t cores_max = 0;  // as many as all workers have where its driver says nothing
  int32_t executor_cores = 4;
  int32_t executor_mib = 4096;
  bool dynamic = false;
  std::vector<int64_t> task_ms;

  int64_t work_ms() const;
  /// What it takes with the cluster to itself, its executors' start aside.
  int64_t alone_ms() const;
};

inline constexpr int32_t kWorkerCores = 16;
inline constexpr int32_t kWorkerMib = 64 * 1024;

/// In order of submission: of ten applications six have up to 16 tasks, three up to 160, one up to 2,000.
std::vector<DriverApplication> DrawApplications(const DriversOptions& options);

}  // namespace fairlead::sim
