#pragma once

#include <map>
#include <string>

#include "endpoints/yarn/rpc_identity.h"

namespace fairlead::engine {

/// The tokens of HDFS, by alias, that this process was given in the file of HADOOP_TOKEN_FILE_LOCATION, which
/// containers have and `hdfs fetchdt` writes; none where that is not set. Read once. Throws JobError. Thread-safe.
const std::map<std::string, endpoints::yarn::RpcToken>& HdfsTokens();

/// What a NameNode on this host takes as `delegation` (Token.encodeToUrlString), one of the HDFS `service` where it is
/// not empty (HAUtilClient.buildTokenServiceForLogicalUri); "": no token is of that service or host. Asks the resolver
/// where tokens name another text: they name addresses (SecurityUtil.buildTokenService).
std::string DelegationFor(const std::string& service, const std::string& host);

}  // namespace fairlead::engine
