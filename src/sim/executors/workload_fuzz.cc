#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sim/executors/workload.h"

// Any bytes as the first query of a workload: what is wrong with it, or that the next one is missing.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto queries = fairlead::sim::ReadQueries("{\"2g/1\": " + std::string(text) + "}");
  FL_CHECK(!queries.ok(), "a workload of one query");
  FL_CHECK(!queries.error().message.empty(), "an error without words");
  return 0;
}
