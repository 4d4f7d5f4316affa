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
inline void Store32(char* p, uint64_t v) {
  const uint32_t word = static_cast<uint32_t>(v);
  std::memcpy(p, &word, 4);
}
inline uint64_t Mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
inline constexpr uint64_t kHash0 = 0xa0761d6478bd642f, kHash1 = 0xe7037ed1a0b428db, kHash2 = 0x8ebc6af09c88c6e3;
}  // namespace hash_internal

/// Up to 16 bytes as two words, one to one for each size: what tables keep and compare in place of short keys. Four
/// loads that overlap as they must take them in without a branch on the length, which varies from key to key.
struct ShortBytes {
  static constexpr size_t kMax = 16;
  uint64_t a = 0;
  uint64_t b = 0;

  /// Of `n` <= kMax bytes.
  static ShortBytes Of(const char* p, size_t n) {
    using namespace hash_internal;
    if (n >= 4) [[likely]] {
      const size_t middle = n >> 3 << 2, last = n - 4;
      return {Load32(p) << 32 | Load32(p + middle), Load32(p + last) << 32 | Load32(p + last - middle)};
    }
    if (n == 0) return {};
    const auto byte = [p](size_t i) { return uint64_t{static_cast<unsigned char>(p[i])}; };
    return {byte(0) << 16 | byte(n >> 1) << 8 | byte(n - 1), 0};
  }
  /// The bytes again; `to` has room for kMax.
  void Restore(char* to, size_t n) const {
    using namespace hash_internal;
    if (n >= 4) {
      const size_t middle = n >> 3 << 2, last = n - 4;
      Store32(to, a >> 32);
      Store32(to + middle, a);
      Store32(to + last, b >> 32);
      Store32(to + last - middle, b);
    } else if (n > 0) {
      to[0] = static_cast<char>(a >> 16);
      to[n >> 1] = static_cast<char>(a >> 8);
      to[n - 1] = static_cast<char>(a);
    }
  }
};

/// The last step of HashBytes: two words and what went before them.
inline uint64_t HashWords(ShortBytes words, size_t n, uint64_t seed) {
  using namespace hash_internal;
  const uint64_t h = Mix(kHash0 ^ n, Mix(words.a ^ kHash1, words.b ^ seed));
  return h | (h == 0);
}
/// HashBytes of the `n` <= ShortBytes::kMax bytes that `words` stands for.
inline uint64_t HashShort(ShortBytes words, size_t n) { return HashWords(words, n, hash_internal::kHash2 ^ n); }

/// 64-bit hash of bytes, equal in every process of a job: overlapping loads folded by 64x64 -> 128 bit multiplication,
/// the scheme of Wang Yi's wyhash. Never 0.
inline uint64_t HashBytes(const char* p, size_t n) {
  using namespace hash_internal;
  if (n <= ShortBytes::kMax) [[likely]]
    return HashShort(ShortBytes::Of(p, n), n);
  uint64_t seed = kHash2 ^ n;
  size_t left = n;
  for (; left > 16; p += 16, left -= 16) seed = Mix(Load64(p) ^ kHash1, Load64(p + 8) ^ seed);
  return HashWords({Load64(p + left - 16), Load64(p + left - 8)}, n, seed);
}
inline uint64_t HashBytes(std::string_view bytes) { return HashBytes(bytes.data(), bytes.size()); }

/// Which of `n` partitions a hash belongs to: its upper half scaled (Lemire's fast range). Tables use the lower bits.
inline uint32_t PartitionOf(uint64_t hash, uint32_t n) {
  return static_cast<uint32_t>(((hash >> 32) * static_cast<uint64_t>(n)) >> 32);
}

}  // namespace fairlead::engine
