#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/store.h"
#include "env_posix/posix_loop.h"
#include "process/nm/ports.h"
#include "shell/base/logging.h"
#include "shell/nm/settings.h"

namespace fairlead::shell {

using AuxServices = std::vector<std::unique_ptr<process::nm::AuxService>>;

/// Starts the auxiliary services of the configuration: `spark_shuffle` on threads of its own, `mapreduce_shuffle` on
/// the agent's loop and the net `map_outputs`. As with Spark's own service a port that is taken stops the agent only
/// where spark.yarn.shuffle.stopOnFailure says so. Where map outputs are served from any free port
/// (mapreduce.shuffle.port 0) the store remembers it: reducers go on with the port that they were told before a restart
/// of the agent.
base::Result<AuxServices> StartAuxServices(const NmSettings& settings, const config::HadoopConf& conf,
                                           const LogOptions& logged, env_posix::PosixLoop& loop, env::Net& map_outputs,
                                           env::Disk& disk, env::Store& store, env::Log& log,
                                           const process::nm::NodeDirs& dirs);

}  // namespace fairlead::shell
