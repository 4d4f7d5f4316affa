#include "engine/shuffle/spark_layout.h"

#include <cstdio>
#include <cstdlib>

namespace fairlead::engine {

int32_t NonNegativeJavaHash(std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) hash = hash * 31 + static_cast<uint8_t>(c);
  const int32_t value = static_cast<int32_t>(hash);
  return value == INT32_MIN ? 0 : std::abs(value);
}

std::string BlockDirectory(const std::vector<std::string>& local_directories, std::string_view name) {
  const uint32_t hash = static_cast<uint32_t>(NonNegativeJavaHash(name));
  const uint32_t count = static_cast<uint32_t>(local_directories.size());
  char sub[8];
  std::snprintf(sub, sizeof sub, "/%02x", (hash / count) % kSubdirectories);
  return local_directories[hash % count] + sub;
}

std::string BlockPath(const std::vector<std::string>& local_directories, std::string_view name) {
  return BlockDirectory(local_directories, name) + "/" + std::string(name);
}

std::string ShuffleDataName(int32_t shuffle, int64_t map_id) {
  return "shuffle_" + std::to_string(shuffle) + "_" + std::to_string(map_id) + "_0.data";
}
std::string ShuffleIndexName(int32_t shuffle, int64_t map_id) {
  return "shuffle_" + std::to_string(shuffle) + "_" + std::to_string(map_id) + "_0.index";
}

}  // namespace fairlead::engine
