#include "process/driver/cluster_racks.h"

#include "wire/yarn/client.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::driver {

namespace wy = wire::yarn;

namespace {
constexpr int kTries = 5;
constexpr base::Duration kRetry = base::Duration::Seconds(5);
constexpr base::Duration kTimeout = base::Duration::Seconds(30);
}  // namespace

ClusterRacks::ClusterRacks(env::Loop& loop, env::Net& net, rpc::Members managers, const std::string& user, Told told)
    : loop_(loop), rpc_(loop, net), managers_(std::move(managers)), told_(std::move(told)) {
  target_.protocol = std::string(wy::kApplicationClientProtocol);
  target_.user.user = user;
  Ask(kTries);
}

void ClusterRacks::Ask(int tries_left) {
  wy::GetClusterNodesRequestProto request;
  request.node_states = {wy::NodeStateProto::kRunning};
  target_.address = managers_.current();
  rpc_.Call<wy::GetClusterNodesResponseProto>(
      target_, "getClusterNodes", request, kTimeout,
      alive_([this, tries_left](base::Result<wy::GetClusterNodesResponseProto, rpc::RpcError> answer) {
        if (answer) {
          for (const wy::NodeReportProto& node : answer->node_reports) {
            if (node.node_id) told_(std::string(node.node_id->Host()), node.rack_name.value_or(""));
          }
          return;
        }
        managers_.Failed(answer.error());
        if (tries_left > 1 && !rpc::IsRefusal(answer.error())) {
          loop_.After(kRetry, alive_([this, tries_left] { Ask(tries_left - 1); }));
        }
      }));
}

}  // namespace fairlead::process::driver
