#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/allocation_file.h"

/// Any bytes give a tree or an error with its place; both parts are reached by whole files and by single amounts.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = fairlead::config::ParseAllocationFile(text);
  if (!file.ok() && file.error().message.find(':') == std::string::npos) __builtin_trap();
  (void)fairlead::config::ParseConfiguredResources(text, INT64_MAX);
  (void)fairlead::config::ParseAccessList(text);
  return 0;
}
