#include "process/spark_worker/run_record.h"

namespace fairlead::process::spark_worker {

namespace es = endpoints::spark;

RunRecord RecordOf(const es::LaunchExecutor& launch, const std::string& directory,
                   const std::vector<std::string>& local_directories) {
  RunRecord record;
  record.master_url = launch.master_url;
  record.application = launch.application;
  record.executor = launch.executor;
  record.profile = launch.profile;
  record.description = launch.description;
  record.cores = launch.cores;
  record.memory_mib = launch.memory_mib;
  record.resources = {launch.resources.begin(), launch.resources.end()};
  record.directory = directory;
  record.local_directories = local_directories;
  return record;
}

RunRecord RecordOf(const es::LaunchDriver& launch, const std::string& directory) {
  RunRecord record;
  record.of_driver = true;
  record.driver = launch.driver;
  record.driver_description = launch.description;
  record.resources = {launch.resources.begin(), launch.resources.end()};
  record.directory = directory;
  return record;
}

es::LaunchExecutor ExecutorIn(const RunRecord& record) {
  return {
      record.master_url,  record.application, record.executor,   record.profile,
      record.description, record.cores,       record.memory_mib, {record.resources.begin(), record.resources.end()}};
}

es::LaunchDriver DriverIn(const RunRecord& record) {
  return {record.driver, record.driver_description, {record.resources.begin(), record.resources.end()}};
}

}  // namespace fairlead::process::spark_worker
