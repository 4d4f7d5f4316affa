#include "sim/drivers/workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace fairlead::sim {

namespace {

constexpr int64_t kUsers = 10;
constexpr double kTaskMedianMs = 15'000;

int64_t TasksOf(base::Rng& rng) {
  const double size = rng.Unit();
  if (size < 0.6) return rng.Between(1, 16);
  if (size < 0.9) return rng.Between(17, 160);
  return rng.Between(161, 2'000);
}

/// Log-normal, nearly: the sum of three uniform numbers in the place of a normal one.
double AroundOne(base::Rng& rng, double width) {
  return std::exp(2 * width * (rng.Unit() + rng.Unit() + rng.Unit() - 1.5));
}

DriverApplication Draw(base::Rng& rng, const DriversOptions& options) {
  DriverApplication application;
  application.user = "user" + std::to_string(rng.Between(1, kUsers));
  application.executor_cores = rng.Chance(0.5) ? 2 : 4;
  application.executor_mib = application.executor_cores * 2'048;
  application.dynamic = rng.Chance(options.dynamic);
  const bool bounded = rng.Chance(options.bounded);
  const int32_t all = options.workers * kWorkerCores;
  application.cores_max = bounded ? std::min(all, static_cast<int32_t>(8 * rng.Between(1, 8))) : all;
  const double median = kTaskMedianMs * AroundOne(rng, 0.5);
  application.task_ms.resize(static_cast<size_t>(TasksOf(rng)));
  for (int64_t& task : application.task_ms) task = 1 + static_cast<int64_t>(median * AroundOne(rng, 0.2));
  return application;
}

}  // namespace

int64_t DriverApplication::work_ms() const { return std::accumulate(task_ms.begin(), task_ms.end(), int64_t{0}); }

int64_t DriverApplication::alone_ms() const {
  const int64_t cores = cores_max / executor_cores * executor_cores;
  return std::max(*std::max_element(task_ms.begin(), task_ms.end()), work_ms() / cores);
}

std::vector<DriverApplication> DrawApplications(const DriversOptions& options) {
  base::Rng rng(options.seed);
  std::vector<DriverApplication> applications(static_cast<size_t>(options.applications));
  for (DriverApplication& one : applications) one = Draw(rng, options);
  double work_ms = 0;
  for (const DriverApplication& one : applications) work_ms += static_cast<double>(one.work_ms());
  const double between_ms = work_ms / (options.load * options.workers * kWorkerCores * options.applications);
  double at_ms = 0;
  for (DriverApplication& one : applications) {
    one.submit_ms = static_cast<int64_t>(at_ms);
    at_ms -= between_ms * std::log(1 - rng.Unit());  // a Poisson process
  }
  return applications;
}

}  // namespace fairlead::sim
