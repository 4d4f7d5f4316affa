#include "shell/shuffle/aux_service.h"

#include <algorithm>
#include <thread>

#include "shell/base/logging.h"
#include "shell/shuffle/page.h"
#include "shell/shuffle/runtime.h"
#include "shell/shuffle/settings.h"

namespace fairlead::shell {
namespace {

/// Enough for one node's disks and network; the agent itself wants the rest.
constexpr unsigned kIoThreadsMax = 4;

class SparkShuffleAux final : public process::nm::AuxService {
 public:
  SparkShuffleAux(std::string name, process::shuffle::Config config, int io_threads, std::string state,
                  std::unique_ptr<env::Log> log)
      : name_(std::move(name)),
        log_(std::move(log)),
        runtime_(std::move(config), io_threads, std::move(state), *log_) {}

  base::Status Start() {
    const auto recovered = runtime_.Start();
    if (!recovered.ok()) return recovered.error();
    log_->Info(
        "Serving shuffle blocks",
        {{"service", name_}, {"address", runtime_.local().ToString()}, {"executors", std::to_string(*recovered)}});
    return {};
  }

  std::string name() const override { return name_; }
  /// YarnShuffleService gives an empty buffer.
  std::string MetaData() const override { return ""; }
  void InitializeApplication(const std::string&, const model::ApplicationId& app, const std::string& data) override {
    runtime_.StartApp(model::ToString(app), data);
  }
  void StopApplication(const model::ApplicationId& app) override { runtime_.StopApp(model::ToString(app), false); }
  void TellMetrics(std::function<void(std::string)> done) override {
    runtime_.CollectStatus(
        [done = std::move(done)](const ShuffleRuntime::Status& status) { done(ShuffleMetrics(status).text()); });
  }
  bool has_page() const override { return true; }
  bool TellPage(const process::http::Request& request, const std::string& path,
                std::function<void(process::http::Response)> done) override {
    return TellShufflePage(runtime_, request, path, std::move(done));
  }

 private:
  const std::string name_;
  const std::unique_ptr<env::Log> log_;
  ShuffleRuntime runtime_;
};

}  // namespace

base::Result<std::unique_ptr<process::nm::AuxService>> StartSparkShuffle(const config::HadoopConf& conf,
                                                                         SparkShuffleOptions options) {
  std::map<std::string, std::string> properties;
  for (const auto& [key, value] : conf.Explicit()) {
    if (key.starts_with("spark.") || key.starts_with("fairlead.shuffle.merge."))
      properties[key] = conf.String(key, value);
  }
  auto log = MakeLog(options.name, options.log);
  process::shuffle::Config config;
  std::vector<std::string> warnings;
  if (const base::Status applied = ApplySparkProperties(properties, config, warnings); !applied.ok()) {
    return applied.error();
  }
  if (const std::string recovery = conf.String("yarn.nodemanager.recovery.dir", ""); !recovery.empty()) {
    WarnOfSparksStore({recovery + "/nm-aux-services/" + options.name}, warnings);
  }
  for (const std::string& warning : warnings) log->Warn(warning);
  config.listen = options.listen;
  if (const base::Status read = UseLocalRoots(options.local_roots, config); !read.ok()) return read.error();
  // The agent says when an application ends; its directories carry its id (Spark 4's requireAppScopedLocalDirs).
  config.core.sweep = false;
  config.core.app_scoped_dirs = true;
  const auto threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, kIoThreadsMax));
  ShareAmongThreads(threads, config);
  auto service =
      std::make_unique<SparkShuffleAux>(options.name, std::move(config), threads, options.state, std::move(log));
  if (const base::Status started = service->Start(); !started.ok()) return started.error();
  return std::unique_ptr<process::nm::AuxService>(std::move(service));
}

}  // namespace fairlead::shell
