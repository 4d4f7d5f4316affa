#include <algorithm>
#include <utility>

#include "endpoints/yarn/rm_convert.h"
#include "process/rm/local_node.h"
#include "process/rm/service_support.h"
#include "process/rm/submissions.h"
#include "wire/yarn/tracker.h"

// ResourceTracker: nodes register and beat. Node managers are believed by name, as Hadoop believes them without
// Kerberos; off loopback the include list is the guard.

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;

void ResourceManager::OnTrackerCall(const rpc::IncomingCall& call) {
  using Method = w::ResourceTrackerMethod;
  switch (call.As<Method>()) {
    case Method::kNodeHeartbeat:
      return Heartbeat(call);
    case Method::kRegisterNodeManager:
      return RegisterNode(call);
    case Method::kUnRegisterNodeManager: {
      const auto request = Parse<w::UnRegisterNodeManagerRequestProto>(call);
      if (!request) return;
      m::UnregisterNode event;
      event.address = endpoints::yarn::FromWire(request->NodeId());
      if (RefusedHost(call, event.address)) return;
      Ask(std::move(event), [this, to = call.token](const m::OuterEffect& effect) {
        if (!Refused(to, effect)) server_->ReplyMessage(to, w::UnRegisterNodeManagerResponseProto{});
      });
    }
  }
}

bool ResourceManager::RefusedHost(const rpc::IncomingCall& call, const m::NodeAddress& address) {
  if (!credentials_) return false;
  base::Status admitted;
  if (call.caller.by_token()) {
    const auto tell = [&](const std::string& name, const std::string& why) {
      NoteAction(name, call.peer.host, "a call of a node is refused: " + why, {}, "", "");
    };
    admitted = credentials_->AdmitHost(call.caller.token_identifier, address.host, tell);
  } else if (const fairlead::rm::Node* known = core().FindNode(address)) {  // its host was looked up as it registered
    admitted = CheckLocalNode(address.host, known->ip, call.peer.host);
  }
  if (admitted.ok()) return false;
  Refuse(call.token, endpoints::yarn::exceptions::kAuthorization, admitted.error().message);
  return true;
}

void ResourceManager::RegisterNode(const rpc::IncomingCall& call) {
  const auto request = Parse<w::RegisterNodeManagerRequestProto>(call);
  if (!request) return;
  if (!request->node_id) return RefuseMissing(call, "node id");
  base::Result<m::RegisterNode> event = endpoints::yarn::ToEvent(*request);
  if (!event.ok()) return RefuseRequest(call, event.error());
  if (RefusedHost(call, event->address)) return;
  // A script says the rack, a name server the address: neither is waited for here.
  auto node = std::make_shared<m::RegisterNode>(std::move(*event));
  const auto look_up = [node, rack_of = options_.rack_of, ip_of = options_.ip_of] {
    node->rack = rack_of(node->address.host);
    if (ip_of) node->ip = ip_of(node->address.host);
  };
  const bool is_local = credentials_ != nullptr && !call.caller.by_token();
  loop_.Offload(look_up, alive_([this, node, is_local, to = call.token, peer = call.peer.host] {
                  const base::Status here =
                      is_local ? CheckLocalNode(node->address.host, node->ip, peer) : base::Status();
                  if (!here.ok()) return Refuse(to, endpoints::yarn::exceptions::kAuthorization, here.error().message);
                  RegisterNode(to, std::move(*node));
                }));
}

