#pragma once

#include "env/alive.h"
#include "env_sim/world.h"
#include "process/rpc/members.h"
#include "process/rpc/rpc_client.h"
#include "sim/cluster/ledger.h"
#include "sim/cluster/master.h"
#include "wire/yarn/client.h"

namespace fairlead::sim {

/// A user's client: submits one job over ApplicationClientProtocol, trying again as Hadoop's YarnClient does, and
/// follows it to its end.
class JobClient {
 public:
  JobClient(env_sim::Machine& machine, process::rpc::Members rm, JobSpec job, Ledger& ledger);
  ~JobClient();
  bool ended() const { return ended_; }

 private:
  template <class Response, class Request>
  void Call(const char* method, const Request& request, void (JobClient::*again)(),
            std::function<void(const Response&)> then);
  void Later(base::Duration delay, void (JobClient::*step)());
  /// As Hadoop's: the first failure since an answer goes to the other manager at once, the next ones after a while.
  base::Duration Wait();
  void GetId();
  void Submit();
  void Poll();

  env_sim::Machine& machine_;
  process::rpc::Members rm_;
  JobSpec job_;
  Ledger& ledger_;
  process::rpc::RpcClient rpc_;
  wire::yarn::ApplicationIdProto id_;
  bool failed_ = false;  // the last call
  bool acknowledged_ = false;
  bool ended_ = false;
  env::Alive alive_;
};

}  // namespace fairlead::sim
