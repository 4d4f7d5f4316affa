#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "process/nm/map_reduce_shuffle.h"

/// Any query: only map attempts, which cannot leave a directory, come through.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::process::nm;  // NOLINT
  const auto request = ParseMapOutputQuery({reinterpret_cast<const char*>(data), size});
  if (!request) return 0;
  for (const std::string& map : request->maps) {
    if (map.find('/') != std::string::npos || map.find("..") != std::string::npos) std::abort();
  }
  return 0;
}
