#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "env/confined_files.h"
#include "env/log.h"
#include "env/page_cache.h"
#include "env_posix/posix_loop.h"
#include "process/shuffle/service.h"

namespace fairlead::shell {

/// The shuffle service on real threads: one for the core and its store, N for connections. Used by `fairlead shuffle`
/// and, inside the node agent, as its auxiliary service. Every method may be called from any thread.
class ShuffleRuntime {
 public:
  /// `state`: directory of the registrations' store; empty: in memory.
  ShuffleRuntime(process::shuffle::Config config, int io_threads, std::string state, env::Log& log);
  ~ShuffleRuntime();

  /// Opens the store, recovers, listens. How many executors were known.
  base::Result<size_t> Start();
  /// Where it listens.
  env::Endpoint local() const { return local_; }

  void StartApp(const std::string& app, const std::string& payload);
  void StopApp(const std::string& app, bool remove_dirs);
  void ExecutorGone(const std::string& app, const std::string& executor);

  /// Takes no more executors; `done` runs on the core's thread (Service::Drain).
  void Drain(base::Duration idle, base::Duration limit, std::function<void(std::string reason)> done);

  struct Status {
    std::shared_ptr<const fairlead::shuffle::Registry> registry;
    std::vector<process::shuffle::WorkerMetrics> workers;
    size_t rows_unread = 0;   // of the store, which the service goes on without
    std::string store_error;  // why it takes nothing; empty: it does
    uint64_t registrations_refused = 0;
    std::vector<std::string> local_roots;  // a disk of each worker's metrics each
    /// Of a service that merges.
    struct Merges {
      fairlead::shuffle::MergeCounters counters;
      size_t memory_bytes = 0;
      size_t deferred_blocks = 0;
      size_t deferred_bytes = 0;
      size_t open_partitions = 0;
      std::map<std::string, fairlead::shuffle::MergeBook::AppUse> apps;
      std::string last_failure;  // of a write
    };
    std::optional<Merges> merges;
  };
  /// `done` runs on the core's thread.
  void CollectStatus(std::function<void(Status)> done);
  /// The core's loop, for what lives beside it (a status page).
  env_posix::PosixLoop& loop() { return *core_.loop; }

  /// Stops accepting, lets connections end for at most `limit`, then stops the threads. Blocks.
  void Stop(base::Duration limit);

 private:
  struct Thread {
    std::unique_ptr<env_posix::PosixLoop> loop = env_posix::MakePosixLoop(env_posix::WhenIdle::kPollFirst);
    std::thread thread;
    std::unique_ptr<process::shuffle::IoWorker> worker;
  };
  void RunOn(Thread& thread, std::function<void()> what);

  const process::shuffle::Config config_;
  const std::string state_;
  env::Log& log_;
  std::unique_ptr<env::Disk> disk_;
  std::unique_ptr<env::PageCache> page_cache_;
  std::unique_ptr<env::ConfinedFiles> confined_files_;
  Thread core_;
  std::vector<Thread> io_;
  std::unique_ptr<env::Store> store_;
  std::unique_ptr<process::shuffle::Service> service_;
  env::Endpoint local_;
  bool stopped_ = false;
};

}  // namespace fairlead::shell
