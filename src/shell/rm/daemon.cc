#include "shell/rm/daemon.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "base/stored.h"
#include "env_posix/posix_loop.h"
#include "env_zookeeper/elector.h"
#include "process/rm/leadership.h"
#include "process/rm/resource_manager.h"
#include "process/rm/web.h"
#include "process/rm/web_port.h"
#include "profiles/profile.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/base/shown_configuration.h"
#include "shell/base/state_directory.h"
#include "shell/base/view_access.h"
#include "shell/callers/callers.h"
#include "shell/rm/journal.h"
#include "shell/rm/past_teller.h"
#include "shell/rm/queue_file.h"
#include "shell/rm/replay.h"
#include "shell/rm/settings.h"
#include "shell/rm/state_file.h"
#include "shell/tls/trusting_net.h"
#include "shell/tls/web_tls.h"

namespace fairlead::shell {

namespace {

constexpr char kJournalFile[] = "/rm.journal";  // in the state directory
constexpr base::Duration kReloadInterval = base::Duration::Seconds(1);

/// The daemon's parts, in the order in which they are made.
struct Daemon {
  std::unique_ptr<env_posix::PosixLoop> loop;
  std::unique_ptr<env::Disk> disk;
  std::unique_ptr<DaemonLog> log;
  std::unique_ptr<env::Store> store;
  std::unique_ptr<env::Gss> gss;              // null without Kerberos
  std::unique_ptr<env::Gss> web_gss;          // as HTTP/HOST; null without its key
  std::unique_ptr<WebTls> web_tls;            // of pages that are HTTPS
  std::unique_ptr<TrustingNet> trusting_net;  // for masters' pages that are
  endpoints::yarn::KerberosLogin kerberos;
  std::unique_ptr<JournalWriter> journal;
  JournalHeader journal_header;  // of a journal that begins with the start
  // Of a manager that runs alone:
  std::unique_ptr<process::rm::ResourceManager> manager;
  std::unique_ptr<process::rm::Web> web;
  // Of one of several:
  std::unique_ptr<process::rm::Leadership> leadership;
  std::unique_ptr<process::rm::WebPort> web_port;
  std::string allocation_text;
  std::string allocation_file;
  int exit_code = 0;

