#include "shell/nm_services.h"

#include "process/nm/map_reduce_shuffle.h"
#include "shell/shuffle_aux.h"

namespace fairlead::shell {

namespace {

/// Stands for a service that could not start on a node that goes on without it.
class AbsentService final : public process::nm::AuxService {
 public:
  explicit AbsentService(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::string MetaData() const override { return {}; }
  void InitializeApplication(const std::string&, const model::ApplicationId&, const std::string&) override {}
  void StopApplication(const model::ApplicationId&) override {}

 private:
  const std::string name_;
};

base::Result<std::unique_ptr<process::nm::AuxService>> StartSpark(const AuxServiceSetting& service,
                                                                  const NmSettings& settings,
                                                                  const config::HadoopConf& conf,
                                                                  const std::string& log_file, env::Log& log) {
  SparkShuffleOptions options;
  options.name = service.name;
  options.listen = service.listen;
  options.local_roots = settings.dirs.local;
  options.local_roots.insert(options.local_roots.end(), settings.shuffle_extra_roots.begin(),
                             settings.shuffle_extra_roots.end());
  if (settings.recovery) options.state = settings.state_directory + "/" + service.name;
  options.log_file = log_file;
  auto started = StartSparkShuffle(conf, std::move(options));
  if (started || settings.shuffle_stop_on_failure) return started;
  log.Error("the shuffle service cannot start; the node goes on without it",
            {{"service", service.name}, {"why", started.error().message}});
  return std::unique_ptr<process::nm::AuxService>(std::make_unique<AbsentService>(service.name));
}

}  // namespace

base::Result<AuxServices> StartAuxServices(const NmSettings& settings, const config::HadoopConf& conf,
                                           const std::string& log_file, env_posix::PosixLoop& loop, env::Disk& disk,
                                           env::Log& log, const process::nm::NodeDirs& dirs) {
  AuxServices services;
  for (const AuxServiceSetting& service : settings.services) {
    if (service.kind == AuxServiceSetting::Kind::kSparkShuffle) {
      auto spark = StartSpark(service, settings, conf, log_file, log);
      if (!spark) return base::Error{service.name + ": " + spark.error().message};
      services.push_back(std::move(*spark));
      continue;
    }
    process::nm::MapReduceShuffle::Options options;
    options.service_name = service.name;
    options.listen = service.listen;
    auto map_reduce = process::nm::MapReduceShuffle::Start(loop, loop, disk, log, dirs, options);
    if (!map_reduce) return map_reduce.error();
    log.Info("serving map outputs", {{"service", service.name}, {"address", (*map_reduce)->local().ToString()}});
    services.push_back(std::move(*map_reduce));
  }
  return services;
}

}  // namespace fairlead::shell
