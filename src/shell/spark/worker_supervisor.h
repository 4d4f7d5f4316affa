#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "env_posix/posix_loop.h"
#include "process/spark_worker/spark_worker.h"
#include "process/spark_worker/supervisor_link.h"

// A worker's supervisor is a process of its own: it starts executors and drivers, and outlives the worker for as long
// as that has said (process/spark_worker/supervisor.h). It listens on a socket in a directory of its user's alone below
// the work directory, which several workers may share: each takes the first supervisor that is free and was told the
// same.

namespace fairlead::shell {

/// `fairlead spark-worker-supervisor NAME`, which a worker starts. `callers`: fairlead.callers.uids. Returns when there
/// is nothing to supervise.
int RunWorkerSupervisor(const std::string& name, const std::vector<std::string>& callers);

struct FoundSupervisor {
  std::unique_ptr<process::spark_worker::SupervisorLink> link;
  process::spark_worker::LinkWelcome welcome;
};
/// The supervisor that a worker of these settings has left, or a new one. `done` is called once, on the loop.
void FindSupervisor(env_posix::PosixLoop& loop, const process::spark_worker::SparkWorkerSettings& worker,
                    const std::vector<std::string>& callers, std::function<void(base::Result<FoundSupervisor>)> done);

}  // namespace fairlead::shell
