#include "shell/spark/worker_shuffle.h"

#include "env_posix/posix_loop.h"
#include "shell/base/state_directory.h"
#include "shell/shuffle/settings.h"

namespace fairlead::shell {

base::Result<std::unique_ptr<ShuffleRuntime>> StartWorkerShuffle(const SparkProperties& properties, bool spark4,
                                                                 process::spark_worker::SparkWorkerSettings& worker,
                                                                 env::Log& log) {
  SparkKeys keys(properties);
  const bool enabled = keys.Bool("spark.shuffle.service.enabled", false);
  const bool tidy = keys.Bool("spark.storage.cleanupFilesAfterExecutorExit", true);
  if (!keys.error().empty()) return base::Error{keys.error()};
  if (!enabled) return std::unique_ptr<ShuffleRuntime>();
  ShuffleOptions options;
  options.bind = worker.listen.host;
  options.local_roots = worker.local_directories;
  options.answer_as = spark4 ? "4.3" : "3.5";
  for (const auto& [key, value] : properties) options.conf.push_back(key + "=" + value);
  if (keys.Bool("spark.shuffle.service.db.enabled", true)) {
    options.state = worker.work_directory + "/" + process::spark_worker::kShuffleDirectory;
    if (const base::Status made = MakeStateDirectory(options.state, log); !made.ok()) return made.error();
  }
  const auto disk = env_posix::MakePosixDisk();
  for (const std::string& root : worker.local_directories) {
    if (const base::Status made = disk->MakeDirectories(root); !made.ok()) return made.error();
  }
  const auto settings = ReadShuffleSettings(options);
  if (!settings.ok()) return settings.error();
  for (const std::string& warning : settings->warnings) log.Warn(warning);
  auto runtime = std::make_unique<ShuffleRuntime>(settings->config, settings->io_threads, settings->state, log);
  if (const auto started = runtime->Start(); !started.ok()) return started.error();
  log.Info("serving shuffle blocks", {{"address", runtime->local().ToString()}});
  worker.on_application_gone = [raw = runtime.get()](const std::string& app) { raw->StopApp(app, false); };
  if (tidy) {
    worker.on_executor_gone = [raw = runtime.get()](const std::string& app, const std::string& executor) {
      raw->ExecutorGone(app, executor);
    };
  }
  return runtime;
}

}  // namespace fairlead::shell
