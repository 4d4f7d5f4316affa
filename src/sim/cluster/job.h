#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "model/resources.h"

namespace fairlead::sim {

/// A job of the simulator.
struct JobSpec {
  enum class Kind {
    kTasks,  // so many tasks of one size, a container each
    kCount,  // a program of the engine's kind: stages, shuffles, executors that hold map outputs (count_job.h)
  };
  int number = 0;
  Kind kind = Kind::kTasks;
  std::string queue = "default";
  int tasks = 4;  // kCount: partitions of the input
  base::Duration task_time = base::Duration::Seconds(2);
  model::Resources task_size = model::Resources::Of(256, 1);  // kCount: of an executor, with a slot a core
  std::string preferred_host;                                 // empty: anywhere
  double task_failure = 0;                                    // chance that a task fails
  double master_failure = 0;                                  // chance that an attempt dies in the middle
  // of kCount
  int reduces = 2;
  int executors = 2;
  uint64_t input_seed = 0;
  bool merges = false;  // its shuffles are pushed to services that merge them
};

/// A simulated container's process. Destroying it is kill -9.
class Program {
 public:
  virtual ~Program() = default;
  /// Empty when the machines inside agree with themselves.
  virtual std::string CheckInvariants() const { return ""; }
};

}  // namespace fairlead::sim
