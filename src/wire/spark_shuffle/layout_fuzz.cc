#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/spark_shuffle/layout.h"

// Index files, block ids and file names of any content; a valid index gives only ranges inside the data.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::spark_shuffle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)ParseShuffleBlockId(bytes);
  (void)ParseRddBlockId(bytes);
  (void)NormalizedPath(bytes);
  const FilePlace place = PlaceOf(size % 7 + 1, static_cast<int32_t>(size % 100 + 1), bytes);
  if (place.dir >= size % 7 + 1) std::abort();
  const bool valid = ValidateIndex(bytes, std::nullopt).ok();
  const IndexFile index{std::string(bytes)};
  const auto count = static_cast<int32_t>(index.offsets());
  for (int32_t i = -1; i <= count; ++i) {
    const auto range = index.Range(i, i + 1);
    if (range.has_value() != (i >= 0 && i + 1 < count)) std::abort();
    if (valid && range && (range->offset < 0 || range->length < 0)) std::abort();
  }
  return 0;
}
