#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::engine {

/// A growing byte array with a cheap append. Unlike std::string it never zeroes what it reserves and hands out its
/// write cursor, so serializers write in place.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t capacity) { Reserve(capacity); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  const char* data() const { return data_; }
  char* data() { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }
  void Clear() { size_ = 0; }
  void Truncate(size_t size) { size_ = size; }

  /// Room for `n` more bytes; write to the returned place, then Advance.
  char* Room(size_t n) {
    if (capacity_ - size_ < n) [[unlikely]]
      Grow(n);
    return data_ + size_;
  }
  void Advance(size_t n) { size_ += n; }
  void Append(const void* bytes, size_t n) {
    if (n == 0) return;  // `bytes` may be null then
    std::memcpy(Room(n), bytes, n);
    size_ += n;
  }
  void Append(std::string_view bytes) { Append(bytes.data(), bytes.size()); }
  void Reserve(size_t capacity) {
    if (capacity > capacity_) Grow(capacity - size_);
  }
  /// Sets the size; new bytes are not initialised.
  void Resize(size_t size) {
    if (size > capacity_) Grow(size - size_);
    size_ = size;
  }

 private:
  void Grow(size_t more);

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// Gives the heap's free pages back to the system. Blocks of several tasks lie mixed on it: after a spill its holes
/// would else add up.
void ReturnFreeMemory();

/// Appends a LEB128 varint.
inline void PutVarint(Buffer& out, uint64_t v) {
  char* p = out.Room(10);
  char* const start = p;
  while (v >= 0x80) {
    *p++ = static_cast<char>(v | 0x80);
    v >>= 7;
  }
  *p++ = static_cast<char>(v);
  out.Advance(static_cast<size_t>(p - start));
}

/// Reads from serialized bytes; every read checks the bound, and after a failed one all reads fail.
struct Cursor {
  const char* at = nullptr;
  const char* end = nullptr;
  bool failed = false;

  Cursor() = default;
  explicit Cursor(std::string_view bytes) : at(bytes.data()), end(bytes.data() + bytes.size()) {}
  size_t remaining() const { return static_cast<size_t>(end - at); }
  bool done() const { return at == end; }

  bool Take(void* out, size_t n) {
    if (remaining() < n) [[unlikely]]
      return Fail();
    if (n != 0) std::memcpy(out, at, n);  // either may be null then
    at += n;
    return true;
  }
  bool TakeView(size_t n, std::string_view& out) {
    if (remaining() < n) [[unlikely]]
      return Fail();
    out = {at, n};
    at += n;
    return true;
  }
  bool Varint(uint64_t& v) {
    if (at < end && !(*at & 0x80)) [[likely]] {
      v = static_cast<uint8_t>(*at++);
      return true;
    }
    v = 0;
    for (int shift = 0; shift < 64 && at < end; shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(*at++);
      v |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return true;
    }
    return Fail();
  }
  bool Fail() {
    failed = true;
    at = end;
    return false;
  }
};

}  // namespace fairlead::engine
