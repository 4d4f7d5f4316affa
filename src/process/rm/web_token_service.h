#pragma once

#include <memory>
#include <string>

#include "base/time.h"
#include "env/gss.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/rm/token_renewer.h"

namespace fairlead::process::rm {

/// WebHDFS's tokens, whose services are web ports: renewed and cancelled there with the manager's ticket (op
/// RENEWDELEGATIONTOKEN and CANCELDELEGATIONTOKEN; org.apache.hadoop.hdfs.web.TokenAspect.TokenManager). `principal`:
/// the ports', "HTTP/_HOST@EXAMPLE.COM". A service that the realm has no ticket for is sent nothing.
std::unique_ptr<TokenService> MakeWebTokenService(env::Loop& loop, env::Net& net, env::Gss& gss, std::string principal,
                                                  base::Duration timeout);

}  // namespace fairlead::process::rm
