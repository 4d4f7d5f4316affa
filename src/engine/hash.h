#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead::engine {

namespace hash_internal {
inline uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
inline uint64_t Load32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
inline uint64_t Mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
}  // namespace hash_internal

/// 64-bit hash of bytes, equal in every process of a job: overlapping loads folded by 64x64 -> 128 bit multiplication,
/// the scheme of Wang Yi's wyhash. Never 0, so that 0 can mark an empty slot.
inline uint64_t HashBytes(const char* p, size_t n) {
  using namespace hash_internal;
  constexpr uint64_t k0 = 0xa0761d6478bd642f, k1 = 0xe7037ed1a0b428db, k2 = 0x8ebc6af09c88c6e3;
  uint64_t a = 0, b = 0, seed = k2 ^ n;
  if (n <= 16) [[likely]] {
    if (n >= 8) {
      a = Load64(p);
      b = Load64(p + n - 8);
    } else if (n >= 4) {
      a = Load32(p);
      b = Load32(p + n - 4);
    } else if (n > 0) {
      a = (static_cast<uint64_t>(static_cast<uint8_t>(p[0])) << 16) |
          (static_cast<uint64_t>(static_cast<uint8_t>(p[n >> 1])) << 8) | static_cast<uint8_t>(p[n - 1]);
    }
  } else {
    size_t left = n;
    while (left > 16) {
      seed = Mix(Load64(p) ^ k1, Load64(p + 8) ^ seed);
      p += 16;
      left -= 16;
    }
    a = Load64(p + left - 16);
    b = Load64(p + left - 8);
  }
  const uint64_t h = Mix(k0 ^ n, Mix(a ^ k1, b ^ seed));
  return h | (h == 0);
}
inline uint64_t HashBytes(std::string_view bytes) { return HashBytes(bytes.data(), bytes.size()); }

/// Which of `n` partitions a hash belongs to: its upper half scaled (Lemire's fast range). Tables use the lower bits.
inline uint32_t PartitionOf(uint64_t hash, uint32_t n) {
  return static_cast<uint32_t>(((hash >> 32) * static_cast<uint64_t>(n)) >> 32);
}

}  // namespace fairlead::engine
