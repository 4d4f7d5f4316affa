#pragma once

#include <functional>
#include <string>

#include "env/alive.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/rpc/members.h"
#include "process/rpc/rpc_client.h"

namespace fairlead::process::driver {

/// Asks the resource manager that leads once for the racks of its nodes (ApplicationClientProtocol.getClusterNodes),
/// which the master's own protocol does not tell. One that does not answer, or not this user, is asked a few times
/// more; without an answer racks stay unknown, as for Spark where no topology script is configured. On the loop's
/// thread.
class ClusterRacks {
 public:
  using Told = std::function<void(const std::string& host, const std::string& rack)>;
  ClusterRacks(env::Loop& loop, env::Net& net, rpc::Members managers, const std::string& user, Told told);

 private:
  void Ask(int tries_left);

  env::Loop& loop_;
  rpc::RpcClient rpc_;
  rpc::Members managers_;
  rpc::RpcTarget target_;
  const Told told_;
  env::Alive alive_;
};

}  // namespace fairlead::process::driver
