#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/java_stream/reader.h"
#include "wire/java_stream/writer.h"

namespace {
constexpr fairlead::base::BudgetKind kKind{
    "a stream", 1 << 20, 100, {.floor = 5 << 20, .most = 5 << 20}, {.floor = 60'000, .most = 60'000}, {.most = 0}};
}

// What is read is written, and read again it is written with the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::java_stream;
  const auto graph = ReadStream({reinterpret_cast<const char*>(data), size}, kKind);
  if (!graph) return 0;
  const std::string written = WriteStream(*graph);
  const auto again = ReadStream(written, kKind);
  if (!again || WriteStream(*again) != written) std::abort();
  return 0;
}
