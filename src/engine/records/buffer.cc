#include "engine/records/buffer.h"

#include <malloc.h>

#include <algorithm>
#include <new>

namespace fairlead::engine {

void Buffer::Grow(size_t more) {
  const size_t capacity = std::max<size_t>({capacity_ * 2, size_ + more, 64});
  void* const data = std::realloc(data_, capacity);
  if (data == nullptr) throw std::bad_alloc();
  data_ = static_cast<char*>(data);
  capacity_ = capacity;
}

void ReturnFreeMemory() { ::malloc_trim(0); }

}  // namespace fairlead::engine
