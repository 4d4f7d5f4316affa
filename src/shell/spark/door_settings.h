#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/setting.h"
#include "config/fairlead_yaml.h"
#include "process/spark_master/spark_master.h"
#include "process/spark_master/yarn_source.h"
#include "shell/spark/master_daemon.h"

namespace fairlead::shell {

/// Of `fairlead spark-master` before a YARN cluster.
struct DoorSettings {
  process::spark_master::SparkMasterSettings master;
  process::spark_master::YarnSettings yarn;
  std::string state_directory;
  std::vector<std::string> spark_homes;
  bool knows_callers = false;  // fairlead.callers.uids
  std::vector<std::string> warnings;
};

/// From Hadoop's files and the keys fairlead.spark-master.*; what the command line says goes over these. Builds of
/// Spark are not looked at yet.
base::Result<DoorSettings> ReadDoorSettings(const SparkMasterOptions& options, const config::Settings& source);

/// All keys that it reads, for people.
std::vector<base::Setting> DoorKeys();

}  // namespace fairlead::shell
