#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/java_stream/reader.h"
#include "wire/java_stream/writer.h"

// What is read is written, and read again it is written with the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::java_stream;
  const auto graph = ReadStream({reinterpret_cast<const char*>(data), size});
  if (!graph) return 0;
  const std::string written = WriteStream(*graph);
  const auto again = ReadStream(written);
  if (!again || WriteStream(*again) != written) std::abort();
  return 0;
}
