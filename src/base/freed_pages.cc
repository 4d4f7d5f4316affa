#include "base/freed_pages.h"

#include <cstddef>
#include <cstdlib>
#include <string>

// jemalloc's, where it is linked; see jemalloc(3).
extern "C" int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size)
    __attribute__((weak));

namespace fairlead::base {

void KeepLargeFreedPages() {
  if (mallctl == nullptr) return;
  // Such pieces have an arena of their own, which the first one makes.
  constexpr size_t kLarge = size_t{16} << 20;
  void* piece = std::malloc(kLarge);
  unsigned arena = 0;
  size_t size = sizeof(arena);
  std::ptrdiff_t never = -1;
  if (piece != nullptr && mallctl("arenas.lookup", &arena, &size, &piece, sizeof(piece)) == 0) {
    const std::string name = "arena." + std::to_string(arena) + ".dirty_decay_ms";
    mallctl(name.c_str(), nullptr, nullptr, &never, sizeof(never));
  }
  std::free(piece);
}

}  // namespace fairlead::base
