#include <CLI/CLI.hpp>

#include "commands.h"
#include "shell/nm/daemon.h"
#include "shell/nm/helper.h"
#include "shell/rm/daemon.h"
#include "shell/spark/master_daemon.h"

namespace fairlead::apps {
namespace {

const std::map<std::string, env::LogLevel> kLogLevels = {{"debug", env::LogLevel::kDebug},
                                                         {"info", env::LogLevel::kInfo},
                                                         {"warn", env::LogLevel::kWarn},
                                                         {"error", env::LogLevel::kError}};

/// Options that every daemon takes.
template <class Options>
void AddDaemonOptions(CLI::App& daemon, Options& options) {
  daemon.add_option("--hadoop-conf", options.settings.hadoop_conf,
                    "directory of Hadoop's files: core-site.xml, yarn-site.xml, ...");
  daemon.add_option("--config", options.settings.yaml, "Fairlead's own YAML file; goes over Hadoop's files");
  daemon.add_option("--set", options.settings.overrides, "KEY=VALUE of one Hadoop or fairlead.* key; may be repeated");
  daemon.add_option("--log-file", options.log_file, "log here, rotated (default: stderr)");
  daemon.add_option("--log-level", options.log_level, "debug, info, warn or error")
      ->transform(CLI::CheckedTransformer(kLogLevels, CLI::ignore_case));
}

}  // namespace

void AddDaemons(CLI::App& app, int& exit_code) {
  CLI::App* rm = app.add_subcommand("rm", "Run the resource manager");
  auto rm_options = std::make_shared<shell::RmOptions>();
  AddDaemonOptions(*rm, *rm_options);
  rm->footer(
      "Examples:\n  fairlead rm --hadoop-conf /etc/hadoop/conf\n"
      "  fairlead rm --config fairlead.yaml --set fairlead.scheduler.profile=yarn-fair\n"
      "Without configuration it listens on 127.0.0.1 and YARN's ports. SIGTERM ends it; applications go on, and the "
      "next\n"
      "run takes them over.");
  rm->callback([rm_options, &exit_code] { exit_code = shell::RunResourceManager(*rm_options); });

  CLI::App* nm = app.add_subcommand("nm", "Run a node agent");
  auto nm_options = std::make_shared<shell::NmOptions>();
  AddDaemonOptions(*nm, *nm_options);
  nm->footer(
      "Examples:\n  fairlead nm --hadoop-conf /etc/hadoop/conf\n"
      "  fairlead nm --set yarn.nodemanager.hostname=127.0.0.2 --set yarn.nodemanager.resource.memory-mb=4096");
  nm->callback([nm_options, &exit_code] { exit_code = shell::RunNodeManager(*nm_options); });

  CLI::App* spark = app.add_subcommand("spark-master", "Run a door for Spark's drivers: --master spark://HOST:PORT");
  auto spark_options = std::make_shared<shell::SparkMasterOptions>();
  AddDaemonOptions(*spark, *spark_options);
  spark->add_option("--spark-home", spark_options->spark_homes,
                    "SPARK_HOME of a build that drivers use, under the same path on every node; may be repeated");
  spark->add_option("--host", spark_options->host, "address to listen on (127.0.0.1; 0.0.0.0 for every one)");
  spark->add_option("--port", spark_options->port, "port (7077)");
  spark->add_option("--queue", spark_options->queue, "queue of applications that do not choose (default)");
  spark->add_option("--state", spark_options->state,
                    "directory of what outlives a restart (default: below hadoop.tmp.dir)");
  spark->footer(
      "Each driver becomes an application of the cluster, before `fairlead rm` and before Hadoop's ResourceManager.\n"
      "Examples:\n  fairlead spark-master --hadoop-conf /etc/hadoop/conf --spark-home /opt/spark-3.5.9\n"
      "  spark-submit --master spark://127.0.0.1:7077 --conf spark.cores.max=4 --conf spark.executor.cores=2 job.py\n"
      "A driver chooses its queue: --conf spark.executorEnv.FAIRLEAD_QUEUE=root.prod");
  spark->callback([spark_options, &exit_code] { exit_code = shell::RunSparkMaster(*spark_options); });

  CLI::App* supervise = app.add_subcommand("supervise", "")->group("");  // started by nm
  auto directory = std::make_shared<std::string>();
  supervise->add_option("directory", *directory, "of the agent whose containers they are");
  supervise->callback([&exit_code, directory] { exit_code = shell::RunHelper(); });
}

}  // namespace fairlead::apps
