#pragma once

#include <cstdint>
#include <string_view>

namespace fairlead::base {

/// CRC-32C (Castagnoli, reflected, as java.util.zip.CRC32C) of the bytes behind those whose sum is `before`; some 2 GB
/// a second. Equal on every machine.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);

}  // namespace fairlead::base
