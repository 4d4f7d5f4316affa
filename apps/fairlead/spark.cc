#include <CLI/CLI.hpp>

#include "commands.h"
#include "daemon_options.h"
#include "shell/spark/master_daemon.h"
#include "shell/spark/worker_daemon.h"
#include "shell/spark/worker_supervisor.h"

namespace fairlead::apps {

void AddSparkDaemons(CLI::App& app, int& exit_code) {
  CLI::App* spark = app.add_subcommand("spark-master", "Run a master for Spark: --master spark://HOST:PORT");
  auto spark_options = std::make_shared<shell::SparkMasterOptions>();
  AddDaemonOptions(*spark, *spark_options);
  spark->add_option("--spark-home", spark_options->spark_homes,
                    "SPARK_HOME of a build that drivers use, under the same path on every node; may be repeated");
  spark->add_option("--host", spark_options->host, "address to listen on (127.0.0.1; 0.0.0.0 for every one)");
  spark->add_option("--port", spark_options->port, "port (7077)");
  spark->add_option(
      "--webui-port", spark_options->web_port,
      "port of a Standalone Master's page (8080); with spark.ssl.standalone.enabled it is 400 higher, by HTTPS");
  spark->add_option("--rest-port", spark_options->rest_port,
                    "port at which a Standalone Master takes drivers by REST, which it opens (6066)");
  spark->add_option("--properties-file", spark_options->properties_file,
                    "Spark's properties (default: spark-defaults.conf of SPARK_CONF_DIR or SPARK_HOME/conf)");
  spark->add_option("--profile", spark_options->profile,
                    "what places a Standalone Master's executors: spark-standalone (Spark's rules, the default) or "
                    "fairlead (queues, shares, priorities, preemption)");
  spark->add_option("--queue", spark_options->queue, "queue of applications that do not choose (default)");
  spark->add_option("--state", spark_options->state,
                    "directory of what outlives a restart (default: below hadoop.tmp.dir)");
  spark->footer(
      "A Standalone Master with Workers behind it; with --hadoop-conf a door to a YARN cluster, Fairlead's or "
      "Hadoop's, where\n"
      "each driver becomes an application.\n"
      "Examples:\n  fairlead spark-master --spark-home /opt/spark-4.3.0 --host 127.0.0.1\n"
      "  fairlead spark-master --hadoop-conf /etc/hadoop/conf --spark-home /opt/spark-3.5.9\n"
      "  spark-submit --master spark://127.0.0.1:7077 --conf spark.cores.max=4 --conf spark.executor.cores=2 job.py\n"
      "There a driver chooses its queue: --conf spark.executorEnv.FAIRLEAD_QUEUE=root.prod");
  spark->callback([spark_options, &exit_code] { exit_code = shell::RunSparkMaster(*spark_options); });

  CLI::App* worker = app.add_subcommand("spark-worker", "Run a Standalone Worker for Spark's Master or ours");
  auto worker_options = std::make_shared<shell::SparkWorkerOptions>();
  AddLogOptions(*worker, worker_options->log);
  worker->add_option("masters", worker_options->masters, "spark://HOST:PORT[,HOST:PORT]")->required();
  worker->add_option("--spark-home", worker_options->spark_home, "SPARK_HOME of the build that it runs (SPARK_HOME)");
  worker->add_option("-c,--cores", worker_options->cores, "cores to offer (SPARK_WORKER_CORES; all)");
  worker->add_option("-m,--memory", worker_options->memory,
                     "memory to offer, as 4g (SPARK_WORKER_MEMORY; the machine's but 1g)");
  worker->add_option("-d,--work-dir", worker_options->work_directory,
                     "executors' and drivers' logs and files (SPARK_WORKER_DIR; SPARK_HOME/work)");
  worker->add_option("--host", worker_options->host, "address to listen on (SPARK_WORKER_HOST; 127.0.0.1)");
  worker->add_option("-p,--port", worker_options->port, "port (SPARK_WORKER_PORT; any)");
  worker->add_option(
      "--webui-port", worker_options->web_port,
      "port of its page (SPARK_WORKER_WEBUI_PORT; 8081); with spark.ssl.standalone.enabled it is 400 higher, by "
      "HTTPS");
  worker->add_option("--properties-file", worker_options->properties_file,
                     "Spark's properties (default: spark-defaults.conf of SPARK_CONF_DIR or SPARK_HOME/conf)");
  worker->footer(
      "Examples:\n  fairlead spark-worker --spark-home /opt/spark-4.3.0 --cores 8 --memory 16g spark://127.0.0.1:7077\n"
      "  fairlead spark-worker --spark-home /opt/spark-4.3.0 spark://master1:7077,master2:7077");
  worker->callback([worker_options, &exit_code] { exit_code = shell::RunSparkWorker(*worker_options); });

  CLI::App* supervisor = app.add_subcommand("spark-worker-supervisor", "")->group("");  // started by spark-worker
  auto name = std::make_shared<std::string>();
  supervisor->add_option("name", *name, "where the worker finds it")->required();
  auto callers = std::make_shared<std::vector<std::string>>();
  supervisor->add_option("--callers", *callers, "users that are served")->delimiter(',');
  supervisor->callback([name, callers, &exit_code] { exit_code = shell::RunWorkerSupervisor(*name, *callers); });
}

}  // namespace fairlead::apps
