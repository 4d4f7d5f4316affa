#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "engine/records/buffer.h"
#include "engine/records/serde.h"

// Keyed records in shuffles: key bytes, then value bytes, each either of a fixed size or behind a varint length. The
// kernels (tables, grouping, partitioning) know only these bytes; two keys are equal when their bytes are.

namespace fairlead::engine {

/// Sizes of keys and values in a shuffle; 0: a varint length stands before the bytes.
struct RecordShape {
  uint32_t key_fixed = 0;
  uint32_t value_fixed = 0;
};

template <class T>
inline constexpr bool kStringLike = std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>;

/// A key's or value's bytes without a length: strings are their characters, others as Serde writes them. -0.0 counts as
/// 0.0.
template <class T>
struct PartBytes {
  static constexpr uint32_t kFixed = static_cast<uint32_t>(Serde<T>::kFixed);

  /// Calls `use(view)`; the view may lie in `scratch`.
  template <class Use>
  static decltype(auto) With(const T& v, Buffer& scratch, Use&& use) {
    if constexpr (kStringLike<T>) {
      return use(std::string_view(v));
    } else if constexpr (std::is_floating_point_v<T>) {
      const T normal = v == 0 ? T{0} : v;
      return use(std::string_view(reinterpret_cast<const char*>(&normal), sizeof normal));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      return use(std::string_view(reinterpret_cast<const char*>(&v), sizeof v));
    } else {
      scratch.Clear();
      Serde<T>::Write(scratch, v);
      return use(scratch.view());
    }
  }
  static bool Read(std::string_view bytes, T& v) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      v = bytes;
      return true;
    } else if constexpr (std::is_same_v<T, std::string>) {
      v.assign(bytes);
      return true;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      if (bytes.size() != sizeof v) return false;
      std::memcpy(&v, bytes.data(), sizeof v);
      return true;
    } else {
      return FromBytes(bytes, v);
    }
  }
  /// Appends with the length in front where sizes differ.
  static void Append(Buffer& out, const T& v) {
    if constexpr (kStringLike<T>) {
      Serde<std::string_view>::Write(out, v);
    } else if constexpr (kFixed != 0) {
      Serde<T>::Write(out, v);
    } else {
      // Five bytes are kept for the length and filled with a padded varint: no second copy of the value.
      out.Room(5);
      const size_t at = out.size();
      out.Advance(5);
      Serde<T>::Write(out, v);
      uint64_t n = out.size() - at - 5;
      for (size_t i = 0; i < 5; ++i, n >>= 7) out.data()[at + i] = static_cast<char>((n & 0x7f) | (i < 4 ? 0x80 : 0));
    }
  }
};

/// Appends part bytes as PartBytes::Append does.
inline void AppendPart(Buffer& out, std::string_view bytes, uint32_t fixed) {
  if (fixed == 0) {
    Serde<std::string_view>::Write(out, bytes);
  } else {
    out.Append(bytes);
  }
}

inline bool TakePart(Cursor& in, uint32_t fixed, std::string_view& part) {
  uint64_t n = fixed;
  if (fixed == 0 && !in.Varint(n)) return false;
  return in.TakeView(n, part);
}

}  // namespace fairlead::engine
