#pragma once

#include <cstddef>

namespace fairlead::base {

/// Begins to load `bytes` bytes from `from` on into the cache, and does not wait for them. Null: nothing.
inline void Prefetch(const void* from, size_t bytes) {
  if (!from) return;
  constexpr size_t kCacheLine = 64;
  const char* at = static_cast<const char*>(from);
  for (size_t i = 0; i < bytes; i += kCacheLine) __builtin_prefetch(at + i);
}

}  // namespace fairlead::base
