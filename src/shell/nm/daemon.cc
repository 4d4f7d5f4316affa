#include "shell/nm/daemon.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "env_posix/disk_words.h"
#include "env_posix/posix_loop.h"
#include "process/nm/node_manager.h"
#include "process/nm/web.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/base/service_policy.h"
#include "shell/base/shown_configuration.h"
#include "shell/base/state_directory.h"
#include "shell/callers/callers.h"
#include "shell/callers/credential.h"
#include "shell/nm/container_logs.h"
#include "shell/nm/dirs.h"
#include "shell/nm/errands.h"
#include "shell/nm/health.h"
#include "shell/nm/helper.h"
#include "shell/nm/localizer.h"
#include "shell/nm/privileges.h"
#include "shell/nm/services.h"
#include "shell/nm/settings.h"
#include "shell/nm/supervised_containers.h"
#include "shell/shuffle/settings.h"
#include "shell/tls/web_tls.h"

extern char** environ;

namespace fairlead::shell {

namespace {

int Refuse(const std::string& message, int code) {
  std::fprintf(stderr, "fairlead nm: %s\n", message.c_str());
  return code;
}

std::map<std::string, std::string> OwnEnvironment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

/// The daemon's parts, in the order in which they are made.
struct Daemon {
  int lock = -1;
  std::unique_ptr<env_posix::PosixLoop> loop;
  std::unique_ptr<env::Disk> disk;
  std::unique_ptr<DaemonLog> log;
  std::unique_ptr<env::Store> store;
  std::unique_ptr<env::Gss> gss;      // null without Kerberos
  std::unique_ptr<env::Gss> web_gss;  // as HTTP/HOST; null without its key
  std::unique_ptr<Helper> helper;
  Watchdog watchdog;
  std::unique_ptr<NmDirs> dirs;
  std::unique_ptr<Errands> errands;
  std::unique_ptr<process::nm::Containers> containers;
  std::unique_ptr<process::nm::Localizer> localizer;
  std::unique_ptr<WebTls> web_tls;  // of pages or map outputs that are HTTPS
  AuxServices services;
  std::unique_ptr<process::nm::LogAggregator> aggregator;
  std::unique_ptr<process::nm::NodeManager> manager;
  std::unique_ptr<UsersLogs> logs;
  std::unique_ptr<process::nm::Web> web;
  std::unique_ptr<NmHealth> health;
  int exit_code = 0;

