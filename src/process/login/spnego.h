#pragma once

#include <cstddef>
#include <string_view>

namespace fairlead::process::login {

/// How many bytes of mechanisms a first token of SPNEGO offers (RFC 4178: NegTokenInit.mechTypes); 0 of any other
/// token.
size_t OfferedMechanismBytes(std::string_view token);

}  // namespace fairlead::process::login