  /// On which web ports listen.
  env::Net& WebNet() { return web_tls ? web_tls->net() : *loop; }
  process::http::PageNets PageNets() { return {WebNet(), trusting_net.get()}; }
  /// Null while another process leads.
  process::rm::ResourceManager* Acting() { return leadership ? leadership->acting() : manager.get(); }
};

int Refuse(const std::string& message, int code) {
  std::fprintf(stderr, "fairlead rm: %s\n", message.c_str());
  return code;
}

/// A journal is for replay alone: without one the daemon starts as well.
void OpenJournal(Daemon& daemon, const config::HadoopConf& conf, const RmSettings& settings) {
  if (settings.journal_bytes_max == 0) return;
  daemon.journal_header = RmJournalHeader(conf, settings);
  auto journal =
      JournalWriter::Open(*daemon.loop, *daemon.disk, settings.state_directory + kJournalFile, daemon.journal_header,
                          settings.journal_bytes_max, [log = daemon.log.get()](const std::string& why) {
                            log->Warn("the journal has ended", {{"reason", why}});
                          });
  if (journal.ok()) {
    daemon.journal = std::move(journal).value();
  } else {
    daemon.log->Warn("there is no journal: decisions cannot be replayed", {{"reason", journal.error().message}});
  }
}

void SecureWeb(Daemon& daemon, process::login::WebSecurity& web) {
  web.gss = daemon.web_gss.get();
  web.short_name = daemon.kerberos.short_name;
  web.audit = AuditIn(*daemon.log);
}

/// The ports of the daemon, whichever manager it runs.
void Secure(Daemon& daemon, process::rm::PortSecurity& security) {
  security.audit = AuditIn(*daemon.log);
  security.admission.audit = security.audit;
  SecureWeb(daemon, security.web);
  if (!daemon.gss) return;
  security.gss = daemon.gss.get();
  security.login = daemon.kerberos;
}

base::Status LogInOnce(Daemon& daemon, const RmSettings& settings) {
  if (!settings.kerberos) return {};
  base::Result<DaemonLogin> login = LogIn(*daemon.loop, *settings.kerberos);
  if (!login.ok()) return login.error();
  daemon.gss = std::move(login->gss);
  daemon.kerberos = std::move(login->login);
  daemon.log->Info("logged in by its keytab", {{"principal", login->principal}});
  base::Result<std::unique_ptr<env::Gss>> web = OpenWeb(*daemon.loop, settings.web_identity);
  if (!web.ok()) return web.error();
  daemon.web_gss = std::move(*web);
  return {};
}

void Observe(Daemon& daemon, const RmSettings& settings, process::rm::ResourceManagerOptions& options) {
  env::Log* log = daemon.log.get();
  options.on_state_change = [log](const model::rm::StateChanged& change) {
    // The id belongs to the sentence: equal sentences are counted, not written.
    log->Info(change.subject + " is " + change.to, {{"from", change.from}, {"why", change.detail}});
  };
  options.on_recovered = [log](size_t applications, size_t attempts) {
    log->Info("recovered applications",
              {{"applications", std::to_string(applications)}, {"attempts", std::to_string(attempts)}});
  };
  options.on_warning = [log](const std::string& text) { log->Warn(text); };
  options.on_action = [audit = AuditIn(*daemon.log)](const std::string& text) { audit.Success(text); };
  const std::string charts = settings.state_directory + "/charts";
  if (base::Result<std::string> kept = daemon.disk->ReadFile(charts, uint64_t{16} << 20); kept.ok()) {
    options.charts.last = std::move(*kept);
  }
  options.charts.keep = [&daemon, charts](const std::string& bytes) {
    const base::Status kept = daemon.disk->WriteFileAtomically(charts, bytes, 0600);
    if (!kept.ok()) daemon.log->Warn("the charts could not be kept", {{"why", kept.error().message}});
  };
  options.on_store_lost = [&daemon](const std::string& why) {
    daemon.log->Error("the resource manager ends", {{"why", why}});
    daemon.exit_code = 1;
    daemon.loop->Stop();
  };
  options.on_batch = [&daemon](const process::rm::Batch& batch) {
    if (!daemon.journal) return;
    const uint64_t effect_hash = EffectHash(batch.effects);
    daemon.journal->Append({batch.now, batch.wall, EncodeEvents(batch.events), effect_hash});
    if (!daemon.journal->full()) return;
    daemon.journal->BeginSegment(NextHeader(daemon.journal_header, batch.machine));
  };
  process::rm::KeptJournal& kept = options.journal.emplace();
  const std::string file = settings.state_directory + kJournalFile;
  kept.span = [file]() -> base::Result<process::rm::KeptJournal::Span> {
    const auto found = FindSegments(*env_posix::MakePosixDisk(), file);
    if (!found) return found.error();
    return process::rm::KeptJournal::Span{found->begins(), found->ends};
  };
  kept.tell = [file](base::WallTime at, const std::string& target, const std::function<bool()>& ended) {
    return TellPast(file, at, target, ended);
  };
  kept.facts = [&daemon, most = settings.journal_bytes_max,
                directory = settings.state_directory]() -> std::optional<process::rm::JournalFacts> {
    if (!daemon.journal) return {};
    const JournalWriter::Size size = daemon.journal->size();
    const auto space = daemon.disk->Space(directory);
    return process::rm::JournalFacts{.writes = size.writes,
                                     .files = size.files,
                                     .bytes = size.bytes,
                                     .bytes_max = static_cast<int64_t>(most),
                                     .segment_bytes = size.segment_bytes,
                                     .written = size.written,
                                     .within = size.within,
                                     .disk_free = space.ok() ? static_cast<int64_t>(space->free_bytes) : 0};
  };
}

void KeepQueues(Daemon& daemon, const std::string& why) {
  daemon.log->Error("the changed allocation file is refused; the queues stay", {{"reason", why}});
}

/// On an address of another machine Hadoop's own proxy server is what serves masters' pages.
base::Status StartProxy(env::Log& log, process::rm::Web& web, const RmSettings& settings) {
  if (!settings.proxy) return {};
  const base::Status started = web.StartProxy(*settings.proxy, settings.hosts);
  if (started.ok() || started.error().code != EADDRNOTAVAIL) return started;
  log.Warn("yarn.web-proxy.address is not of this machine: a proxy server is expected there",
           {{"address", settings.proxy->ToString()}});
  return {};
}

/// Takes a changed allocation file into use; a bad one keeps what is there (AllocationFileLoaderService).
void WatchQueues(Daemon& daemon) {
  if (daemon.allocation_file.empty()) return;
  daemon.loop->After(kReloadInterval, [&daemon] {
    const base::Result<std::string> text = daemon.disk->ReadFile(daemon.allocation_file, uint64_t{16} << 20);
    process::rm::ResourceManager* manager = daemon.Acting();
    if (manager && text.ok() && *text != daemon.allocation_text) {
      daemon.allocation_text = *text;
      base::Result<model::QueueTree> queues = manager->ReadQueues();
      if (queues.ok()) {
        daemon.log->Info("the allocation file has changed", {{"file", daemon.allocation_file}});
        manager->ReloadQueues(std::move(*queues), [&daemon](const auto& refused) {
          if (refused) KeepQueues(daemon, refused->message);
        });
      } else {
        KeepQueues(daemon, queues.error().message);
      }
    }
    WatchQueues(daemon);
  });
}

struct Configuration {
  config::Settings source;
  RmSettings settings;
};

/// Of ports of this machine alone; those that others reach have a warning of their own (OpenPortsWarning).
void WarnOfLocalUsers(const config::HadoopConf& conf, RmSettings& settings) {
  if (IsKerberos(conf) || KnowsCallers(conf) || !conf.List(kCallersKey).empty()) return;
  const process::rm::PortAddresses& ports = settings.manager.ports;
  settings.warnings.push_back(LocalPortsWarning(
      {ports.client, ports.scheduler, ports.tracker, ports.admin, settings.web},
      "names that callers give are believed there, so each runs programs on the nodes under any user's name and "
      "administers the cluster; set fairlead.auth=credentials"));
  std::erase(settings.warnings, "");
}

/// `store`: of a manager that begins; may hold queues.
base::Result<Configuration> ReadConfiguration(const SettingsSource& from, env::Store* store = nullptr) {
  base::Result<config::Settings> source = LoadSettings(from);
  if (!source.ok()) return source.error();
  SetDefaultAuth(from, source->conf);
  base::Result<RmSettings> settings = ReadRmSettings(*source, from.hadoop_conf, store);
  if (!settings.ok()) return settings.error();
  WarnOfLocalUsers(source->conf, *settings);
  if (base::Status kept = KeepStrangersOut(source->conf); !kept.ok()) return kept.error();
  settings->manager.configuration = ShownConfiguration(source->conf);
  settings->manager.login_user = OwnUser();
  // Read again by each refresh, keys and files: Hadoop does so, too.
  settings->manager.host_lists = [from]() -> base::Result<model::rm::RefreshNodes> {
    const base::Result<config::Settings> now = LoadSettings(from);
    if (!now.ok()) return now.error();
    return ReadHostLists(now->conf);
  };
  settings->manager.security.admission.read = [from]() -> base::Result<process::rm::AdmissionRules> {
    const base::Result<config::Settings> now = LoadSettings(from);
    if (!now.ok()) return now.error();
    return ReadAdmissionRules(now->conf, from.hadoop_conf);
  };
  settings->manager.read_queues = [from, profile = settings->manager.profile, queues = settings->manager.read_queues](
                                      auto& warnings) -> base::Result<model::QueueTree> {
    const base::Result<config::Settings> now = LoadSettings(from);
    if (!now.ok()) return now.error();
    base::Result<model::QueueTree> tree = now->queues ? *now->queues : queues(warnings);
    const base::Result<model::Wishes> wishes = profiles::ReadWishes(profile, now->conf);
    if (!wishes.ok()) return base::Error{std::string(profiles::kWishesKey) + ": " + wishes.error().message};
    AddWishWarnings(*wishes, warnings);
    if (tree.ok()) tree->wishes = *wishes;
    return tree;
  };
  settings->manager.queue_file =
      source->queues ? std::filesystem::absolute(from.yaml).string() : settings->allocation_file;
  settings->manager.edit_queue_file = [from](const process::rm::QueueChange& change) {
    return EditQueueFile(from, "", change);
  };
  settings->manager.write_queue_file = WriteQueueFile;
  settings->manager.parse_queues = [from](const std::string& text) { return ParseQueueText(from, text); };
  return Configuration{std::move(*source), std::move(*settings)};
}

/// What a manager needs besides its options, whenever one begins: a journal, observers, the queues' file as it is now.
void Prepare(Daemon& daemon, const config::HadoopConf& conf, RmSettings& settings) {
  daemon.journal.reset();
  OpenJournal(daemon, conf, settings);
  Observe(daemon, settings, settings.manager);
  Secure(daemon, settings.manager.security);
  daemon.allocation_file = settings.allocation_file;
  if (daemon.allocation_file.empty() || !settings.watches_queues) return daemon.allocation_file.clear();
  base::Result<std::string> text = daemon.disk->ReadFile(daemon.allocation_file, uint64_t{16} << 20);
  if (text.ok()) daemon.allocation_text = std::move(*text);
}

base::Status StartAlone(Daemon& daemon, Configuration& configuration, const SettingsSource& from) {
  RmSettings& settings = configuration.settings;
  base::Result<std::unique_ptr<env::Store>> store = env_posix::OpenSqliteStore(
      settings.state_directory + "/" + kRmDatabase, *daemon.loop, env_posix::Durability::kMachine,
      "applications that were acknowledged, the keys of their tokens, and the epoch");
  if (!store.ok()) return store.error();
  daemon.store = std::move(*store);
  if (settings.manager.scheduler_conf) {
    base::Result<Configuration> again = ReadConfiguration(from, daemon.store.get());
    if (!again.ok()) return again.error();
    configuration = std::move(*again);
  }
  Prepare(daemon, configuration.source.conf, settings);
  base::Result<std::unique_ptr<process::rm::ResourceManager>> manager =
      process::rm::ResourceManager::Start(*daemon.loop, *daemon.loop, daemon.store.get(), std::move(settings.manager));
  if (!manager.ok()) return manager.error();
  daemon.manager = std::move(*manager);
  base::Result<std::unique_ptr<process::rm::Web>> web =
      process::rm::Web::Start(*daemon.loop, daemon.PageNets(), settings.web, settings.hosts, *daemon.manager);
  if (!web.ok()) return web.error();
  daemon.web = std::move(*web);
  return StartProxy(*daemon.log, *daemon.web, settings);
}

process::rm::LeadershipOptions Membership(Daemon& daemon, const RmSettings& settings, const SettingsSource& from) {
  process::rm::LeadershipOptions options;
  options.id = settings.ha->id;
  options.ports = settings.manager.ports;
  options.security = settings.manager.security;
  Secure(daemon, options.security);
  // Whoever has it can change the state itself.
  if (options.security.web.callers) options.security.members_secret = settings.ha->elector.identity;
  options.manager_server = settings.ha->principal;
  options.admin_of = settings.ha->admin;
  options.admin_acl = settings.manager.admin_acl;
  options.groups_of = settings.manager.groups_of;
  options.manager = [&daemon, from](env::Store& store) -> base::Result<process::rm::ResourceManagerOptions> {
    base::Result<Configuration> now = ReadConfiguration(from, &store);
    if (!now.ok()) return now.error();
    Prepare(daemon, now->source.conf, now->settings);
    now->settings.manager.on_store_lost = nullptr;  // the elector says so, too, and this process goes on as a standby
    return std::move(now->settings.manager);
  };
  options.on_active = [&daemon, &settings](process::rm::ResourceManager& manager) {
    auto web = std::make_unique<process::rm::Web>(*daemon.loop, daemon.PageNets(), manager, daemon.web_port->server());
    if (const base::Status proxy = StartProxy(*daemon.log, *web, settings); !proxy.ok()) {
      daemon.log->Error("masters' pages have no port of their own", {{"why", proxy.error().message}});
    }
    daemon.web_port->Attach(std::move(web));
  };
  options.on_standby = [&daemon] { daemon.web_port->Detach(); };
  options.on_refused = [&daemon](const base::Error& why) {
    daemon.log->Error("the resource manager ends", {{"why", why.message}});
    daemon.exit_code = 1;
    daemon.loop->Stop();
  };
  return options;
}

base::Status StartAsMember(Daemon& daemon, Configuration& configuration, const SettingsSource& from) {
  const RmSettings& settings = configuration.settings;
  const HaSettings& ha = *settings.ha;
  if (ha.elector.scheme.empty()) {
    daemon.log->Warn(
        "yarn.resourcemanager.zk-auth is not set: whoever reaches ZooKeeper can read the keys of all tokens and change "
        "the state");
  }
  process::rm::WebPort::Standby standby;
  standby.version = settings.manager.version;
  standby.started = daemon.loop->Wall().ms;
  standby.configuration = settings.manager.configuration;
  standby.security = settings.manager.security.web;
  SecureWeb(daemon, standby.security);
  standby.seen = [&daemon](const std::string& table, const std::string& key) {
    return daemon.leadership->Seen(table, key);
  };
  standby.acting = [&daemon] { return daemon.Acting() != nullptr; };
  standby.active = [&daemon, web = ha.web, own = ha.id,
                    scheme = WebScheme(configuration.source.conf)]() -> std::string {
    const std::optional<std::string> leader = daemon.leadership->leader();
    const auto at = leader && *leader != own ? web.find(*leader) : web.end();
    return at == web.end() ? "" : scheme + at->second.ToString();
  };
  standby.membership = [&daemon, id = ha.id]() -> process::rm::WebPort::Membership {
    return {id, daemon.leadership->leader().value_or(""), daemon.leadership->session_time()};
  };
  auto port =
      process::rm::WebPort::Listen(*daemon.loop, daemon.WebNet(), settings.web, settings.hosts, std::move(standby));
  if (!port.ok()) return port.error();
  daemon.web_port = std::move(*port);
  daemon.leadership = std::make_unique<process::rm::Leadership>(*daemon.loop, *daemon.loop, *daemon.log,
                                                                env_zookeeper::MakeElector(*daemon.loop, ha.elector),
                                                                Membership(daemon, settings, from));
  return daemon.leadership->Start();
}

}  // namespace

int RunResourceManager(const RmOptions& options) {
  base::Result<Configuration> configuration = ReadConfiguration(options.settings);
  if (!configuration.ok()) return Refuse(configuration.error().message, 2);
  const RmSettings& settings = configuration->settings;
  Daemon daemon;
  daemon.loop = env_posix::MakePosixLoop(env_posix::WhenIdle::kPollFirst);
  daemon.disk = env_posix::MakePosixDisk();
  daemon.log = MakeLog("rm", options.log);
  LogStrangers(*daemon.log);
  daemon.loop->OnCrowded([log = daemon.log.get()](const std::string& reason) { log->Warn(reason); });
  for (const std::string& warning : settings.warnings) daemon.log->Warn(warning);
  if (base::Status made = MakeStateDirectory(settings.state_directory, *daemon.log); !made.ok()) {
    return Refuse(made.error().message, 1);
  }
  if (base::Status logged_in = LogInOnce(daemon, settings); !logged_in.ok()) {
    return Refuse(logged_in.error().message, 1);
  }
  if (settings.manager.security.web.https) {
    auto tls =
        WebTls::Open(*daemon.loop, *daemon.loop, *daemon.disk, *daemon.log, ReadServerTls(configuration->source.conf));
    if (!tls.ok()) return Refuse(tls.error().message, 1);
    daemon.web_tls = std::move(*tls);
  }
  daemon.trusting_net = std::make_unique<TrustingNet>(*daemon.loop, *daemon.loop, *daemon.disk, *daemon.log,
                                                      ReadTrust(configuration->source.conf));
  const std::string profile = settings.manager.profile;  // the start takes the manager's settings
  const std::string wishes = ToString(settings.manager.core.queues.wishes);
  const base::Status started = settings.ha ? StartAsMember(daemon, *configuration, options.settings)
                                           : StartAlone(daemon, *configuration, options.settings);
  if (!started.ok()) return Refuse(started.error().message, 1);
  WatchQueues(daemon);
  for (const int signal : {SIGTERM, SIGINT}) {
    daemon.loop->OnSignal(signal, [&daemon] { daemon.loop->Stop(); });
  }
  const process::rm::PortAddresses& bound = daemon.leadership ? daemon.leadership->bound() : daemon.manager->bound();
  const env::Endpoint web = daemon.web_port ? daemon.web_port->local() : daemon.web->local();
  daemon.log->Info("the resource manager is ready", {{"client", bound.client.ToString()},
                                                     {"scheduler", bound.scheduler.ToString()},
                                                     {"tracker", bound.tracker.ToString()},
                                                     {"admin", bound.admin.ToString()},
                                                     {"web", web.ToString()},
                                                     {"profile", profile},
                                                     {"because", settings.profile_because},
                                                     {"wishes", wishes},
                                                     {"state", settings.state_directory}});
  if (wishes != "none" && !configuration->source.conf.IsSet(profiles::kWishesKey)) {
    daemon.log->Info("no wish is set, so those are on that are safe for every job; 0.1.0 before 2026-11-28 had none on",
                     {{"on", wishes}, {"as before", std::string(profiles::kWishesKey) + "=none"}});
  }
  daemon.loop->Run();
  daemon.log->Info("the resource manager ends");
  daemon.web_port.reset();
  daemon.leadership.reset();
  daemon.web.reset();
  daemon.manager.reset();
  daemon.journal.reset();
  daemon.store.reset();
  return daemon.exit_code;
}

}  // namespace fairlead::shell
