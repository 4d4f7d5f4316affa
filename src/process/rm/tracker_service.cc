#include <utility>

#include "endpoints/yarn/rm_convert.h"
#include "process/rm/service_support.h"
#include "wire/yarn/tracker.h"

// ResourceTracker: nodes register and beat. Node managers are believed by name, as Hadoop believes them without
// Kerberos; off loopback the include list is the guard.

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;

void ResourceManager::OnTrackerCall(const rpc::IncomingCall& call) {
  if (call.method == "nodeHeartbeat") return Heartbeat(call);
  if (call.method == "registerNodeManager") return RegisterNode(call);
  const auto request = Parse<w::UnRegisterNodeManagerRequestProto>(call);
  if (!request) return;
  m::UnregisterNode event;
  event.address = endpoints::yarn::FromWire(request->NodeId());
  Ask(std::move(event), [this, to = call.token](const m::OuterEffect& effect) {
    if (!Refused(to, effect)) server_->ReplyMessage(to, w::UnRegisterNodeManagerResponseProto{});
  });
}

void ResourceManager::RegisterNode(const rpc::IncomingCall& call) {
  const auto request = Parse<w::RegisterNodeManagerRequestProto>(call);
  if (!request) return;
  base::Result<m::RegisterNode> event = endpoints::yarn::ToEvent(*request);
  if (!event.ok()) return Refuse(call.token, endpoints::yarn::exceptions::kYarn, event.error().message);
  event->rack = options_.rack_of(event->address.host);
  Ask(std::move(*event), [this, to = call.token](const m::OuterEffect& effect) {
    if (Refused(to, effect)) return;
    const auto& answer = std::get<m::RegisterNodeAnswer>(effect);
    w::RegisterNodeManagerResponseProto response;
    response.node_action = static_cast<w::NodeActionProto>(answer.action);
    if (!answer.diagnostics.empty()) response.diagnostics_message = answer.diagnostics;
    if (answer.action == m::NodeAction::kNormal) {
      response.container_token_master_key = endpoints::yarn::ToWire(keys_->container().current);
      response.nm_token_master_key = endpoints::yarn::ToWire(keys_->node().current);
      response.rm_identifier = core().cluster_timestamp();
      response.rm_version = options_.version;
      response.are_node_labels_accepted_by_rm = false;
    }
    server_->ReplyMessage(to, response);
  });
}

void ResourceManager::Heartbeat(const rpc::IncomingCall& call) {
  const auto request = Parse<w::NodeHeartbeatRequestProto>(call);
  if (!request) return;
  base::Result<m::Heartbeat> event = endpoints::yarn::ToEvent(*request);
  if (!event.ok()) return Refuse(call.token, endpoints::yarn::exceptions::kYarn, event.error().message);
  ++counters_.heartbeats;
  RecordUtilization(event->address, *request->node_status);
  const int32_t container_key = request->LastKnownContainerTokenMasterKey().KeyId();
  const int32_t nm_key = request->LastKnownNmTokenMasterKey().KeyId();
  Ask(std::move(*event), [this, to = call.token, container_key, nm_key](const m::OuterEffect& effect) {
    if (Refused(to, effect)) return;
    const auto& answer = std::get<m::HeartbeatAnswer>(effect);
    w::NodeHeartbeatResponseProto response = endpoints::yarn::ToWire(answer, options_.heartbeat.millis(), *keys_);
    if (answer.action == m::NodeAction::kNormal) {
      if (keys_->container().newest().id != container_key) {
        response.container_token_master_key = endpoints::yarn::ToWire(keys_->container().newest());
      }
      if (keys_->node().newest().id != nm_key) {
        response.nm_token_master_key = endpoints::yarn::ToWire(keys_->node().newest());
      }
    }
    server_->ReplyMessage(to, response);
  });
}

// Only nodes that the core knows are kept, so the table is bounded by theirs.
void ResourceManager::RecordUtilization(const m::NodeAddress& address, const w::NodeStatusProto& status) {
  if (!core().FindNode(address)) return;
  Utilization& own = utilization_[address];
  if (status.node_utilization) {
    own.node_memory_mib = status.node_utilization->Pmem();
    own.node_virtual_mib = status.node_utilization->Vmem();
    own.node_cpu = static_cast<double>(status.node_utilization->Cpu());
  }
  if (status.containers_utilization) {
    own.containers_memory_mib = status.containers_utilization->Pmem();
    own.containers_virtual_mib = status.containers_utilization->Vmem();
    own.containers_cpu = static_cast<double>(status.containers_utilization->Cpu());
  }
}

ResourceManager::Utilization ResourceManager::UtilizationOf(const m::NodeAddress& address) const {
  const auto it = utilization_.find(address);
  return it == utilization_.end() ? Utilization{} : it->second;
}

}  // namespace fairlead::process::rm
