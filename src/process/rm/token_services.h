#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/rm/delegation_tokens.h"
#include "process/rm/token_issuer.h"
#include "process/rm/token_renewer.h"
#include "process/rpc/rpc_client.h"

namespace fairlead::process::rm {

/// As whom and how a resource manager asks others.
struct Manager {
  std::string user;       // its own short name
  std::string principal;  // renewer of the tokens that are issued to it
  base::Duration timeout = base::Duration::Seconds(60);
  bool issues = false;  // whether it asks for new tokens of this kind, in the name of their owners
  std::string default_service = {};
};

/// Asks the addresses in turn until one is no standby.
std::unique_ptr<TokenService> MakeRpcTokenService(env::Loop& loop, env::Net& net, TokenIssuer issuer,
                                                  rpc::RpcClientSecurity security, Manager manager);

/// The manager's own delegation tokens, renewed and cancelled as the renewer that stands in them
/// (RMDelegationTokenIdentifier.Renewer). Another resource manager's are left alone.
std::unique_ptr<TokenService> MakeOwnTokenService(env::Loop& loop, DelegationTokens& tokens);

/// The service of a token that names one address, "10.0.0.1:8020" (SecurityUtil.buildTokenService).
std::vector<env::Endpoint> AddressOfService(const std::string& service);

}  // namespace fairlead::process::rm
