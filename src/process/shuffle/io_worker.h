#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "endpoints/shuffle/session.h"
#include "env/alive.h"
#include "env/disk.h"
#include "env/local_net.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/page_cache.h"
#include "process/shuffle/block_store.h"
#include "process/shuffle/config.h"
#include "process/shuffle/fair_turns.h"
#include "process/shuffle/merge_owner.h"
#include "process/shuffle/read_ahead.h"
#include "shuffle/core.h"

namespace fairlead::process::shuffle {

class Connection;

/// What an I/O thread has to say, as a value.
struct WorkerMetrics {
  uint64_t connections_opened = 0;
  uint64_t connections_refused = 0;
  uint64_t connections_idle_closed = 0;
  uint64_t tls_failures = 0;
  size_t connections = 0;
  size_t streams = 0;
  size_t stream_bytes = 0;
  size_t queued_bytes = 0;
  size_t index_cache_bytes = 0;
  size_t open_files = 0;
  endpoints::shuffle::SessionCounters sessions;
  BlockStore::Counters blocks;
  ReadAhead::Counters read_ahead;
  std::vector<DiskTrouble> disks;
  /// Block bytes by application, of open connections and those before.
  std::map<std::string, uint64_t> app_bytes;
  /// Open connections by application.
  std::map<std::string, int64_t> app_connections;
  /// Time since something was last done for an application.
  std::map<std::string, base::Duration> app_idle;
};

/// Requests that only the owner of the registry can answer. Called on the worker's thread; the answer comes back by
/// IoWorker::Loop().Post.
class RegistryOwner {
 public:
  virtual ~RegistryOwner() = default;
  /// `done` runs on the worker's loop, after the worker was given the registry that knows of it. Empty: success.
  virtual void Register(model::shuffle::RegisterExecutor request, env::Loop& reply_on,
                        std::function<void(std::string error)> done) = 0;
  /// `done` runs on the worker's loop, with the application whose open stream that is on any worker.
  virtual void FindStream(int64_t stream_id, env::Loop& reply_on,
                          std::function<void(const std::optional<std::string>& app)> done) = 0;
  /// Files of this registration were removed: every worker must let go of them.
  virtual void FilesRemoved(uint64_t generation) = 0;
  /// nullptr: pushed blocks are not merged.
  virtual MergeOwner* merges() { return nullptr; }
  /// Blocks were pushed all the same; said again and again.
  virtual void NotePushRefused() {}
};

/// The connections of one loop. Single-threaded; what other threads want of it goes through its loop.
class IoWorker {
 public:
  /// `page_cache` nullptr: the disk never waits (simulator).
  IoWorker(env::Loop& loop, env::Net& net, env::Disk& disk, env::PageCache* page_cache, env::Log& log,
           const Config& config, RegistryOwner& owner);
  IoWorker(const IoWorker&) = delete;
  IoWorker& operator=(const IoWorker&) = delete;
  ~IoWorker();

  /// Accepts connections for itself and for `others`, workers of other threads that outlive it.
  base::Status Listen(const env::Endpoint& endpoint, std::vector<IoWorker*> others = {});
  /// As Listen, for readers on this host, which get long blocks as open files. Whoever may connect there has the same
  /// session, authentication and rights as over TCP. Not where connections are to be encrypted.
  base::Status ListenLocal(env::LocalNet& net, const std::string& name);
  env::Endpoint local() const { return listener_ ? listener_->local() : env::Endpoint{}; }
  /// Stops accepting; `done` runs when the last connection is gone or `limit` has passed (the rest is then closed).
  void Drain(base::Duration limit, std::function<void()> done);

  void SetRegistry(std::shared_ptr<const fairlead::shuffle::Registry> registry);
  void Forget(uint64_t generation) { blocks_.Forget(generation); }
  void SetMerges(std::shared_ptr<const fairlead::shuffle::MergeView> merges) { merges_ = std::move(merges); }
  /// There is room for pushed blocks again.
  void ResumePushers();
  WorkerMetrics Metrics() const;

