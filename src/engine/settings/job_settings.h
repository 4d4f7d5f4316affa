#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/fields.h"
#include "base/result.h"

namespace fairlead::engine {

/// Everything that `fairlead submit` tells a job's driver, and the driver its executors. The job binary is localized as
/// `job` in the container's directory and started as `./job ARGUMENTS...`; executors are the same file. An option is a
/// field here, and nothing else between the three knows of it.
struct JobSettings {
  std::string application_id;  // "application_..."
  std::string name;
  std::string resource_manager;         // "HOST:PORT[,HOST:PORT]" of ApplicationMasterProtocol, of each manager
  std::string resource_manager_client;  // and of ApplicationClientProtocol
  // The job's binary, for localizing it on executors: file:// URL, bytes, modification time.
  std::string job_url;
  int64_t job_size = 0;
  int64_t job_timestamp_ms = 0;
  int32_t executors_max = 2;
  int32_t executors_min = 2;  // the same as the most: a fixed number
  bool gang = false;          // the least number come together, or none of them
  int32_t executor_cores = 1;
  int64_t executor_memory_mib = 512;
  /// An executor above the least number without work for so long is given back.
  int64_t executor_idle_seconds = 60;
  /// Tasks wait for a place near their data no longer than reading from afar was measured to take.
  bool adaptive_delay = false;
  /// For CONTAINER.jsonl; empty: events.jsonl in the container's log directory.
  std::string event_log_directory;
  /// Of the shuffle service on every node (spark.shuffle.service.port); 0: none.
  int32_t shuffle_port = 0;
  std::map<std::string, std::string> spark;  // settings by Spark's names (spark_settings.h)
  std::string pools;                         // text of spark.scheduler.allocation.file; empty: none
  std::string driver;                        // "HOST:PORT" that an executor connects to
  FL_FIELDS(application_id, name, resource_manager, resource_manager_client, job_url, job_size, job_timestamp_ms,
            executors_max, executors_min, gang, executor_cores, executor_memory_mib, executor_idle_seconds,
            adaptive_delay, event_log_directory, shuffle_port, spark, pools, driver)
};

/// The variable of a container's environment that holds EncodeJobSettings(). In the master's container it makes the
/// binary a driver.
inline constexpr const char* kEnvJobSettings = "FAIRLEAD_JOB";

/// Directory that relative paths of the job begin at: where it was submitted from.
inline constexpr const char* kEnvWorkingDirectory = "FAIRLEAD_WORKING_DIRECTORY";

/// A JSON object of the fields that differ from their defaults, in base64: a `fairlead` of another release than the
/// job's Fairlead is understood unless an option is used that one of them does not know, and nodes, whose shells see
/// the variable between double quotes, change nothing in it.
std::string EncodeJobSettings(const JobSettings& settings);
base::Result<JobSettings> DecodeJobSettings(const std::string& text);

}  // namespace fairlead::engine
