#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "endpoints/spark/worker_messages.h"

namespace fairlead::process::spark_worker {

/// What a worker must know of an executor or driver to take it up again; its supervisor keeps it.
struct RunRecord {
  bool of_driver = false;
  std::string master_url;
  std::string application;
  int32_t executor = 0;
  int32_t profile = 0;
  endpoints::spark::ApplicationDescription description;
  int32_t cores = 0;
  int32_t memory_mib = 0;
  std::string driver;
  endpoints::spark::DriverDescription driver_description;
  std::map<std::string, std::vector<std::string>> resources;
  std::string directory;
  std::vector<std::string> local_directories;
  FL_FIELDS(of_driver, master_url, application, executor, profile, description, cores, memory_mib, driver,
            driver_description, resources, directory, local_directories)
};

RunRecord RecordOf(const endpoints::spark::LaunchExecutor& launch, const std::string& directory,
                   const std::vector<std::string>& local_directories);
RunRecord RecordOf(const endpoints::spark::LaunchDriver& launch, const std::string& directory);
endpoints::spark::LaunchExecutor ExecutorIn(const RunRecord& record);
endpoints::spark::LaunchDriver DriverIn(const RunRecord& record);

}  // namespace fairlead::process::spark_worker
