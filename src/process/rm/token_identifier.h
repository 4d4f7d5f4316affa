#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"

namespace fairlead::process::rm {

/// What stands in a delegation token's identifier (AbstractDelegationTokenIdentifier).
struct TokenIdentifier {
  std::string renewer;         // "": none
  int64_t max_ms = INT64_MAX;  // since 1970, the end of its greatest life; not before that
};

/// Reads Hadoop's Writable form, or the protobuf of the resource manager's own; an error for what is neither.
base::Result<TokenIdentifier> ReadIdentifier(const endpoints::yarn::RpcToken& token);

}  // namespace fairlead::process::rm
