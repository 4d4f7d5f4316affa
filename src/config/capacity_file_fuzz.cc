#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/capacity_file.h"

/// Any bytes give queues or an error; what is read names each queue once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> warnings;
  const auto tree =
      fairlead::config::ParseCapacityFile(text, "capacity-scheduler.xml", fairlead::config::HadoopConf(), warnings);
  if (!tree.ok()) return 0;
  std::vector<std::string> names;
  for (const auto& queue : tree->queues) names.push_back(queue.name);
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) __builtin_trap();
  return 0;
}
