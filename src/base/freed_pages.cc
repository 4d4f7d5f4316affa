#include "base/freed_pages.h"

#include <cstddef>
#include <cstdlib>
#include <string>

// jemalloc's, where it is linked; see jemalloc(3).
extern "C" int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size)
    __attribute__((weak));

namespace fairlead::base {

namespace {

/// The setting of the arena that such pieces have for themselves, which the first one makes; empty: there is none.
std::string DecayOfLargePieces() {
  if (mallctl == nullptr) return "";
  constexpr size_t kLarge = size_t{16} << 20;
  void* piece = std::malloc(kLarge);
  unsigned arena = 0;
  size_t size = sizeof(arena);
  const bool found = piece != nullptr && mallctl("arenas.lookup", &arena, &size, &piece, sizeof(piece)) == 0;
  std::free(piece);
  return found ? "arena." + std::to_string(arena) + ".dirty_decay_ms" : "";
}

}  // namespace

void KeepLargeFreedPages(bool keep) {
  static const std::string setting = DecayOfLargePieces();
  std::ptrdiff_t ms = keep ? -1 : 0;
  if (!setting.empty()) mallctl(setting.c_str(), nullptr, nullptr, &ms, sizeof(ms));
}

void GiveBackFreedPages() {
  unsigned arena = 0;
  size_t size = sizeof(arena);
  if (mallctl == nullptr || mallctl("thread.arena", &arena, &size, nullptr, 0) != 0) return;
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl(("arena." + std::to_string(arena) + ".purge").c_str(), nullptr, nullptr, nullptr, 0);
}

}  // namespace fairlead::base
