#include "engine/records/large_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace fairlead::engine {
namespace {

size_t WholePages(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

/// An address that huge pages can begin at: asks for one page more and gives back what lies around.
void* MapAligned(size_t bytes) {
  void* const got = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(got);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, kHugePage - before);
  return begin + before;
}

}  // namespace

void* AllocateZeroed(size_t bytes) {
  if (bytes < kHugePage) {
    void* const p = std::calloc(1, bytes);
    if (p == nullptr) throw std::bad_alloc();
    return p;
  }
  void* const p = MapAligned(WholePages(bytes));
  ::madvise(p, WholePages(bytes), MADV_HUGEPAGE);  // a wish; without it pages are small
  return p;
}

void FreeMemory::operator()(void* p) const {
  if (bytes < kHugePage) {
    std::free(p);
  } else {
    ::munmap(p, WholePages(bytes));
  }
}

}  // namespace fairlead::engine
