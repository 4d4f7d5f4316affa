#include "shell/rm/daemon.h"

#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "base/stored.h"
#include "env_posix/posix_loop.h"
#include "process/rm/resource_manager.h"
#include "process/rm/web.h"
#include "shell/base/logging.h"
#include "shell/base/state_directory.h"
#include "shell/rm/journal.h"
#include "shell/rm/replay.h"
#include "shell/rm/settings.h"

namespace fairlead::shell {

namespace {

constexpr base::Duration kReloadInterval = base::Duration::Seconds(1);

/// The daemon's parts, in the order in which they are made.
struct Daemon {
  std::unique_ptr<env_posix::PosixLoop> loop;
  std::unique_ptr<env::Disk> disk;
  std::unique_ptr<env::Log> log;
  std::unique_ptr<env::Store> store;
  std::unique_ptr<JournalWriter> journal;
  std::unique_ptr<process::rm::ResourceManager> manager;
  std::unique_ptr<process::rm::Web> web;
  std::string allocation_text;
  std::string allocation_file;
  int exit_code = 0;
};

int Refuse(const std::string& message, int code) {
  std::fprintf(stderr, "fairlead rm: %s\n", message.c_str());
  return code;
}

/// A journal is for replay alone: without one the daemon starts as well.
void OpenJournal(Daemon& daemon, const config::HadoopConf& conf, const RmSettings& settings) {
  if (settings.journal_bytes_max == 0) return;
  const JournalHeader header = RmJournalHeader(conf, settings, settings.manager.version);
  auto journal = JournalWriter::Open(*daemon.loop, *daemon.disk, settings.state_directory + "/rm.journal", header,
                                     settings.journal_bytes_max, [log = daemon.log.get()](const std::string& why) {
                                       log->Warn("the journal has ended", {{"reason", why}});
                                     });
  if (journal.ok()) {
    daemon.journal = std::move(journal).value();
  } else {
    daemon.log->Warn("there is no journal: decisions cannot be replayed", {{"reason", journal.error().message}});
  }
}

void Observe(Daemon& daemon, process::rm::ResourceManagerOptions& options) {
  env::Log* log = daemon.log.get();
  options.on_state_change = [log](const model::rm::StateChanged& change) {
    // The id belongs to the sentence: equal sentences are counted, not written.
    log->Info(change.subject + " is " + change.to, {{"from", change.from}, {"why", change.detail}});
  };
  options.on_warning = [log](const std::string& text) { log->Warn(text); };
  options.on_store_lost = [&daemon](const std::string& why) {
    daemon.log->Error("the resource manager ends", {{"why", why}});
    daemon.exit_code = 1;
    daemon.loop->Stop();
  };
  options.on_batch = [&daemon](const process::rm::Batch& batch) {
    if (!daemon.journal) return;
    daemon.journal->Append({batch.now, batch.wall, base::EncodeStored(batch.events), EffectHash(batch.effects)});
  };
}

void KeepQueues(Daemon& daemon, const std::string& why) {
  daemon.log->Error("the changed allocation file is refused; the queues stay", {{"reason", why}});
}

/// Takes a changed allocation file into use; a bad one keeps what is there (AllocationFileLoaderService).
void WatchQueues(Daemon& daemon) {
  if (daemon.allocation_file.empty()) return;
  daemon.loop->After(kReloadInterval, [&daemon] {
    const base::Result<std::string> text = daemon.disk->ReadFile(daemon.allocation_file, uint64_t{16} << 20);
    if (text.ok() && *text != daemon.allocation_text) {
      daemon.allocation_text = *text;
      base::Result<model::QueueTree> queues = daemon.manager->options().read_queues();
      if (queues.ok()) {
        daemon.log->Info("the allocation file has changed", {{"file", daemon.allocation_file}});
        daemon.manager->ReloadQueues(std::move(*queues), [&daemon](const auto& refused) {
          if (refused) KeepQueues(daemon, refused->message);
        });
      } else {
        KeepQueues(daemon, queues.error().message);
      }
    }
    WatchQueues(daemon);
  });
}

}  // namespace

int RunResourceManager(const RmOptions& options) {
  base::Result<config::Settings> source = LoadSettings(options.settings);
  if (!source.ok()) return Refuse(source.error().message, 2);
  base::Result<RmSettings> read = ReadRmSettings(*source, options.settings.hadoop_conf);
  if (!read.ok()) return Refuse(read.error().message, 2);
  RmSettings settings = std::move(*read);
  // Read again by each refresh, keys and files: Hadoop does so, too.
  settings.manager.host_lists = [from = options.settings]() -> base::Result<model::rm::RefreshNodes> {
    const base::Result<config::Settings> now = LoadSettings(from);
    if (!now.ok()) return now.error();
    return ReadHostLists(now->conf);
  };
  Daemon daemon;
  daemon.loop = env_posix::MakePosixLoop(env_posix::WhenIdle::kPollFirst);
  daemon.disk = env_posix::MakePosixDisk();
  daemon.log = MakeLog("rm", options.log_file, options.log_level);
  daemon.loop->OnCrowded([log = daemon.log.get()](const std::string& reason) { log->Warn(reason); });
  for (const std::string& warning : settings.warnings) daemon.log->Warn(warning);
  if (base::Status made = MakeStateDirectory(settings.state_directory, *daemon.log); !made.ok()) {
    return Refuse(made.error().message, 1);
  }
  base::Result<std::unique_ptr<env::Store>> store = env_posix::OpenSqliteStore(
      settings.state_directory + "/fairlead-rm.db", *daemon.loop, env_posix::Durability::kMachine,
      "applications that were acknowledged, the keys of their tokens, and the epoch");
  if (!store.ok()) return Refuse(store.error().message, 1);
  daemon.store = std::move(*store);
  OpenJournal(daemon, source->conf, settings);
  Observe(daemon, settings.manager);
  daemon.allocation_file = settings.allocation_file;
  if (!daemon.allocation_file.empty()) {
    if (base::Result<std::string> text = daemon.disk->ReadFile(daemon.allocation_file, uint64_t{16} << 20); text.ok()) {
      daemon.allocation_text = std::move(*text);
    }
  }
  base::Result<std::unique_ptr<process::rm::ResourceManager>> manager =
      process::rm::ResourceManager::Start(*daemon.loop, *daemon.loop, daemon.store.get(), std::move(settings.manager));
  if (!manager.ok()) return Refuse(manager.error().message, 1);
  daemon.manager = std::move(*manager);
  base::Result<std::unique_ptr<process::rm::Web>> web =
      process::rm::Web::Start(*daemon.loop, *daemon.loop, settings.web, settings.hosts, *daemon.manager);
  if (!web.ok()) return Refuse(web.error().message, 1);
  daemon.web = std::move(*web);
  WatchQueues(daemon);
  for (const int signal : {SIGTERM, SIGINT}) {
    daemon.loop->OnSignal(signal, [&daemon] { daemon.loop->Stop(); });
  }
  daemon.log->Info("the resource manager is ready", {{"client", daemon.manager->client_endpoint().ToString()},
                                                     {"scheduler", daemon.manager->scheduler_endpoint().ToString()},
                                                     {"tracker", daemon.manager->tracker_endpoint().ToString()},
                                                     {"admin", daemon.manager->admin_endpoint().ToString()},
                                                     {"web", daemon.web->local().ToString()},
                                                     {"profile", settings.profile},
                                                     {"state", settings.state_directory}});
  daemon.loop->Run();
  daemon.log->Info("the resource manager ends");
  daemon.web.reset();
  daemon.manager.reset();
  daemon.journal.reset();
  daemon.store.reset();
  return daemon.exit_code;
}

}  // namespace fairlead::shell
