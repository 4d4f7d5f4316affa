#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/credentials.h"
#include "env/net.h"

namespace fairlead::shell {

/// The tokens of the file that HADOOP_TOKEN_FILE_LOCATION names, as Hadoop's clients take them; none where it names
/// none. Errors name the file.
base::Result<endpoints::yarn::Credentials> ReadTokenFile();

/// The delegation token of the resource manager at one of `managers`; nothing: there is none. May ask the resolver.
std::optional<endpoints::yarn::RpcToken> ManagerTokenOf(const endpoints::yarn::Credentials& credentials,
                                                        const std::vector<env::Endpoint>& managers);
bool IsManagerToken(const endpoints::yarn::RpcToken& token);

}  // namespace fairlead::shell
