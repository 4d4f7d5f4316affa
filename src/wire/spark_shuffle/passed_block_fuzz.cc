#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/spark_shuffle/passed_block.h"

// What decodes lies within the body, or is the range it encodes to.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::spark_shuffle;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto block = DecodePassedBlock(body);
  if (!block) return 0;
  if (block->in_file ? EncodePassedFile(block->offset, block->length) != body : block->bytes != body.substr(1)) {
    std::abort();
  }
  return 0;
}
