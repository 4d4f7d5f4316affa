#include "shell/nm/services.h"

#include <charconv>

#include "process/nm/map_reduce_shuffle.h"
#include "shell/shuffle/aux_service.h"

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
                                                                  const LogOptions& logged, env::Log& log) {
  SparkShuffleOptions options;
  options.name = service.name;
  options.listen = service.listen;
  options.local_roots = settings.dirs.local;
  options.local_roots.insert(options.local_roots.end(), settings.shuffle_extra_roots.begin(),
                             settings.shuffle_extra_roots.end());
  if (settings.recovery) options.state = settings.state_directory + "/" + service.name;
  options.log = logged;
  options.log.level = env::LogLevel::kInfo;
  auto started = StartSparkShuffle(conf, std::move(options));
  if (started || settings.shuffle_stop_on_failure) return started;
  log.Error("the shuffle service cannot start; the node goes on without it",
            {{"service", service.name}, {"why", started.error().message}});
  return std::unique_ptr<process::nm::AuxService>(std::make_unique<AbsentService>(service.name));
}

/// Ports by service name.
constexpr char kPorts[] = "nm_service_ports";

uint16_t LastPort(env::Store& store, const std::string& service) {
  const auto ports = env::LoadRecords<uint16_t>(store, kPorts);
  if (!ports) return 0;  // any will do
  for (const auto& [name, port] : *ports) {
    if (name == service) return port;
  }
  return 0;
}

/// As many reducers as without TLS, whose sessions take memory.
constexpr size_t kBytesOfSessions = size_t{96} << 20;

base::Result<std::unique_ptr<process::nm::AuxService>> StartMapReduce(const AuxServiceSetting& service,
                                                                      env_posix::PosixLoop& loop, env::Net& net,
                                                                      env::Disk& disk, env::Store& store, env::Log& log,
                                                                      const process::nm::NodeDirs& dirs, bool tls) {
  using process::nm::MapReduceShuffle;
  MapReduceShuffle::Options options;
  if (tls) options.peers.bytes_max = kBytesOfSessions;
  options.service_name = service.name;
  options.listen = service.listen;
  if (service.listen.port == 0) options.listen.port = LastPort(store, service.name);
  auto started = MapReduceShuffle::Start(loop, net, disk, log, dirs, options);
  if (!started && options.listen.port != service.listen.port) {
    log.Warn("the port of the last run is taken, another one is used",
             {{"service", service.name}, {"why", started.error().message}});
    options.listen.port = 0;
    started = MapReduceShuffle::Start(loop, net, disk, log, dirs, options);
  }
  if (!started) return started.error();
  const env::Endpoint local = (*started)->local();
  log.Info("serving map outputs", {{"service", service.name}, {"address", local.ToString()}});
  store.Commit({{kPorts, service.name, base::EncodeStored(local.port)}}, [&log](const env::CommitStatus& stored) {
    if (!stored) log.Error("state is not stored", {{"why", stored.error().message}});
  });
  return std::unique_ptr<process::nm::AuxService>(std::move(*started));
}

}  // namespace

base::Result<AuxServices> StartAuxServices(const NmSettings& settings, const config::HadoopConf& conf,
                                           const LogOptions& logged, env_posix::PosixLoop& loop, env::Net& map_outputs,
                                           env::Disk& disk, env::Store& store, env::Log& log,
                                           const process::nm::NodeDirs& dirs) {
  AuxServices services;
  for (const AuxServiceSetting& service : settings.services) {
    auto started = service.kind == AuxServiceSetting::Kind::kSparkShuffle
                       ? StartSpark(service, settings, conf, logged, log)
                       : StartMapReduce(service, loop, map_outputs, disk, store, log, dirs, settings.map_outputs_https);
    if (!started) return base::Error{service.name + ": " + started.error().message};
    services.push_back(std::move(*started));
  }
  return services;
}

}  // namespace fairlead::shell
