#pragma once

#include <string>

#include "endpoints/spark/driver_messages.h"
#include "process/application/yarn_master.h"
#include "wire/yarn/records.h"

namespace fairlead::process::spark_master {

/// What an executor's launch needs besides its container.
struct ExecutorCommand {
  std::string application;  // id
  std::string user;
  std::string spark_home;
  const endpoints::spark::ApplicationDescription* description = nullptr;
  const endpoints::spark::ResourceProfile* profile = nullptr;
  /// Where the cluster's nodes serve shuffle files, unless the driver says where; 0: nobody knows.
  uint16_t shuffle_port = 0;
  std::string web_scheme = "http://";  // of nodes' pages
};

/// What runs in an executor's container: the driver's command as a Standalone worker runs it
/// (org.apache.spark.deploy.worker.CommandUtils, ExecutorRunner), without a worker to watch, in the container's own
/// directories.
wire::yarn::ContainerLaunchContextProto ExecutorLaunchContext(const ExecutorCommand& command,
                                                              const application::ExecutorContainer& executor);

/// A word for a container's command: bash takes it back unchanged after the node agent's own layer of double quotes.
std::string QuotedTwice(const std::string& word);

}  // namespace fairlead::process::spark_master
