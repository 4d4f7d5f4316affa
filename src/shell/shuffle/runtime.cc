#include "shell/shuffle/runtime.h"

#include <future>

#include "env_posix/posix_confined_files.h"
#include "env_posix/posix_page_cache.h"
#include "shell/base/state_directory.h"
#include "wire/spark_shuffle/passed_block.h"

namespace fairlead::shell {

using process::shuffle::IoWorker;
using process::shuffle::Service;

ShuffleRuntime::ShuffleRuntime(process::shuffle::Config config, int io_threads, std::string state, env::Log& log)
    : config_(std::move(config)),
      state_(std::move(state)),
      log_(log),
      disk_(env_posix::MakePosixDisk()),
      page_cache_(env_posix::MakePosixPageCache()),
      confined_files_(env_posix::MakePosixConfinedFiles()),
      io_(static_cast<size_t>(io_threads)) {}

ShuffleRuntime::~ShuffleRuntime() { Stop({}); }

/// Runs on the thread's loop and waits for it.
void ShuffleRuntime::RunOn(Thread& thread, std::function<void()> what) {
  std::promise<void> done;
  thread.loop->Post([&] {
    what();
    done.set_value();
  });
  done.get_future().wait();
}

base::Result<size_t> ShuffleRuntime::Start() {
  if (!state_.empty()) {
    if (const base::Status made = MakeStateDirectory(state_, log_); !made.ok()) return made.error();
    auto store = env_posix::OpenSqliteStore(state_ + "/shuffle.db", *core_.loop, env_posix::Durability::kMachine,
                                            "the executors that have registered, whose blocks are served");
    if (!store.ok()) return store.error();
    store_ = *std::move(store);
  }
  const auto start = [](Thread& thread) { thread.thread = std::thread([&thread] { thread.loop->Run(); }); };
  start(core_);
  for (Thread& thread : io_) start(thread);
  base::Result<size_t> recovered = size_t{0};
  RunOn(core_, [&] {
    service_ = std::make_unique<Service>(*core_.loop, *disk_, store_.get(), log_, config_, confined_files_.get());
    recovered = service_->Recover();
  });
  if (!recovered.ok()) return recovered;
  std::vector<IoWorker*> workers;
  for (Thread& thread : io_) {
    RunOn(thread, [&] {
      thread.worker =
          std::make_unique<IoWorker>(*thread.loop, *thread.loop, *disk_, page_cache_.get(), log_, config_, *service_);
    });
    RunOn(core_, [&] { service_->AddWorker(*thread.worker); });
    workers.push_back(thread.worker.get());
  }
  base::Status listening;
  RunOn(io_.front(), [&] {
    io_.front().loop->OnCrowded([this](const std::string& reason) { log_.Warn(reason); });
    listening = workers.front()->Listen(config_.listen, {workers.begin() + 1, workers.end()});
    local_ = workers.front()->local();
  });
  if (!listening.ok()) return listening.error();
  // Readers of this host ask for little more than descriptors: one thread has room for them all.
  RunOn(io_.front(), [&] {
    const bool everywhere = config_.listen.host == "0.0.0.0" || config_.listen.host == "::";
    const std::string name = wire::spark_shuffle::LocalServiceName(everywhere ? "" : local_.host, local_.port);
    const base::Status local = io_.front().worker->ListenLocal(*io_.front().loop, name);
    if (!local.ok()) log_.Warn("Readers on this host get no open files", {{"cause", local.error().message}});
  });
  return recovered;
}

void ShuffleRuntime::StartApp(const std::string& app, const std::string& payload) {
  core_.loop->Post([this, app, payload] {
    service_->StartApp(app, payload, [this, app](const std::string& error) {
      if (!error.empty()) log_.Error("An application's secret cannot be stored", {{"app", app}, {"cause", error}});
    });
  });
}

void ShuffleRuntime::StopApp(const std::string& app, bool remove_dirs) {
  core_.loop->Post([this, app, remove_dirs] { service_->StopApp(app, remove_dirs, nullptr); });
}

void ShuffleRuntime::ExecutorGone(const std::string& app, const std::string& executor) {
  core_.loop->Post([this, app, executor] { service_->ExecutorGone(app, executor); });
}

void ShuffleRuntime::Drain(base::Duration idle, base::Duration limit, std::function<void(std::string)> done) {
  core_.loop->Post([this, idle, limit, done = std::move(done)] { service_->Drain(idle, limit, done); });
}

void ShuffleRuntime::CollectStatus(std::function<void(Status)> done) {
  core_.loop->Post([this, done = std::move(done)] {
    service_->CollectMetrics([this, done](std::vector<process::shuffle::WorkerMetrics> workers) {
      Status status{service_->registry(),
                    std::move(workers),
                    service_->unread().size(),
                    service_->store_error(),
                    service_->core().refused(),
                    config_.core.local_roots,
                    {}};
      if (service_->merger() != nullptr) {
        const auto& book = service_->merger()->book();
        status.merges = {book.counters(),
                         book.memory_bytes(),
                         book.deferred_blocks(),
                         book.deferred_bytes(),
                         book.open_partitions(),
                         book.Use(),
                         service_->merger()->last_failure()};
      }
      done(std::move(status));
    });
  });
}

void ShuffleRuntime::Stop(base::Duration limit) {
  if (stopped_) return;
  stopped_ = true;
  if (core_.thread.joinable()) {
    std::vector<std::promise<void>> drained(io_.size());
    for (size_t i = 0; i < io_.size(); ++i) {
      Thread& thread = io_[i];
      thread.loop->Post([&thread, &done = drained[i], limit] {
        if (thread.worker == nullptr || limit == base::Duration{}) return done.set_value();
        thread.worker->Drain(limit, [&done] { done.set_value(); });
      });
    }
    for (auto& done : drained) done.get_future().wait();
    RunOn(core_, [&] {
      if (service_) service_->ForgetWorkers();
    });
  }
  for (Thread& thread : io_) {
    if (!thread.thread.joinable()) continue;
    RunOn(thread, [&] { thread.worker.reset(); });
    thread.loop->Stop();
    thread.thread.join();
  }
  if (core_.thread.joinable()) {
    RunOn(core_, [&] { service_.reset(); });
    store_.reset();
    core_.loop->Stop();
    core_.thread.join();
  }
}

}  // namespace fairlead::shell
