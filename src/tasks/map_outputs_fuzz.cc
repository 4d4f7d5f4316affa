#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tasks/map_outputs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto table = fairlead::tasks::DecodeMapOutputs(std::string(reinterpret_cast<const char*>(data), size));
  if (!table.ok()) return 0;
  for (int32_t reduce = 0; reduce < std::min(table->reduces(), 16); ++reduce) table->BlocksOf(reduce);
  for (int32_t map = 0; map < std::min(table->maps(), 4); ++map) {
    if (table->reduces() <= 4096) table->Remove(map);
  }
  std::string again;
  fairlead::tasks::EncodeMapOutputs(*table, again);
  return 0;
}
