#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace fairlead::base {

/// Tells damaged bytes from whole ones (XXH3, 64 bits; no protection against forgers): of the parts and of where one
/// ends and the next begins. Equal on every machine.
uint64_t Checksum(std::initializer_list<std::string_view> parts);

}  // namespace fairlead::base