  env::Net& Net(bool https) { return https ? web_tls->net() : *loop; }
};

/// Two agents on one state directory would fight for the same containers.
base::Status TakeLock(Daemon& daemon, const std::string& directory) {
  const std::string path = directory + "/lock";
  daemon.lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (daemon.lock < 0) return base::Error{"cannot open " + path + ": " + env_posix::DiskWords(path, errno)};
  if (::flock(daemon.lock, LOCK_EX | LOCK_NB) == 0) return {};
  return base::Error{"another node agent runs on " + directory +
                     "; give each its own yarn.nodemanager.recovery.dir (or hadoop.tmp.dir)"};
}

base::Status OpenState(Daemon& daemon, const NmSettings& settings) {
  const std::string& directory = settings.state_directory;
  if (base::Status made = MakeStateDirectory(directory, *daemon.log); !made) return made;
  if (base::Status locked = TakeLock(daemon, directory); !locked) return locked;
  const std::string path = directory + "/fairlead-nm.db";
  if (!settings.recovery) {
    env_posix::RemoveSqliteStore(path);
    if (base::Status removed = daemon.disk->RemoveTree(directory + "/containers"); !removed) return removed;
  }
  if (base::Status made = MakeStateDirectory(directory + "/containers", *daemon.log); !made) return made;
  // What it keeps is about processes of this machine, which do not outlive it either.
  auto store = env_posix::OpenSqliteStore(path, *daemon.loop, env_posix::Durability::kProcess,
                                          "what is known of this node's containers and of the files fetched for them");
  if (!store) return store.error();
  daemon.store = std::move(*store);
  return {};
}

void MakeMachine(Daemon& daemon, NmSettings& settings) {
  env::Log* log = daemon.log.get();
  daemon.dirs = std::make_unique<NmDirs>(settings.dirs);
  daemon.errands = std::make_unique<Errands>(*daemon.helper, daemon.watchdog, settings.errands);
  daemon.dirs->SetErrands(*daemon.loop, *daemon.errands);
  daemon.logs = std::make_unique<UsersLogs>(*daemon.loop, *daemon.errands, *daemon.dirs);
  log->Info(settings.use_cgroups ? settings.containers.cgroups.Description()
                                 : "control groups are switched off: memory limits by polling /proc");
  if (settings.containers.disk_rate_type != 0 && !settings.containers.cgroups.has_disks()) {
    log->Warn(
        "fairlead.nm.disk-rate-type is set, and no control group of disks can be written: containers use disks without "
        "limit");
  }
  settings.containers.control_root = settings.state_directory + "/containers";
  // Lines from the containers' thread go through the loop: the log belongs to its thread.
  settings.containers.warn = [log, loop = daemon.loop.get()](const std::string& text) {
    loop->Post([log, text] { log->Warn(text); });
  };
  daemon.containers =
      MakeSupervisedContainers(*daemon.loop, *daemon.helper, *daemon.errands, daemon.watchdog, settings.containers);
  daemon.localizer = MakeLocalizer(*daemon.loop, *daemon.errands, settings.localizer);
}

/// Runs until the end, and ends the parts in order.
/// hadoop-policy.xml at the containers' port (NMPolicyProvider). Who calls there is an attempt, by its token, which is
/// in no group.
base::Status ReadPolicy(const config::HadoopConf& conf, const std::string& directory, NmSettings& settings) {
  static constexpr config::ServicePolicy::Service kServices[] = {
      {"org.apache.hadoop.yarn.api.ContainerManagementProtocolPB", "security.containermanagement.protocol.acl"}};
  auto policy = ReadServicePolicy(conf, directory, kServices);
  if (!policy.ok()) return policy.error();
  if (!*policy) return {};
  settings.manager.admits = [policy = **policy](const endpoints::yarn::Caller& caller, const std::string& protocol,
                                                const std::string& address) {
    return policy.Judge({protocol, caller.user, caller.Shown(), {}, address});
  };
  return {};
}

base::Status LogInOnce(Daemon& daemon, NmSettings& settings) {
  settings.web_security.audit = AuditIn(*daemon.log);
  if (!settings.kerberos) return {};
  base::Result<DaemonLogin> login = LogIn(*daemon.loop, *settings.kerberos);
  if (!login.ok()) return login.error();
  daemon.gss = std::move(login->gss);
  settings.manager.security.gss = daemon.gss.get();
  settings.web_security.short_name = login->login.short_name;
  daemon.log->Info("logged in by its keytab", {{"principal", login->principal}});
  base::Result<std::unique_ptr<env::Gss>> web = OpenWeb(*daemon.loop, settings.web_identity);
  if (!web.ok()) return web.error();
  daemon.web_gss = std::move(*web);
  settings.web_security.gss = daemon.web_gss.get();
  return {};
}

int RunUntilTheEnd(Daemon& daemon, bool keep_containers) {
  for (const int signal : {SIGTERM, SIGINT}) {
    daemon.loop->OnSignal(signal, [&daemon, keep_containers, first = true]() mutable {
      if (!std::exchange(first, false)) return daemon.loop->Stop();  // asked twice: at once
      daemon.manager->Shutdown(keep_containers);
    });
  }
  daemon.loop->Run();
  daemon.health.reset();
  daemon.web.reset();
  daemon.errands->Stop();
  daemon.containers.reset();
  daemon.localizer.reset();
  daemon.manager.reset();
  daemon.services.clear();
  daemon.store.reset();
  return daemon.exit_code;
}

/// All that it is told; `source` is completed by its credential, and by Spark's own file.
base::Result<NmSettings> ReadAll(const NmOptions& options, config::Settings& source) {
  const std::string& directory = options.settings.hadoop_conf;
  base::Status added = AddCredential(CredentialPath("node"), options.settings, source.conf);
  if (!added.ok()) return added.error();
  SetDefaultAuth(options.settings, source.conf);
  if (!directory.empty()) {
    AddExecutorRules(directory, source.conf);
    added = AddSparkShuffleSite(directory, source.conf);
    if (!added.ok()) return added.error();
  }
  base::Result<NmSettings> settings = ReadNmSettings(source);
  if (!settings) return settings;
  if (base::Status kept = KeepStrangersOut(source.conf); !kept.ok()) return kept.error();
  if (base::Status policy = ReadPolicy(source.conf, directory, *settings); !policy.ok()) return policy.error();
  settings->manager.environment = OwnEnvironment();
  settings->manager.user = OwnUser();
  return settings;
}

}  // namespace

int RunNodeManager(const NmOptions& options) {
  base::Result<config::Settings> source = LoadSettings(options.settings);
  if (!source) return Refuse(source.error().message, 2);
  base::Result<NmSettings> read = ReadAll(options, *source);
  if (!read) return Refuse(read.error().message, 2);
  NmSettings& settings = *read;

  Daemon daemon;
  base::Result<std::unique_ptr<Helper>> helper = GiveUpPrivileges(settings);
  if (!helper) return Refuse(helper.error().message, 1);
  daemon.helper = std::move(*helper);
  daemon.loop = env_posix::MakePosixLoop(env_posix::WhenIdle::kPollFirst);
  daemon.disk = env_posix::MakePosixDisk();
  daemon.log = MakeLog("nm", options.log);
  LogStrangers(*daemon.log);
  daemon.loop->OnCrowded([log = daemon.log.get()](const std::string& reason) { log->Warn(reason); });
  for (const std::string& warning : settings.warnings) daemon.log->Warn(warning);
  if (base::Status opened = OpenState(daemon, settings); !opened) return Refuse(opened.error().message, 1);
  if (base::Status logged_in = LogInOnce(daemon, settings); !logged_in.ok())
    return Refuse(logged_in.error().message, 1);
  MakeMachine(daemon, settings);

  if (settings.web_security.https || settings.map_outputs_https) {
    auto tls = WebTls::Open(*daemon.loop, *daemon.loop, *daemon.disk, *daemon.log, ReadServerTls(source->conf));
    if (!tls) return Refuse(tls.error().message, 1);
    daemon.web_tls = std::move(*tls);
  }
  base::Result<AuxServices> services =
      StartAuxServices(settings, source->conf, options.log, *daemon.loop, daemon.Net(settings.map_outputs_https),
                       *daemon.disk, *daemon.store, *daemon.log, *daemon.dirs);
  if (!services) return Refuse(services.error().message, 1);
  daemon.services = std::move(*services);
  process::nm::Environment environment{
      *daemon.loop,      *daemon.loop, *daemon.disk, *daemon.store, *daemon.log, *daemon.containers,
      *daemon.localizer, *daemon.dirs, {},           nullptr};
  if (settings.aggregate_logs) {
    daemon.aggregator = MakeLogAggregator(*daemon.loop, *daemon.errands, settings.log_aggregation);
    environment.aggregator = daemon.aggregator.get();
  }
  environment.audit = AuditIn(*daemon.log);
  for (const auto& service : daemon.services) environment.services.push_back(service.get());
  daemon.manager = std::make_unique<process::nm::NodeManager>(environment, settings.manager);
  const fairlead::nm::Config& core = settings.manager.core;
  auto web = process::nm::Web::Start(
      *daemon.loop, daemon.Net(settings.web_security.https), *daemon.logs, *daemon.manager,
      {settings.web, settings.hosts, settings.may_view, settings.cluster_page, environment.services, core.check_virtual,
       core.check_physical, core.virtual_ratio, ShownConfiguration(source->conf), settings.web_security});
  if (!web) return Refuse(web.error().message, 1);
  daemon.web = std::move(*web);
  daemon.manager->SetHttpPort(daemon.web->local().port);
  const base::Status started = daemon.manager->Start([&daemon](int code, const std::string& reason) {
    if (code != 0) Refuse(reason, code);
    daemon.exit_code = code;
    // A moment for what was sent last (unregistration) to leave.
    daemon.loop->After(base::Duration::Millis(50), [&daemon] { daemon.loop->Stop(); });
  });
  if (!started) return Refuse(started.error().message, 1);
  daemon.health = std::make_unique<NmHealth>(*daemon.loop, *daemon.loop, *daemon.log, settings, *daemon.dirs,
                                             *daemon.manager, daemon.watchdog, *daemon.helper);
  return RunUntilTheEnd(daemon, settings.recovery && settings.supervised);
}

}  // namespace fairlead::shell
