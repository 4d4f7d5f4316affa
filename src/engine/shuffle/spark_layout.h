#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Where Spark's block managers and shuffle services look for files (org.apache.spark.network.shuffle.ExecutorDiskUtils,
// org.apache.spark.storage.BlockId).

namespace fairlead::engine {

inline constexpr int32_t kSubdirectories = 64;  // spark.diskStore.subDirectories

/// String.hashCode of a name of ASCII characters, made non-negative as JavaUtils.nonNegativeHash does.
int32_t NonNegativeJavaHash(std::string_view name);
/// <directory>/<two hex digits>/<name>.
std::string BlockPath(const std::vector<std::string>& local_directories, std::string_view name);
/// The directory part of BlockPath.
std::string BlockDirectory(const std::vector<std::string>& local_directories, std::string_view name);

std::string ShuffleDataName(int32_t shuffle, int64_t map_id);
std::string ShuffleIndexName(int32_t shuffle, int64_t map_id);

}  // namespace fairlead::engine
