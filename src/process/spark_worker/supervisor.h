#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/process.h"
#include "env/timer.h"
#include "process/spark_worker/child.h"
#include "process/spark_worker/supervision.h"
#include "process/spark_worker/watch_port.h"

namespace fairlead::process::spark_worker {

/// Below the work directory: where workers meet supervisors. No directory of an application or driver has such a name.
inline constexpr const char* kSupervisorDirectory = ".fairlead";

/// What a worker tells the one that takes its place.
struct WorkerIdentity {
  std::string id;  // empty: there was none yet
  int32_t port = 0;
  FL_FIELDS(id, port)
};

/// The processes of one worker and the port that they watch. Where the worker goes, everything goes on for as long as
/// it has said (KeepFor), and is ended then. On the loop's thread.
class Supervisor final : public Supervision {
 public:
  struct World {
    env::Loop& loop;
    env::Net& net;
    env::Processes& processes;
    env::Log& log;
    Surroundings* surroundings = nullptr;  // null: none
  };
  /// `address` is where the watched port listens. `on_over`: there is nothing to supervise any more, and nobody will
  /// come; this object may be destroyed in a later turn.
  static base::Result<std::unique_ptr<Supervisor>> Start(const World& world, const std::string& address,
                                                         spark_rpc::Security security, std::function<void()> on_over);
  ~Supervisor() override;

  uint16_t watched_port() const { return port_->port(); }
  /// What the processes are to watch there.
  const std::string& watched_name() const { return port_->name(); }
  bool has_worker() const { return has_worker_; }
  const WorkerIdentity& identity() const { return identity_; }
  std::vector<SupervisedRun> Runs() const;

  /// A worker is there; Listen follows.
  void Attach();
  /// It is gone, in whatever way.
  void Detach();
  void SetIdentity(WorkerIdentity identity) { identity_ = std::move(identity); }

  void Listen(Listener listener) override { listener_ = std::move(listener); }
  void Start(RunOrder order) override;
  void End(const std::string& key) override;
  void Forget(const std::string& key) override;
  void KeepFor(base::Duration absence) override { absence_ = absence; }
  void Quit() override;

 private:
  struct Run {
    SupervisedRun said;
    std::unique_ptr<Child> child;
  };
  Supervisor(const World& world, std::function<void()> on_over) : world_(world), on_over_(std::move(on_over)) {}
  void OnEnded(const std::string& key, int32_t code);
  /// In a later turn, to the worker that is there then.
  void Tell(std::function<void(const Listener& listener)> what);

  const World world_;
  const std::function<void()> on_over_;
  std::unique_ptr<WatchPort> port_;
  std::map<std::string, Run> runs_;
  WorkerIdentity identity_;
  Listener listener_;
  bool has_worker_ = false;
  base::Duration absence_;
  env::Timer away_timer_{world_.loop};
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_worker
