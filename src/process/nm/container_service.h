#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/yarn/tokens.h"
#include "env/audit.h"
#include "env/loop.h"
#include "env/net.h"
#include "model/nm.h"
#include "nm/nm.h"
#include "process/nm/app_tokens.h"
#include "process/nm/node_keys.h"
#include "process/nm/ports.h"
#include "process/rpc/rpc_client.h"
#include "process/rpc/rpc_server.h"
#include "wire/yarn/container_manager.h"

namespace fairlead::process::nm {

/// Who waits for the answer of a call that the core judges.
struct Waiter {
  rpc::CallToken token = 0;
  std::string user = {}, ip = {};  // of a start and a stop: whose application, and from where
};

/// ContainerManagementProtocol as a node agent serves it to masters (Hadoop: ContainerManagerImpl): who calls is known
/// by an NM token, what comes is verified and made safe, and becomes an event of the core; each call is answered once.
/// On the loop's thread.
class ContainerService {
 public:
  /// All outlive it.
  struct Ports {
    env::Loop& loop;
    env::Net& net;
    const fairlead::nm::Nm& core;
    NodeKeys& keys;
    AppTokens& app_tokens;
    const std::vector<AuxService*>& services;
    const env::Audit& audit;  // of containers that masters start and stop
    std::function<void(model::nm::Event)> feed;
  };
  /// Whether a caller may speak `protocol` here (hadoop-policy.xml); empty: whoever has a token may.
  using Admits =
      std::function<base::Status(const endpoints::yarn::Caller&, const std::string& protocol, const std::string& from)>;

  explicit ContainerService(Ports ports) : ports_(std::move(ports)), server_(ports_.loop, ports_.net) {}

  base::Result<env::Endpoint> Listen(const env::Endpoint& address, const rpc::RpcClientSecurity& security,
                                     const Admits& admits);
  /// As which statuses name this node.
  void SetHost(const std::string& host) { host_ = host; }
  void Answer(model::nm::CallAnswer& effect);
  void Refuse(const model::nm::CallRefused& effect);

  const rpc::RpcServer& server() const { return server_; }
  /// Calls that were refused for what is in them.
  uint64_t malformed() const { return malformed_; }

 private:
  enum class CallKind : uint8_t { kStart, kStop, kSignal, kUpdate, kIncrease, kLocalize, kRestart };
  struct OpenCall {
    Waiter waiter;
    CallKind kind = CallKind::kStart;
    std::vector<model::nm::Refusal> refused;  // here, not by the core
  };

  /// Parses `Request`, or refuses the call, counts that and gives nothing.
  template <class Request>
  std::optional<Request> Parse(const rpc::IncomingCall& call);
  void OnCall(const rpc::IncomingCall& call);
  void StartContainers(const rpc::IncomingCall& call, const wire::yarn::NMTokenIdentifierProto& token);
  void StopContainers(const rpc::IncomingCall& call, const wire::yarn::NMTokenIdentifierProto& token);
  void GetStatuses(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt);
  void SignalContainer(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt);
  void UpdateContainers(const rpc::IncomingCall& call, const wire::yarn::NMTokenIdentifierProto& token,
                        const std::vector<wire::hadoop_rpc::TokenProto>& tokens, CallKind kind);
  void GetLocalizationStatuses(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt);
  void LocalizeContainer(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt);
  void RestartContainer(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt);
  uint64_t Open(const rpc::IncomingCall& call, CallKind kind, std::string user = "");
  std::vector<std::pair<std::string, std::string>> ServiceMeta() const;

  const Ports ports_;
  std::string host_;
  rpc::RpcServer server_;
  uint64_t malformed_ = 0;
  std::map<uint64_t, OpenCall> calls_;
  uint64_t next_call_ = 1;
};

}  // namespace fairlead::process::nm
