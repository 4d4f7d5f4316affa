#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/spark_shuffle/map_bitmap.h"

// What is read writes, in both forms, to something that reads as the same set.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::wire::spark_shuffle::MapBitmap;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = MapBitmap::Read(bytes);
  if (!read.ok()) return 0;
  for (const std::string& written : {read->Serialize(), read->SerializeWithRuns()}) {
    std::string_view rest = written;
    const auto again = MapBitmap::Read(rest);
    if (!again.ok() || !rest.empty() || !(*again == *read)) std::abort();
  }
  return 0;
}
