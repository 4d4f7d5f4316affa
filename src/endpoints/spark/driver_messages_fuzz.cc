#include <cstddef>
#include <cstdint>

#include "endpoints/spark/driver_messages.h"

// The body of an RpcRequest or OneWayMessage frame.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::endpoints::spark;
  const auto message = DecodeRpcMessage({reinterpret_cast<const char*>(data), size});
  if (message.ok()) (void)DecodeDriverMessage(message->content).ok();
  return 0;
}
