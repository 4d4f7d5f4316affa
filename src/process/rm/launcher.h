#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "env/loop.h"
#include "model/rm.h"
#include "process/rm/key_ring.h"
#include "process/rpc/rpc_client.h"
#include "rm/core.h"
#include "wire/yarn/container_manager.h"

namespace fairlead::process::rm {

struct LauncherTimes {
  base::Duration call = base::Duration::Seconds(60);
  base::Duration retry_interval = base::Duration::Seconds(1);
  base::Duration give_up = base::Duration::Seconds(180);  // yarn.client.nodemanager-connect.max-wait-ms
};

/// Starts masters on their nodes and stops containers, by ContainerManagementProtocol as the attempt itself
/// (org.apache.hadoop.yarn.server.resourcemanager.amlauncher.AMLauncher).
class MasterLauncher {
 public:
  using Launched = std::function<void(model::rm::MasterLaunched)>;

  MasterLauncher(env::Loop& loop, env::Net& net, const fairlead::rm::Core& core, KeyRing& keys, LauncherTimes times,
                 rpc::RpcClientSecurity security, Launched launched);
  ~MasterLauncher();

  /// Ends with one MasterLaunched. A node that cannot be reached is tried again until give_up.
  void Launch(const model::rm::LaunchMaster& launch);
  /// Why the attempt's node has not taken its master yet, and for how long it is tried again; "" where there is nothing
  /// to tell. O(masters that are being started).
  std::string TriedAgain(const model::ApplicationAttemptId& attempt) const;
  /// Best effort, once.
  void Stop(const model::rm::StopContainers& stop);

 private:
  struct Job {
    model::rm::LaunchMaster launch;
    base::Instant give_up;
    std::string why;  // the last try failed
  };
  base::Result<std::string> BuildRequest(const model::rm::LaunchMaster& launch);
  rpc::RpcTarget TargetOf(const model::ApplicationAttemptId& attempt, const model::rm::NodeAddress& address);
  void Try(uint64_t job);
  void Finish(uint64_t job, std::string error);

  env::Loop& loop_;
  const fairlead::rm::Core& core_;
  KeyRing& keys_;
  const LauncherTimes times_;
  Launched launched_;
  rpc::RpcClient client_;
  uint64_t last_job_ = 0;
  std::map<uint64_t, Job> jobs_;
  std::map<uint64_t, env::Loop::TimerId> timers_;
};

}  // namespace fairlead::process::rm
