#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/budget.h"

namespace fairlead::base {

/// Reads big-endian numbers and slices from a byte string; every read checks the bound. After the first short read
/// `failed()` stays true and reads give zeros, so a decoder may check once at its end. Whoever makes something of what
/// is read charges the budget for it.
class ByteReader {
 public:
  /// `budget`: what may be made of the bytes; outlives this. One that is spent has failed from the start.
  ByteReader(std::string_view bytes, Budget& budget) : bytes_(bytes), budget_(budget), failed_(!budget.ok()) {}
  ByteReader(std::string&&, Budget&) = delete;  // its bytes would be gone at once

  Budget& budget() { return budget_; }
  /// For `bytes` of memory that the decoder makes; fails where that is more than the message may cost.
  bool Charge(size_t bytes) {
    if (!budget_.Memory(bytes)) failed_ = true;
    return !failed_;
  }

  size_t remaining() const { return bytes_.size() - position_; }
  size_t position() const { return position_; }
  bool failed() const { return failed_; }
  bool done() const { return !failed_ && remaining() == 0; }

  uint8_t U8() { return Number<uint8_t>(); }
  uint16_t U16() { return Number<uint16_t>(); }
  uint32_t U32() { return Number<uint32_t>(); }
  uint64_t U64() { return Number<uint64_t>(); }
  int32_t I32() { return static_cast<int32_t>(Number<uint32_t>()); }
  int64_t I64() { return static_cast<int64_t>(Number<uint64_t>()); }

  std::string_view Take(size_t n) {
    if (failed_ || n > remaining()) {
      failed_ = true;
      return {};
    }
    const std::string_view slice = bytes_.substr(position_, n);
    position_ += n;
    return slice;
  }
  void Skip(size_t n) { Take(n); }
  std::string_view Rest() { return Take(remaining()); }
  void Fail() { failed_ = true; }

 private:
  template <class U>
  U Number() {
    const std::string_view slice = Take(sizeof(U));
    if (failed_) return 0;
    U value = 0;
    for (const char c : slice) value = static_cast<U>((static_cast<uint64_t>(value) << 8) | static_cast<uint8_t>(c));
    return value;
  }

  std::string_view bytes_;
  size_t position_ = 0;
  Budget& budget_;
  bool failed_;
};

/// The number in the first bytes, big-endian; 0 when there are too few. Needs no budget: nothing is made.
template <class T>
T BigEndian(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return 0;
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return static_cast<T>(value);
}

/// Appends big-endian numbers and bytes to a string.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}
  void U8(uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void U16(uint16_t v) { Number(v); }
  void U32(uint32_t v) { Number(v); }
  void U64(uint64_t v) { Number(v); }
  void I32(int32_t v) { Number(static_cast<uint32_t>(v)); }
  void I64(int64_t v) { Number(static_cast<uint64_t>(v)); }
  void Bytes(std::string_view bytes) { out_.append(bytes); }

 private:
  template <class U>
  void Number(U v) {
    char buffer[sizeof(U)];
    for (size_t i = 0; i < sizeof(U); ++i) buffer[i] = static_cast<char>(v >> (8 * (sizeof(U) - 1 - i)));
    out_.append(buffer, sizeof(U));
  }
  std::string& out_;
};

/// Appends a number seven bits at a time, the lowest first (the varint of Protocol Buffers).
inline void PutVarint(std::string& out, uint64_t v) {
  char bytes[10];
  size_t size = 0;
  while (v >= 0x80) {
    bytes[size++] = static_cast<char>(v | 0x80);
    v >>= 7;
  }
  bytes[size++] = static_cast<char>(v);
  out.append(bytes, size);
}

}  // namespace fairlead::base
