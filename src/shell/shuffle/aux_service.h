#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "env/net.h"
#include "process/nm/ports.h"
#include "shell/base/logging.h"

namespace fairlead::shell {

/// The auxiliary service `spark_shuffle` inside the node agent (Spark's YarnShuffleService), on threads of its own.
struct SparkShuffleOptions {
  std::string name = "spark_shuffle";     // in yarn.nodemanager.aux-services
  env::Endpoint listen{"0.0.0.0", 7337};  // fairlead.shuffle.bind-host, spark.shuffle.service.port
  std::vector<std::string> local_roots;   // yarn.nodemanager.local-dirs and fairlead.shuffle.extra-local-roots
  std::string state;                      // directory; empty: secrets and registrations do not survive a restart
  LogOptions log;
};

/// Reads the spark.* keys of yarn-site.xml as the real service does (and fairlead.shuffle.merge.*), starts, and gives
/// the service; destroying it stops the threads. An application's secret comes with its first container
/// (spark.authenticate); on its end what it registered is forgotten, its directories are the node agent's.
base::Result<std::unique_ptr<process::nm::AuxService>> StartSparkShuffle(const config::HadoopConf& conf,
                                                                         SparkShuffleOptions options);

}  // namespace fairlead::shell
