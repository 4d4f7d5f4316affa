#pragma once

#include <map>
#include <string>
#include <vector>

#include "endpoints/spark/worker_messages.h"
#include "env/process.h"

namespace fairlead::process::spark_worker {

/// What a worker gives everything that it starts.
struct LaunchSettings {
  std::string spark_home;
  std::string java;                                // of JAVA_HOME, or the first on PATH
  std::vector<std::string> class_path;             // Spark's own: its configuration and jars
  std::map<std::string, std::string> environment;  // the worker's own
  std::string host;                                // as which executors are known
  std::string worker_url;                          // spark://Worker@HOST:PORT, which they watch and end with
  std::string web_url;                             // of the worker's pages, without a "/" at its end
  std::string log_url;                             // the same as people reach it: direct, or through the master's proxy
};

/// The process of an executor in `directory`, as org.apache.spark.deploy.worker.ExecutorRunner and CommandUtils start
/// it: the driver's command with its placeholders filled, the worker's environment with the command's. Its output goes
/// to the files stdout and stderr there. `local_dirs`: for its blocks.
env::SpawnRequest ExecutorProcess(const LaunchSettings& settings, const endpoints::spark::LaunchExecutor& launch,
                                  const std::string& directory, const std::vector<std::string>& local_dirs);

/// A driver's (org.apache.spark.deploy.worker.DriverRunner); `jar` is where its jar lies on this machine.
env::SpawnRequest DriverProcess(const LaunchSettings& settings, const endpoints::spark::LaunchDriver& launch,
                                const std::string& directory, const std::string& jar);

/// What a log begins with, as Spark's: "Spark Executor Command: ...".
std::string LogHead(const std::string& kind, const env::SpawnRequest& request);

/// Resources as an executor's or driver's --resourcesFile (`component`: "spark.executor").
std::string ResourcesFile(const endpoints::spark::Resources& resources, const std::string& component);

/// Whether an id may be a directory's name: it is not empty, no path and begins with no dot.
bool IsDirectoryName(const std::string& id);

}  // namespace fairlead::process::spark_worker
