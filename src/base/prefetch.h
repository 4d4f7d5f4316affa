#pragma once

#include <cstddef>

namespace fairlead::base {

/// Asks the processor to bring the cache line of `place` near. Any address will do; nothing is decided by it.
inline void Prefetch(const void* place) {
  __builtin_prefetch(place);
  // A function that only prefetches has no effect in the eyes of GCC, which leaves out calls to it;
  // one with this has.
  __asm__ volatile("" : : "r"(place));
}

/// The same for all lines of `size` bytes from there on; null: nothing.
inline void Prefetch(const void* place, size_t size) {
  constexpr size_t kLine = 64;
  if (place == nullptr) return;
  for (size_t at = 0; at < size; at += kLine) Prefetch(static_cast<const char*>(place) + at);
}

/// The same up to `end`.
inline void PrefetchUpTo(const void* place, const void* end) {
  Prefetch(place, static_cast<size_t>(static_cast<const char*>(end) - static_cast<const char*>(place)));
}

}  // namespace fairlead::base
