#include <utility>

#include "process/rm/client_service.h"
#include "process/rm/resource_manager.h"
#include "wire/hadoop_rpc/security.h"

// The three calls of ApplicationClientProtocol about delegation tokens (ClientRMService).

namespace fairlead::process::rm {

namespace h = wire::hadoop_rpc;
using endpoints::yarn::RemoteException;

DelegationTokens* ClientService::RequireDelegation(const Call& call) {
  if (manager_.delegation() == nullptr) {
    Refuse(call.token, endpoints::yarn::exceptions::kUnsupportedOperation,
           std::string(call.method) + " needs hadoop.security.authentication=kerberos.");
  }
  return manager_.delegation();
}

void ClientService::GetDelegationToken(const Call& call) {
  DelegationTokens* delegation = RequireDelegation(call);
  if (!delegation) return;
  const auto request = Parse<h::GetDelegationTokenRequestProto>(call);
  if (!request) return;
  delegation->Get(call.caller, request->renewer,
                  [this, to = call.token](base::Result<endpoints::yarn::RpcToken, RemoteException> token) {
                    if (!token.ok()) return Refuse(to, token.error());
                    h::GetDelegationTokenResponseProto response;
                    response.token = endpoints::yarn::ToWire(*token);
                    server_.ReplyMessage(to, response);
                  });
}

void ClientService::RenewDelegationToken(const Call& call) {
  DelegationTokens* delegation = RequireDelegation(call);
  if (!delegation) return;
  const auto request = Parse<h::RenewDelegationTokenRequestProto>(call);
  if (!request) return;
  delegation->Renew(call.caller, endpoints::yarn::FromWire(request->token),
                    [this, to = call.token](base::Result<int64_t, RemoteException> until) {
                      if (!until.ok()) return Refuse(to, until.error());
                      h::RenewDelegationTokenResponseProto response;
                      response.new_expiry_time = static_cast<uint64_t>(*until);
                      server_.ReplyMessage(to, response);
                    });
}

void ClientService::CancelDelegationToken(const Call& call) {
  DelegationTokens* delegation = RequireDelegation(call);
  if (!delegation) return;
  const auto request = Parse<h::CancelDelegationTokenRequestProto>(call);
  if (!request) return;
  delegation->Cancel(call.caller, endpoints::yarn::FromWire(request->token),
                     [this, to = call.token](base::Result<bool, RemoteException> cancelled) {
                       if (!cancelled.ok()) return Refuse(to, cancelled.error());
                       server_.ReplyMessage(to, h::CancelDelegationTokenResponseProto{});
                     });
}

}  // namespace fairlead::process::rm
