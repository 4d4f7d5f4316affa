#include <utility>

#include "process/rm/service_support.h"
#include "wire/hadoop_rpc/security.h"

// The three calls of ApplicationClientProtocol about delegation tokens (ClientRMService).

namespace fairlead::process::rm {

namespace h = wire::hadoop_rpc;
namespace ex = endpoints::yarn::exceptions;
using endpoints::yarn::RemoteException;

namespace {
constexpr char kNeedsKerberos[] = " needs hadoop.security.authentication=kerberos.";
}

void ResourceManager::GetDelegationToken(const rpc::IncomingCall& call) {
  if (!delegation_) return Refuse(call.token, ex::kUnsupportedOperation, std::string(call.method) + kNeedsKerberos);
  const auto request = Parse<h::GetDelegationTokenRequestProto>(call);
  if (!request) return;
  delegation_->Get(call.caller, request->renewer,
                   [this, to = call.token](base::Result<endpoints::yarn::RpcToken, RemoteException> token) {
                     if (!token.ok()) return Refuse(to, token.error().class_name, token.error().message);
                     h::GetDelegationTokenResponseProto response;
                     response.token = endpoints::yarn::ToWire(*token);
                     server_->ReplyMessage(to, response);
                   });
}

void ResourceManager::RenewDelegationToken(const rpc::IncomingCall& call) {
  if (!delegation_) return Refuse(call.token, ex::kUnsupportedOperation, std::string(call.method) + kNeedsKerberos);
  const auto request = Parse<h::RenewDelegationTokenRequestProto>(call);
  if (!request) return;
  delegation_->Renew(call.caller, endpoints::yarn::FromWire(request->token),
                     [this, to = call.token](base::Result<int64_t, RemoteException> until) {
                       if (!until.ok()) return Refuse(to, until.error().class_name, until.error().message);
                       h::RenewDelegationTokenResponseProto response;
                       response.new_expiry_time = static_cast<uint64_t>(*until);
                       server_->ReplyMessage(to, response);
                     });
}

void ResourceManager::CancelDelegationToken(const rpc::IncomingCall& call) {
  if (!delegation_) return Refuse(call.token, ex::kUnsupportedOperation, std::string(call.method) + kNeedsKerberos);
  const auto request = Parse<h::CancelDelegationTokenRequestProto>(call);
  if (!request) return;
  delegation_->Cancel(call.caller, endpoints::yarn::FromWire(request->token),
                      [this, to = call.token](base::Result<bool, RemoteException> cancelled) {
                        if (!cancelled.ok()) return Refuse(to, cancelled.error().class_name, cancelled.error().message);
                        server_->ReplyMessage(to, h::CancelDelegationTokenResponseProto{});
                      });
}

}  // namespace fairlead::process::rm
