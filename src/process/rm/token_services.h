#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/rm/delegation_tokens.h"
#include "process/rm/token_issuer.h"
#include "process/rm/token_renewer.h"
#include "process/rpc/rpc_client.h"

namespace fairlead::process::rm {

/// Asks the addresses in turn until one is no standby. `user` is the manager's own short name.
std::unique_ptr<TokenService> MakeRpcTokenService(env::Loop& loop, env::Net& net, TokenIssuer issuer,
                                                  rpc::RpcClientSecurity security, std::string user);

/// The manager's own delegation tokens, renewed and cancelled as the renewer that stands in them
/// (RMDelegationTokenIdentifier.Renewer). Another resource manager's are left alone.
std::unique_ptr<TokenService> MakeOwnTokenService(env::Loop& loop, DelegationTokens& tokens);

/// The service of a token that names one address, "10.0.0.1:8020" (SecurityUtil.buildTokenService).
std::vector<env::Endpoint> AddressOfService(const std::string& service);

}  // namespace fairlead::process::rm
