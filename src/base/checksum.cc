#include "base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fairlead::base {

uint64_t Checksum(std::initializer_list<std::string_view> parts) {
  uint64_t sum = 0;
  for (const std::string_view part : parts) sum = XXH3_64bits_withSeed(part.data(), part.size(), sum + part.size());
  return sum;
}

}  // namespace fairlead::base
