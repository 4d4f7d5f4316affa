#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/spark_shuffle/messages.h"

// What decodes encodes to something that decodes to the same bytes again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::spark_shuffle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Dialect dialect : {Dialect::kSpark35, Dialect::kSpark43}) {
    const auto message = DecodeMessage(bytes, dialect);
    if (!message) continue;
    const std::string encoded = EncodeMessage(*message);
    const auto again = DecodeMessage(encoded, dialect);
    if (!again || EncodeMessage(*again) != encoded) std::abort();
    (void)ToJavaString(*message);
  }
  return 0;
}
