#pragma once

#include <cstdint>

// Marks of the object stream protocol (java.io.ObjectStreamConstants).

namespace fairlead::wire::java_stream {

inline constexpr uint16_t kStreamMagic = 0xACED;
inline constexpr uint16_t kStreamVersion = 5;
/// Handles begin here.
inline constexpr uint32_t kBaseHandle = 0x7E0000;
/// Objects and strings longer than this have an eight byte length.
inline constexpr size_t kShortStringMax = 0xFFFF;
inline constexpr size_t kShortBlockMax = 0xFF;

enum Mark : uint8_t {
  kMarkNull = 0x70,
  kMarkReference = 0x71,
  kMarkClassDescription = 0x72,
  kMarkObject = 0x73,
  kMarkString = 0x74,
  kMarkArray = 0x75,
  kMarkClass = 0x76,
  kMarkBlock = 0x77,
  kMarkEndBlock = 0x78,
  kMarkLongBlock = 0x7A,
  kMarkLongString = 0x7C,
  kMarkProxyDescription = 0x7D,
  kMarkEnum = 0x7E,
};

}  // namespace fairlead::wire::java_stream
