#include "process/shuffle/service.h"

#include <algorithm>
#include <cerrno>

#include "base/stored.h"
#include "process/shuffle/block_work.h"

namespace fairlead::process::shuffle {
namespace {

namespace events = model::shuffle;

constexpr base::Duration kStoreRetry = base::Duration::Seconds(1);
constexpr char kProbeTable[] = "shuffle/probe";

/// Does the directory exist? A disk that does not answer counts as yes: nothing is forgotten because of it.
bool Exists(env::Disk& disk, const std::vector<std::string>& roots, const events::LocalDir& dir) {
  if (dir.root == events::LocalDir::kNoRoot) return false;
  const auto info = disk.Stat(dir.below_root.empty() ? roots[dir.root] : roots[dir.root] + "/" + dir.below_root);
  return info.ok() || (info.error().code != ENOENT && info.error().code != ENOTDIR);
}

bool IsOfLaterRelease(const events::Restore& row) {
  return row.table == fairlead::shuffle::kAppTable ? base::IsOfLaterRelease<std::string>(row.value)
                                                   : base::IsOfLaterRelease<events::Executor>(row.value);
}

/// Adds up what the workers know of one application.
struct AppUse {
  int64_t connections = 0;
  base::Duration idle = base::Duration{INT64_MAX};
};

}  // namespace

Service::Service(env::Loop& loop, env::Disk& disk, env::Store* store, env::Log& log, const Config& config,
                 env::ConfinedFiles* files)
    : loop_(loop), disk_(disk), store_(store), log_(log), config_(config), core_(config.core), started_(loop.Now()) {
  if (files != nullptr && config.merges) {
    Merger::Hooks hooks;
    hooks.publish = [this] { TellWorkers([merges = merger_->View()](IoWorker& worker) { worker.SetMerges(merges); }); };
    hooks.resume = [this] { TellWorkers([](IoWorker& worker) { worker.ResumePushers(); }); };
    merger_ = std::make_unique<Merger>(loop, disk, *files, store, log, config, std::move(hooks));
  }
  Step({});
}

/// On each worker's loop.
template <class What>
void Service::TellWorkers(const What& what) {
  for (IoWorker* worker : workers_) {
    worker->loop().Post([worker, what] { what(*worker); });
  }
}

Service::~Service() { loop_.Cancel(timer_); }

base::Result<size_t> Service::Recover() {
  if (store_ == nullptr) return size_t{0};
  std::vector<events::Event> rows;
  for (const std::string_view table : {fairlead::shuffle::kAppTable, fairlead::shuffle::kExecutorTable}) {
    const auto loaded = store_->Load(std::string(table));
    if (!loaded.ok()) return loaded.error();
    for (const env::Row& row : *loaded) {
      const events::Restore restore{row.table, row.key, row.value.value_or("")};
      base::Status readable = fairlead::shuffle::Core::CheckRow(restore);
      if (!readable.ok() && !IsOfLaterRelease(restore)) {
        log_.Error(
            "a row of the state store cannot be read, and the service goes on without it; the row stays there",
            {{"row", row.key}, {"table", row.table}, {"store", store_->Name()}, {"why", readable.error().message}});
        unread_.push_back({row.table, row.key, readable.error().message});
        continue;
      }
      if (!readable.ok()) {
        return base::Error{"state store " + store_->Name() + ": " + readable.error().message +
                           ". Start the release that wrote it, restore the state from a backup, or remove the state "
                           "directory, which forgets every registered executor."};
      }
      rows.push_back(restore);
    }
  }
  Step(std::move(rows));
  const base::Status merges = merger_ ? merger_->Recover(unread_) : base::Status{};
  if (!merges.ok()) return merges.error();
  return core_.View()->executors();
}

void Service::AddWorker(IoWorker& worker) {
  workers_.push_back(&worker);
  worker.loop().Post([&worker, registry = core_.View()] { worker.SetRegistry(registry); });
  if (merger_) worker.loop().Post([&worker, merges = merger_->View()] { worker.SetMerges(merges); });
}

uint64_t Service::Token(Done done) {
  waiting_.emplace(++last_token_, std::move(done));
  return last_token_;
}

void Service::StartApp(const std::string& app, const std::string& payload, Done done) {
  const uint64_t token = Token(std::move(done));
  Step({events::StartApp{token, app, SecretInPayload(payload)}});
}

void Service::StopApp(const std::string& app, bool remove_dirs, Done done) {
  const uint64_t token = Token(std::move(done));
  if (merger_) merger_->StopApp(app, remove_dirs);
  Step({events::StopApp{token, app, remove_dirs}});
}

void Service::ExecutorGone(const std::string& app, const std::string& executor) {
  Step({events::ExecutorGone{app, executor}});
}

void Service::Register(events::RegisterExecutor request, env::Loop& reply_on,
                       std::function<void(std::string error)> done) {
  loop_.Post([this, alive = alive_.watch(), request = std::move(request), &reply_on, done = std::move(done)]() mutable {
    if (!alive) return;
    OnRegister(std::move(request), [&reply_on, done = std::move(done)](const std::string& error) {
      reply_on.Post([done, error] { done(error); });
    });
  });
}

/// As an executor whose blocks are served, then as one that says where its application's merged files lie.
void Service::OnRegister(events::RegisterExecutor request, Done done) {
  log_.Info("Executor registers", {{"app", request.app}, {"executor", request.executor}});
  if (merger_) {
    done = [this, app = request.app, dirs = request.local_dirs, sub_dirs = request.sub_dirs_per_local_dir,
            manager = request.shuffle_manager, done = std::move(done)](const std::string& error) {
      if (!error.empty()) return done(error);
      merger_->Register(app, dirs, sub_dirs, manager, done);
    };
  }
  request.token = Token(std::move(done));
  Step({std::move(request)});
}

void Service::FilesRemoved(uint64_t generation) {
  loop_.Post([this, alive = alive_.watch(), generation] {
    if (!alive) return;
    TellWorkers([generation](IoWorker& worker) { worker.Forget(generation); });
  });
}

void Service::NotePushRefused() {
  if (push_refused_.exchange(true)) return;
  log_.Warn(
      "Pushed blocks are refused: this service does not merge; set "
      "spark.shuffle.push.server.mergedShuffleFileManagerImpl, or executors lose time with every map stage");
}

void Service::Step(std::vector<events::Event> batch) {
  fairlead::shuffle::Core::Effects effects;
  core_.Step(loop_.Now(), batch, effects);
  Publish();  // before any answer
  for (auto& effect : effects) {
    std::visit([this](auto& alternative) { Run(alternative); }, effect);
  }
  ArmTimer();
}

void Service::Publish() {
  if (core_.View() == published_) return;
  published_ = core_.View();
  TellWorkers([registry = published_](IoWorker& worker) { worker.SetRegistry(registry); });
}

void Service::ArmTimer() {
  const base::Instant deadline = core_.NextDeadline();
  if (deadline == armed_for_ || deadline == base::Instant::Max()) return;
  loop_.Cancel(timer_);
  armed_for_ = deadline;
  timer_ = loop_.At(deadline, [this] {
    armed_for_ = base::Instant::Max();
    Step({});
  });
}

void Service::Run(events::Persist& effect) {
  const auto persisted = [this, alive = alive_.watch(), txn = effect.txn](const env::CommitStatus& status) {
    if (!alive) return;
    NoteCommit(status);
    if (!status.ok()) log_.Error("Registrations cannot be stored", {{"cause", status.error().message}});
    Step({events::Persisted{txn, status.ok() ? "" : status.error().message}});
  };
  if (store_ == nullptr) return loop_.Post([persisted] { persisted({}); });
  std::vector<env::Row> rows;
  for (events::StoreRow& row : effect.rows) {
    rows.push_back({std::move(row.table), std::move(row.key),
                    row.remove ? std::nullopt : std::optional<std::string>(std::move(row.value))});
  }
  store_->Commit(std::move(rows), persisted);
}

// What is refused is told to the executor, and perhaps none comes again.
void Service::NoteCommit(const env::CommitStatus& status) {
  store_error_ = status.ok() ? "" : status.error().message;
  if (status.ok() || std::exchange(probing_, true)) return;
  loop_.After(kStoreRetry, [this, alive = alive_.watch()] {
    if (!alive) return;
    probing_ = false;
    if (store_error_.empty()) return;
    store_->Commit({{kProbeTable, "written", std::to_string(loop_.Wall().ms)}}, [this, alive](const auto& written) {
      if (alive) NoteCommit(written);
    });
  });
}

void Service::Run(events::Answered& effect) {
  const auto found = waiting_.find(effect.token);
  if (found == waiting_.end()) return;
  const Done done = std::move(found->second);
  waiting_.erase(found);
  if (done) done(effect.error);
}

void Service::Run(events::RemoveDirs& effect) {
  auto failed = std::make_shared<std::vector<std::string>>();
  loop_.Offload(
      [&disk = disk_, &roots = config_.core.local_roots, dirs = std::move(effect.dirs), failed] {
        for (const events::LocalDir& dir : dirs) {
          if (dir.root == events::LocalDir::kNoRoot) continue;
          const base::Status removed = RemoveDirectory(disk, roots[dir.root], dir.below_root);
          if (!removed.ok()) failed->push_back(removed.error().message);
        }
      },
      [this, alive = alive_.watch(), app = effect.app, failed] {
        if (!alive || failed->empty()) return;
        log_.Warn("Directories of an ended application cannot be removed",
                  {{"app", app}, {"count", std::to_string(failed->size())}, {"first", failed->front()}});
      });
}

void Service::Run(events::RemoveUnserved& effect) {
  loop_.Offload(
      [&disk = disk_, &roots = config_.core.local_roots, dirs = std::move(effect.dirs), keep = effect.keep_rdd_blocks] {
        for (const events::LocalDir& dir : dirs) {
          if (dir.root == events::LocalDir::kNoRoot || dir.below_root.empty()) continue;
          RemoveUnserved(disk, roots[dir.root], dir.below_root, keep);
        }
      },
      [] {});
}

/// Asks the disk and every worker; the core decides.
void Service::Run(events::Probe& effect) {
  auto probed = std::make_shared<events::Probed>();
  probed->app = effect.app;
  loop_.Offload(
      [&disk = disk_, &roots = config_.core.local_roots, dirs = std::move(effect.dirs), probed] {
        probed->dirs_exist = false;
        for (const events::LocalDir& dir : dirs) {
          if (Exists(disk, roots, dir)) {
            probed->dirs_exist = true;
            return;
          }
        }
      },
      [this, alive = alive_.watch(), probed] {
        if (!alive) return;
        CollectMetrics([this, probed](const std::vector<WorkerMetrics>& all) {
          AppUse use;
          for (const WorkerMetrics& metrics : all) {
            const auto connections = metrics.app_connections.find(probed->app);
            if (connections != metrics.app_connections.end()) use.connections += connections->second;
            const auto idle = metrics.app_idle.find(probed->app);
            if (idle != metrics.app_idle.end()) use.idle = std::min(use.idle, idle->second);
          }
          // Not used since the service began: that long at most.
          probed->idle = use.idle.ns == INT64_MAX ? loop_.Now() - started_ : use.idle;
          probed->connections = use.connections;
          Step({*probed});
        });
      });
}

void Service::Run(events::Forgotten& effect) {
  log_.Info("Application forgotten", {{"app", effect.app}, {"because", effect.reason}});
  if (merger_) merger_->StopApp(effect.app, true);
}

void Service::Drain(base::Duration idle, base::Duration limit, std::function<void(std::string)> done) {
  drained_ = std::move(done);
  Step({events::Drain{idle, limit}});
}

void Service::Run(events::Drained& effect) {
  if (drained_) std::exchange(drained_, nullptr)(std::move(effect.reason));
}

template <class Answer>
void Service::AskWorkers(std::function<Answer(IoWorker&)> ask, std::function<void(std::vector<Answer>)> done) {
  struct Gathering {
    std::vector<Answer> all;
    size_t missing;
    std::function<void(std::vector<Answer>)> done;
  };
  auto gathering = std::make_shared<Gathering>(Gathering{{}, workers_.size(), std::move(done)});
  if (workers_.empty()) {
    return loop_.Post([gathering] { gathering->done({}); });
  }
  for (IoWorker* worker : workers_) {
    worker->loop().Post([this, alive = alive_.watch(), worker, gathering, ask] {
      if (!alive) return;
      loop_.Post([alive, gathering, answer = ask(*worker)] {
        if (!alive) return;
        gathering->all.push_back(answer);
        if (--gathering->missing == 0) gathering->done(std::move(gathering->all));
      });
    });
  }
}

void Service::CollectMetrics(std::function<void(std::vector<WorkerMetrics>)> done) {
  AskWorkers<WorkerMetrics>([](IoWorker& worker) { return worker.Metrics(); }, std::move(done));
}

void Service::FindStream(int64_t stream_id, env::Loop& reply_on,
                         std::function<void(const std::optional<std::string>& app)> done) {
  using App = std::optional<std::string>;
  const auto ask = [stream_id](IoWorker& worker) {
    const auto* stream = worker.streams().Find(stream_id);
    return stream == nullptr ? App() : App(stream->app());
  };
  loop_.Post([this, alive = alive_.watch(), ask, &reply_on, done = std::move(done)] {
    if (!alive) return;
    AskWorkers<App>(ask, [&reply_on, done](const std::vector<App>& apps) {
      const auto found = std::find_if(apps.begin(), apps.end(), [](const App& app) { return app.has_value(); });
      reply_on.Post([done, app = found == apps.end() ? App() : *found] { done(app); });
    });
  });
}

std::string SecretInPayload(const std::string& payload) {
  const size_t first = payload.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || payload[first] != '{') return payload;
  constexpr std::string_view kKey = "\"secret\"";
  const size_t key = payload.find(kKey);
  if (key == std::string::npos) return "";
  size_t at = payload.find_first_not_of(" \t\r\n", key + kKey.size());
  if (at == std::string::npos || payload[at] != ':') return "";
  at = payload.find_first_not_of(" \t\r\n", at + 1);
  if (at == std::string::npos || payload[at] != '"') return "";
  std::string secret;
  for (++at; at < payload.size() && payload[at] != '"'; ++at) {
    if (payload[at] == '\\' && at + 1 < payload.size()) ++at;
    secret.push_back(payload[at]);
  }
  return secret;
}

}  // namespace fairlead::process::shuffle