void ResourceManager::RegisterNode(rpc::CallToken call, m::RegisterNode event) {
  Ask(std::move(event), [this, to = call](const m::OuterEffect& effect) {
    if (Refused(to, effect)) return;
    const auto& answer = std::get<m::RegisterNodeAnswer>(effect);
    w::RegisterNodeManagerResponseProto response;
    response.node_action = static_cast<w::NodeActionProto>(answer.action);
    if (!answer.diagnostics.empty()) response.diagnostics_message = answer.diagnostics;
    if (answer.action == m::NodeAction::kNormal) {
      response.container_token_master_key = endpoints::yarn::ToWire(keys_->container().current);
      response.nm_token_master_key = endpoints::yarn::ToWire(keys_->node().current);
      response.laid_open = keys_->LaidOpenNodeKeys();
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
  if (!request->node_status) return RefuseMissing(call, "node status");
  base::Result<m::Heartbeat> event = endpoints::yarn::ToEvent(*request);
  if (!event.ok()) return RefuseRequest(call, event.error());
  if (RefusedHost(call, event->address)) return;
  ++counters_.heartbeats;
  RecordLogs(*request);
  const int32_t container_key = request->LastKnownContainerTokenMasterKey().KeyId();
  const int32_t nm_key = request->LastKnownNmTokenMasterKey().KeyId();
  const int64_t tokens = request->TokenSequenceNo();
  Ask(std::move(*event), [this, to = call.token, container_key, nm_key, tokens](const m::OuterEffect& effect) {
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
      if (submissions_) submissions_->system_credentials().Tell(tokens, response);
    }
    server_->ReplyMessage(to, response);
  });
}

void ResourceManager::RecordLogs(const w::NodeHeartbeatRequestProto& request) {
  const m::NodeAddress address = endpoints::yarn::FromWire(request.node_status->NodeId());
  if (!core().FindNode(address)) return;
  const auto is_it = [&](model::NodeIndex index) {
    const fairlead::rm::Node* node = core().NodeAt(index);
    return node && node->address == address;
  };
  for (const w::LogAggregationReportProto& report : request.log_aggregation_reports_for_apps) {
    const model::ApplicationId app = endpoints::yarn::FromWire(report.ApplicationId());
    const fairlead::rm::App* known = report.log_aggregation_status ? core().FindApp(app) : nullptr;
    // Of nodes alone on which it ran: a stranger may register as many others as he likes.
    if (!known || std::none_of(known->ran_on.begin(), known->ran_on.end(), is_it)) continue;
    log_statuses_[app][address] = *report.log_aggregation_status;
    machine_->Touch(known->index);
  }
  if (log_statuses_.size() < log_statuses_sweep_) return;
  std::erase_if(log_statuses_, [&](const auto& entry) { return !core().FindApp(entry.first); });
  log_statuses_sweep_ = 2 * log_statuses_.size() + 1024;
}

LogStatuses ResourceManager::LogsOf(const fairlead::rm::App& app) const {
  if (!options_.core.log_aggregation) return {};
  return {LogStatusOf(app, false), LogStatusOf(app, true)};
}

w::LogAggregationStatusProto ResourceManager::LogStatusOf(const fairlead::rm::App& app, bool late) const {
  using Status = w::LogAggregationStatusProto;
  const bool over = fairlead::rm::Core::IsCompleted(app);
  const auto told = log_statuses_.find(app.submission.id);
  std::map<Status, size_t> count;
  for (const model::NodeIndex index : app.ran_on) {
    const fairlead::rm::Node* node = core().NodeAt(index);
    Status status = Status::kNotStart;
    if (node && told != log_statuses_.end()) {
      if (const auto own = told->second.find(node->address); own != told->second.end()) status = own->second;
    }
    const bool ended = status == Status::kSucceeded || status == Status::kFailed;
    ++count[late && !ended ? Status::kTimeOut : status];
  }
  const size_t all = app.ran_on.size();
  if (count[Status::kNotStart] == all) return Status::kNotStart;
  if (count[Status::kSucceeded] + count[Status::kFailed] + count[Status::kTimeOut] == all) {
    if (count[Status::kFailed] > 0) return Status::kFailed;
    if (count[Status::kTimeOut] > 0) return Status::kTimeOut;
    return over ? Status::kSucceeded : Status::kRunning;
  }
  return count[Status::kRunningWithFailure] > 0 ? Status::kRunningWithFailure : Status::kRunning;
}

}  // namespace fairlead::process::rm
