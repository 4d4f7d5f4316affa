#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "env/process.h"

namespace fairlead::process::spark_worker {

/// How an executor's logs are rolled (spark.executor.logs.rolling.*); as it stands: not at all.
struct LogRolling {
  int64_t interval_ms = 0;  // .time.interval
  bool named = false;       // "daily", "hourly", "minutely", not a number of seconds
  int64_t bytes_max = 0;    // .maxSize
  int32_t retained_max = -1;
  bool compress = false;
  bool rolls() const { return interval_ms > 0 || bytes_max > 0; }
  FL_FIELDS(interval_ms, named, bytes_max, retained_max, compress)
};

/// What the kernel holds it to, by control groups below `hierarchy`; empty: nothing.
struct RunLimits {
  std::string hierarchy;
  int64_t memory_mib = 0;
  int32_t cores = 0;
  int32_t of_cores = 0;  // of the worker: all that it runs weighs as much beside the machine's other processes
  FL_FIELDS(hierarchy, memory_mib, cores, of_cores)
};

/// What a supervisor is to start.
struct RunOrder {
  std::string key;     // how worker and supervisor call it: "APPLICATION/NUMBER", or a driver's id
  std::string record;  // the worker's own, given back to the one that takes it up again
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  std::string directory;
  std::string stdout_path;
  std::string stderr_path;
  LogRolling rolling;
  RunLimits limits;
  FL_FIELDS(key, record, argv, environment, directory, stdout_path, stderr_path, rolling, limits)
};

/// What a supervisor keeps of it, until the worker forgets it.
struct SupervisedRun {
  std::string key;
  std::string record;
  int64_t pid = 0;              // 0: it has ended, or never ran
  bool ending = false;          // the worker has asked for its end
  std::optional<int32_t> code;  // how it ended; 128 and the signal's number where a signal ended it
  std::string failure;          // why it never ran
  std::string note;             // why the kernel ended it
  FL_FIELDS(key, record, pid, ending, code, failure, note)
};

/// What the machine does for a process: its logs and limits.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  /// Before it is started.
  virtual base::Status Prepare(const RunOrder& order, env::SpawnRequest& request) = 0;
  /// Once it runs, or could not be started.
  virtual void Started(const std::string& key) = 0;
  /// What is left of it goes. Gives why the kernel ended it, or "".
  virtual std::string Ended(const std::string& key) = 0;
};

/// Runs a worker's executors and drivers, and outlives the worker for a while.
class Supervision {
 public:
  struct Listener {
    std::function<void(const std::string& key, int64_t pid)> on_started;
    std::function<void(const std::string& key, const std::string& why)> on_failed;
    /// `note`: why the kernel ended it, or "".
    std::function<void(const std::string& key, int32_t code, const std::string& note)> on_ended;
  };
  virtual ~Supervision() = default;

  /// Once, before all else. Nothing is called from inside a call to this object.
  virtual void Listen(Listener listener) = 0;
  /// In the place of one of the same key that has ended. on_started or on_failed tells.
  virtual void Start(RunOrder order) = 0;
  /// Asks it to end and makes it end; nothing where it does not run.
  virtual void End(const std::string& key) = 0;
  /// What has ended is not needed any more.
  virtual void Forget(const std::string& key) = 0;
  /// For how long everything goes on when the worker is gone; 0, as at first: it is ended at once.
  virtual void KeepFor(base::Duration absence) = 0;
  /// Ends at once whatever still runs, and the supervisor: the worker ends.
  virtual void Quit() = 0;
};

}  // namespace fairlead::process::spark_worker
