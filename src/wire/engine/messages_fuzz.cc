#include <cstddef>
#include <cstdint>

#include "wire/engine/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fairlead::wire::engine::FrameParser parser(1 << 20);
  parser.Feed({reinterpret_cast<const char*>(data), size});
  fairlead::wire::engine::Message message;
  for (;;) {
    const auto next = parser.Next(message);
    if (!next.ok() || !*next) return 0;
    std::string again;
    fairlead::wire::engine::AppendFrame(again, message);
  }
}
