#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/alive.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/store.h"
#include "process/shuffle/config.h"
#include "process/shuffle/io_worker.h"
#include "process/shuffle/merger.h"
#include "shuffle/core.h"

namespace fairlead::process::shuffle {

/// The shuffle service: the core with its store on one loop, and workers with the connections on loops of their own or
/// on the same one. Two faces: a separate service, and the auxiliary service `spark_shuffle` of a node manager, which
/// calls StartApp and StopApp. Constructed and used on the core's loop; workers call Register from theirs.
class Service final : public RegistryOwner {
 public:
  /// All references must outlive the service; `store` may be nullptr: registrations then live in memory only.
  /// With `files`, and where the configuration says so, it merges pushed blocks.
  Service(env::Loop& loop, env::Disk& disk, env::Store* store, env::Log& log, const Config& config,
          env::ConfinedFiles* files = nullptr);
  ~Service() override;

  /// Reads the store; before the first worker listens. How many executors it knows.
  base::Result<size_t> Recover();
  /// A worker on `loop`, which must have been created for this service's config. Call on the core's loop.
  void AddWorker(IoWorker& worker);
  /// Before workers on loops of other threads are destroyed: nothing is asked of them any more. On the core's loop.
  void ForgetWorkers() { workers_.clear(); }

  // ---- the auxiliary service's face
  using Done = std::function<void(const std::string& error)>;
  /// `payload` is what the application's container launch carries: the secret, or JSON with "secret" in it
  /// (YarnShuffleService.initializeApplication); empty: no authentication.
  void StartApp(const std::string& app, const std::string& payload, Done done);
  void StopApp(const std::string& app, bool remove_dirs, Done done);
  void ExecutorGone(const std::string& app, const std::string& executor);

  /// Takes no more executors; `done` runs once nothing is asked for any more or the limit has passed, with which of it.
  void Drain(base::Duration idle, base::Duration limit, std::function<void(std::string reason)> done);

  /// Collects every worker's metrics, then calls `done` on the core's loop.
  void CollectMetrics(std::function<void(std::vector<WorkerMetrics>)> done);
  std::shared_ptr<const fairlead::shuffle::Registry> registry() const { return core_.View(); }
  const fairlead::shuffle::Core& core() const { return core_; }
  /// nullptr: it does not merge.
  Merger* merger() const { return merger_.get(); }
  /// Why the store took nothing when it was last asked, which is done every second until it does; empty: it did.
  const std::string& store_error() const { return store_error_; }
  /// Rows of the store that this run goes on without.
  const std::vector<env::UnreadRow>& unread() const { return unread_; }

  // ---- RegistryOwner, from any worker's thread
  void Register(model::shuffle::RegisterExecutor request, env::Loop& reply_on,
                std::function<void(std::string error)> done) override;
  void FindStream(int64_t stream_id, env::Loop& reply_on,
                  std::function<void(const std::optional<std::string>& app)> done) override;
  void FilesRemoved(uint64_t generation) override;
  MergeOwner* merges() override { return merger_.get(); }
  void NotePushRefused() override;

 private:
  void Step(std::vector<model::shuffle::Event> events);
  void Run(model::shuffle::Persist& effect);
  void Run(model::shuffle::Answered& effect);
  void Run(model::shuffle::RemoveDirs& effect);
  void Run(model::shuffle::RemoveUnserved& effect);
  void Run(model::shuffle::Probe& effect);
  void Run(model::shuffle::Forgotten& effect);
  void Run(model::shuffle::Drained& effect);
  /// `ask` runs on each worker's loop, `done` with all answers on the core's.
  template <class Answer>
  void AskWorkers(std::function<Answer(IoWorker&)> ask, std::function<void(std::vector<Answer>)> done);
  void Publish();
  void OnRegister(model::shuffle::RegisterExecutor request, Done done);
  template <class What>
  void TellWorkers(const What& what);
  void ArmTimer();
  void NoteCommit(const env::CommitStatus& status);
  uint64_t Token(Done done);

  env::Loop& loop_;
  env::Disk& disk_;
  env::Store* const store_;
  env::Log& log_;
  const Config& config_;
  fairlead::shuffle::Core core_;
  std::unique_ptr<Merger> merger_;
  std::atomic<bool> push_refused_ = false;  // and said so
  std::vector<env::UnreadRow> unread_;
  std::string store_error_;
  bool probing_ = false;
  const base::Instant started_;
  std::vector<IoWorker*> workers_;
  std::map<uint64_t, Done> waiting_;
  uint64_t last_token_ = 0;
  std::function<void(std::string)> drained_;
  std::shared_ptr<const fairlead::shuffle::Registry> published_;
  env::Loop::TimerId timer_ = 0;
  base::Instant armed_for_ = base::Instant::Max();
  env::Alive alive_;
};

/// The secret in the payload of a container launch.
std::string SecretInPayload(const std::string& payload);

}  // namespace fairlead::process::shuffle
