#pragma once

#include <string>
#include <string_view>

namespace fairlead::wire::engine {

/// HMAC-SHA256 of the driver's nonce with the application's secret: how an executor shows that it belongs to the
/// application without sending the secret.
std::string ProofOf(std::string_view secret, std::string_view nonce);
/// Compares in constant time.
bool SameProof(std::string_view a, std::string_view b);

}  // namespace fairlead::wire::engine
