#pragma once

#include <cstddef>
#include <memory>

namespace fairlead::engine {

/// The size of a huge page: from here on memory comes straight from the system, in huge pages where it gives them.
inline constexpr size_t kHugePage = size_t{2} << 20;

/// Gives back what AllocateZeroed gave.
struct FreeMemory {
  size_t bytes = 0;
  void operator()(void* p) const;
};
/// Zeroed memory for what is read here and there all over: in small pages every access would also miss the address
/// translation's cache. Throws std::bad_alloc.
template <class T>
using ZeroedArray = std::unique_ptr<T[], FreeMemory>;

void* AllocateZeroed(size_t bytes);

template <class T>
ZeroedArray<T> MakeZeroed(size_t n) {
  return ZeroedArray<T>(static_cast<T*>(AllocateZeroed(n * sizeof(T))), FreeMemory{n * sizeof(T)});
}

/// Brings the byte's cache line near. A load whose value nobody waits for: in a loop of nothing else many are under way
/// at once, and unlike prefetch instructions they are not dropped when the address translation is not at hand.
inline void Touch(const void* p) { asm volatile("" : : "r"(*static_cast<const char*>(p))); }

}  // namespace fairlead::engine
