// What an application says of its logs: patterns, and the policy with its parameters.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "process/nm/log_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::process::nm;  // NOLINT: a fuzz target
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)ReadLogContext(bytes);
  const auto policy = ReadLogPolicy(
      "org.apache.hadoop.yarn.server.nodemanager.containermanager.logaggregation.SampleContainerLogAggregationPolicy",
      bytes);
  if (policy) (void)policy->Takes({{{1, 2}, 3}, static_cast<int64_t>(size)}, false, 0);
  return 0;
}
