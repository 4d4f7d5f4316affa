#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sim/devices/read.h"

// Any bytes as nodes, and as pods beside a good node: rows within bounds, or an error that names the line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kNode = "sn,cpu_milli,memory_mib,gpu,model\nn,1,1,1,T4\n";
  const auto nodes = fairlead::sim::ReadDevices(text, "");
  FL_CHECK(!nodes.ok(), "nodes without pods");
  const auto pods = fairlead::sim::ReadDevices(kNode, text);
  if (!pods) {
    FL_CHECK(pods.error().message.starts_with("pods"), "an error without a place");
    return 0;
  }
  for (const auto& ask : pods->asks)
    FL_CHECK(ask.device_milli() >= 0 && ask.device_milli() <= 8000, "more than a node");
  return 0;
}