  // ---- for connections
  env::Loop& loop() { return loop_; }
  env::Disk& disk() { return disk_; }
  env::Log& log() { return log_; }
  const Config& config() const { return config_; }
  RegistryOwner& owner() { return owner_; }
  BlockStore& blocks() { return blocks_; }
  ReadAhead& read_ahead() { return read_ahead_; }
  /// Brings the block into memory, off the loop; `done` may be empty.
  void Warm(const fairlead::shuffle::Registry::ExecutorRef& executor, const endpoints::shuffle::BlockRef& block,
            ReadAhead::Done done);
  /// What Warm() was asked for, or an error that names the silent disk.
  endpoints::shuffle::BlockResult OpenWarmed(const model::shuffle::Executor& executor,
                                             const endpoints::shuffle::BlockRef& block, bool answered);
  endpoints::shuffle::StreamTable& streams() { return streams_; }
  endpoints::shuffle::SessionCounters& counters() { return counters_; }
  const std::shared_ptr<const fairlead::shuffle::Registry>& registry() const { return registry_; }
  uint64_t registry_version() const { return registry_version_; }
  std::optional<std::string> SecretOf(std::string_view app) const;
  /// nullptr: the application did not register where its merged files lie.
  std::shared_ptr<const fairlead::shuffle::MergedApp> FindMerged(std::string_view app) const;
  /// Parts of blocks that a connection brings, to the owner of the merges.
  void Push(uint64_t connection, std::vector<endpoints::shuffle::PushPart> parts);
  /// Bytes that one connection may queue now.
  size_t QueueLimit() const;
  void CountQueued(int64_t change) { queued_bytes_ += change; }
  void NoteApp(const std::string& app, int64_t connections, uint64_t bytes);
  /// More than one application is connected: what is sent goes by turns.
  bool contended() const { return apps_connected_ > 1; }
  peers::PeerTable& peers() { return peers_; }
  void AskForTurn(const std::string& app, uint64_t connection);
  /// A peer did not speak TLS, or not as configured: counted, and logged at most once a minute.
  void NoteTlsFailure(const env::Endpoint& peer, const base::Error& error);
  /// Ends a connection in a later turn.
  void Drop(uint64_t id);
  Connection* Find(uint64_t id);

  /// One copy for every connection that is here or on its way here.
  using Seat = std::shared_ptr<const bool>;
  const Seat& seat() const { return seats_; }

 private:
  /// May be asked from any thread.
  long seats_taken() const { return seats_.use_count(); }
  void HandOut(std::unique_ptr<env::Stream> stream);
  template <class Stream>
  void Accept(std::unique_ptr<Stream> stream);
  void Tick();
  void RunRound();

  env::Loop& loop_;
  env::Net& net_;
  env::Disk& disk_;
  env::Log& log_;
  const Config& config_;
  RegistryOwner& owner_;
  BlockStore blocks_;
  ReadAhead read_ahead_;
  endpoints::shuffle::StreamTable streams_;
  endpoints::shuffle::SessionCounters counters_;
  std::shared_ptr<const fairlead::shuffle::Registry> registry_;
  uint64_t registry_version_ = 1;
  std::shared_ptr<const fairlead::shuffle::MergeView> merges_ = std::make_shared<const fairlead::shuffle::MergeView>();
  std::unique_ptr<env::Listener> listener_;
  std::unique_ptr<env::Listener> local_listener_;
  std::vector<IoWorker*> others_;
  const Seat seats_ = std::make_shared<const bool>(true);
  peers::PeerTable peers_;  // before the connections, which have seats
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections_;
  uint64_t last_connection_ = 0;
  int64_t queued_bytes_ = 0;
  size_t apps_connected_ = 0;
  FairTurns turns_;
  bool round_posted_ = false;
  WorkerMetrics metrics_;
  std::map<std::string, base::Instant> app_used_;
  env::Loop::TimerId tick_ = 0;
  base::Instant tls_failure_logged_;
  std::function<void()> drained_;
  base::Instant drain_until_ = base::Instant::Max();
  /// Callbacks that outlive the worker look here.
  env::Alive alive_;
  friend class Connection;
};

}  // namespace fairlead::process::shuffle
