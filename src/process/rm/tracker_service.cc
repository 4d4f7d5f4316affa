#include "process/rm/tracker_service.h"

#include <utility>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/rm_decode.h"
#include "process/rm/local_node.h"
#include "process/rm/resource_manager.h"
#include "process/rm/submissions.h"

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;

void TrackerService::OnCall(const Call& call) {
  using Method = w::ResourceTrackerMethod;
  switch (call.As<Method>()) {
    case Method::kNodeHeartbeat:
      return Take(call, &TrackerService::Heartbeat);
    case Method::kRegisterNodeManager:
      return Take(call, &TrackerService::RegisterNode);
    case Method::kUnRegisterNodeManager: {
      const auto request = Parse<w::UnRegisterNodeManagerRequestProto>(call);
      if (!request) return;
      m::UnregisterNode event;
      event.address = endpoints::yarn::FromWire(request->NodeId());
      if (RefusedHost(call, event.address)) return;
      batches_.Ask(std::move(event), Done<w::UnRegisterNodeManagerResponseProto>(call.token));
    }
  }
}

bool TrackerService::RefusedHost(const Call& call, const m::NodeAddress& address) {
  CredentialStore* credentials = manager_.credentials();
  if (!credentials) return false;
  base::Status admitted;
  if (call.caller.by_token()) {
    const auto tell = [&](const std::string& name, const std::string& why) {
      manager_.NoteAction(name, call.peer.host, "a call of a node is refused: " + why, {}, "", "");
    };
    admitted = credentials->AdmitHost(call.caller.token_identifier, address.host, tell);
  } else if (const auto* known = manager_.core().FindNode(address)) {  // its host was looked up as it registered
    admitted = CheckLocalNode(address.host, known->ip, call.peer.host);
  }
  if (admitted.ok()) return false;
  Refuse(call.token, endpoints::yarn::exceptions::kAuthorization, admitted.error().message);
  return true;
}

void TrackerService::RegisterNode(const Call& call, const w::RegisterNodeManagerRequestProto& request) {
  if (!request.node_id) return RefuseMissing(call, "node id");
  base::Result<m::RegisterNode> event = endpoints::yarn::ToEvent(request);
  if (!event.ok()) return RefuseRequest(call, event.error());
  if (RefusedHost(call, event->address)) return;
  // A script says the rack, a name server the address: neither is waited for here.
  auto node = std::make_shared<m::RegisterNode>(std::move(*event));
  auto logs = std::make_shared<LogAggregation::Reports>(request.log_aggregation_reports_for_apps);
  const auto look_up = [node, rack_of = manager_.options().rack_of, ip_of = manager_.options().ip_of] {
    node->rack = rack_of(node->address.host);
    if (ip_of) node->ip = ip_of(node->address.host);
  };
  const bool is_local = manager_.credentials() != nullptr && !call.caller.by_token();
  loop_.Offload(look_up, alive_([this, node, logs, is_local, to = call.token, peer = call.peer.host] {
                  const base::Status here =
                      is_local ? CheckLocalNode(node->address.host, node->ip, peer) : base::Status();
                  if (!here.ok()) return Refuse(to, endpoints::yarn::exceptions::kAuthorization, here.error().message);
                  RegisterNode(to, std::move(*node), std::move(*logs));
                }));
}

void TrackerService::RegisterNode(rpc::CallToken call, m::RegisterNode event, LogAggregation::Reports logs) {
  const m::NodeAddress address = event.address;
  batches_.Ask(std::move(event), [this, to = call, address, logs = std::move(logs)](const auto& effect) {
    if (Refused(to, effect)) return;
    const auto& answer = std::get<m::RegisterNodeAnswer>(effect);
    w::RegisterNodeManagerResponseProto response;
    response.node_action = static_cast<w::NodeActionProto>(answer.action);
    if (!answer.diagnostics.empty()) response.diagnostics_message = answer.diagnostics;
    if (answer.action == m::NodeAction::kNormal) {
      manager_.log_aggregation().Record(address, logs, manager_.now_wall());
      response.container_token_master_key = endpoints::yarn::ToWire(manager_.keys().container().current);
      response.nm_token_master_key = endpoints::yarn::ToWire(manager_.keys().node().current);
      response.laid_open = manager_.keys().LaidOpenNodeKeys();
      response.rm_identifier = manager_.core().cluster_timestamp();
      response.rm_version = manager_.options().version;
      response.are_node_labels_accepted_by_rm = false;
    }
    server_.ReplyMessage(to, response);
  });
}

void TrackerService::Heartbeat(const Call& call, const w::NodeHeartbeatRequestProto& request) {
  if (!request.node_status) return RefuseMissing(call, "node status");
  base::Result<m::Heartbeat> event = endpoints::yarn::ToEvent(request);
  if (!event.ok()) return RefuseRequest(call, event.error());
  if (RefusedHost(call, event->address)) return;
  ++manager_.counters().heartbeats;
  manager_.log_aggregation().Record(event->address, request.log_aggregation_reports_for_apps, manager_.now_wall());
  const int32_t container_key = request.LastKnownContainerTokenMasterKey().KeyId();
  const int32_t nm_key = request.LastKnownNmTokenMasterKey().KeyId();
  const int64_t tokens = request.TokenSequenceNo();
  const std::vector<model::ApplicationId> kept = event->keep_alive_apps;
  batches_.Ask(std::move(*event), [this, to = call.token, container_key, nm_key, tokens, kept](const auto& effect) {
    if (Refused(to, effect)) return;
    const auto& answer = std::get<m::HeartbeatAnswer>(effect);
    w::NodeHeartbeatResponseProto response =
        endpoints::yarn::ToWire(answer, manager_.options().heartbeat.millis(), manager_.keys());
    if (answer.action == m::NodeAction::kNormal) {
      if (manager_.keys().container().newest().id != container_key) {
        response.container_token_master_key = endpoints::yarn::ToWire(manager_.keys().container().newest());
      }
      if (manager_.keys().node().newest().id != nm_key) {
        response.nm_token_master_key = endpoints::yarn::ToWire(manager_.keys().node().newest());
      }
      if (const Submissions* known = manager_.submissions()) {
        known->KeepTokens(kept);
        known->system_credentials().Tell(tokens, response);
      }
    }
    server_.ReplyMessage(to, response);
  });
}

}  // namespace fairlead::process::rm
