#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace fairlead::base {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr size_t kSlices = 8;  // bytes at a time

/// By slice and byte: what the byte makes of the sum so many bytes on (Kounavis and Berry, "A Systematic Approach to
/// Building High Performance, Software-based, CRC Generators", 2005).
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, kSlices> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) != 0 ? (sum >> 1) ^ 0x82f63b78 : sum >> 1;
    tables[0][byte] = sum;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t sum = tables[slice - 1][byte];
      tables[slice][byte] = tables[0][sum & 255] ^ (sum >> 8);
    }
  }
  return tables;
}();

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
  uint32_t sum = ~before;
  for (; bytes.size() >= kSlices; bytes.remove_prefix(kSlices)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= sum;
    sum = 0;
    for (size_t i = 0; i < kSlices; ++i) sum ^= kTables[kSlices - 1 - i][word >> 8 * i & 255];
  }
  for (const char byte : bytes) sum = kTables[0][(sum ^ static_cast<uint8_t>(byte)) & 255] ^ (sum >> 8);
  return ~sum;
}

}  // namespace fairlead::base
