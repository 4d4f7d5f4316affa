#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "process/peers/peer_table.h"
#include "process/spark_rpc/guest.h"

namespace fairlead::process::spark_worker {

/// The "Worker" that executors and drivers watch, and end with (org.apache.spark.deploy.worker.WorkerWatcher): it says
/// that it is there, and stays connected. It takes no orders. Its name is random and only what this worker runs is told
/// of it: who asks for it is a member, and whoever else asks stays as long as there is room.
class WatchPort {
 public:
  static base::Result<std::unique_ptr<WatchPort>> Listen(env::Loop& loop, env::Net& net, const std::string& address,
                                                         spark_rpc::Security security);
  ~WatchPort();
  uint16_t port() const { return listener_->local().port; }
  const std::string& name() const { return name_; }

 private:
  WatchPort(env::Loop& loop, spark_rpc::Security security);
  void Take(std::unique_ptr<env::Stream> stream);
  void OnMessage(uint64_t id, spark_rpc::Incoming message);
  void OnClosed(uint64_t id);
  void Sweep();

  env::Loop& loop_;
  const spark_rpc::Security security_;
  std::string name_;
  std::unique_ptr<env::Listener> listener_;
  peers::PeerTable table_{peers::PeerLimits{}};  // before the peers, which have seats
  std::map<uint64_t, spark_rpc::Guest> peers_;
  uint64_t last_peer_ = 0;
  env::Timer sweep_timer_{loop_};
};

}  // namespace fairlead::process::spark_worker
