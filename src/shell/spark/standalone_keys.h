#pragma once

#include <vector>

#include "config/keys.h"
#include "process/spark_rpc/security.h"
#include "shell/base/spark_keys.h"
#include "shell/spark/standalone_settings.h"
#include "shell/spark/worker_settings.h"

namespace fairlead::shell {

/// The keys whose value is a field. `spark4`: those that came with Spark 4, too.
void ReadMasterKeys(SparkKeys& keys, bool spark4, StandaloneMasterSettings& settings);
void ReadWorkerKeys(SparkKeys& keys, WorkerDaemonSettings& settings);
/// Of connections of both: spark.authenticate and what belongs to it, without the secret.
void ReadSecurityKeys(SparkKeys& keys, process::spark_rpc::Security& security);

/// Keys of Spark that change nothing here, each a warning.
void WarnOfIgnoredByMaster(const SparkKeys& keys, std::vector<std::string>& warnings);
void WarnOfIgnoredByWorker(const SparkKeys& keys, std::vector<std::string>& warnings);

/// All keys that a Standalone Master and a Standalone Worker read in Spark's properties, for people.
std::vector<config::Setting> MasterKeys();
std::vector<config::Setting> WorkerKeys();

}  // namespace fairlead::shell
