#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"

namespace fairlead::endpoints::yarn {

/// The longest text of a token that is read.
inline constexpr size_t kUrlTokenMax = 16 << 10;

/// A token in the form in which addresses and headers carry it (Token.encodeToUrlString).
std::string EncodeUrlToken(const RpcToken& token);
/// Error: it is too long, no BASE64URL, or holds no token.
base::Result<RpcToken> DecodeUrlToken(std::string_view text);

}  // namespace fairlead::endpoints::yarn
