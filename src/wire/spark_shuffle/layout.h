#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Where an executor keeps its blocks on disk (ExecutorDiskUtils, ShuffleIndexInformation, BlockId of Spark 3.5
// and 4.x).

namespace fairlead::wire::spark_shuffle {

/// String.hashCode of the UTF-16 form of `utf8` (invalid sequences count as U+FFFD).
int32_t JavaHash(std::string_view utf8);
/// JavaUtils.nonNegativeHash.
int32_t NonNegativeHash(std::string_view utf8);

/// A file of an executor: below the directory with this index, `relative` is "<two hex digits or more>/<file name>".
struct FilePlace {
  size_t dir = 0;
  std::string relative;
};
/// Where the file is. `dirs` > 0, `sub_dirs_per_local_dir` != 0 (Java divides by both).
FilePlace PlaceOf(size_t dirs, int32_t sub_dirs_per_local_dir, std::string_view file_name);
/// The whole path, normalized as java.io.File does (no doubled and no trailing slash).
std::string FilePath(const std::vector<std::string>& local_dirs, int32_t sub_dirs_per_local_dir,
                     std::string_view file_name);
std::string NormalizedPath(std::string_view path);

/// spark.diskStore.subDirectories: how many of them executors have unless they registered otherwise.
inline constexpr int32_t kSubDirsPerLocalDir = 64;
/// FilePath with so many; the file's directory is the path up to its last slash.
std::string BlockPath(const std::vector<std::string>& local_dirs, std::string_view file_name);

std::string ShuffleDataName(int32_t shuffle_id, int64_t map_id);
std::string ShuffleIndexName(int32_t shuffle_id, int64_t map_id);
std::string ShuffleChecksumName(int32_t shuffle_id, int64_t map_id, std::string_view algorithm);
std::string RddBlockName(int32_t rdd_id, int32_t split);

/// What the ids of blocks name. `end` is `start`+1 except for a batch.
struct ShuffleBlockId {
  int32_t shuffle_id = 0;
  int64_t map_id = 0;
  int32_t start = 0;
  int32_t end = 0;
};
/// "shuffle_S_M_R" or the batch "shuffle_S_M_R0_R1".
std::optional<ShuffleBlockId> ParseShuffleBlockId(std::string_view text);
struct RddBlockId {
  int32_t rdd_id = 0;
  int32_t split = 0;
};
std::optional<RddBlockId> ParseRddBlockId(std::string_view text);

/// A range of a data file.
struct FileRange {
  int64_t offset = 0;
  int64_t length = 0;
};

/// The offsets of an index file: (partitions + 1) big-endian int64, first 0, never falling. Kept as read: 8 bytes each.
class IndexFile {
 public:
  IndexFile() = default;
  /// Takes the file's bytes; a rest of less than 8 bytes is ignored, as Java's LongBuffer does.
  explicit IndexFile(std::string bytes) : bytes_(std::move(bytes)) {}

  size_t offsets() const { return bytes_.size() / 8; }
  size_t memory_bytes() const { return bytes_.capacity() + sizeof *this; }
  /// Range of partitions [start, end): offset[start] and offset[end] - offset[start], which may be negative in a
  /// damaged file or when end < start. nullopt: no such partition (Java: IndexOutOfBoundsException).
  std::optional<FileRange> Range(int32_t start, int32_t end) const;

 private:
  std::string bytes_;
};

/// Checks what Range() takes on trust, for readers that must not fetch rubbish: whole offsets, first 0, never falling,
/// the last equal to the data file's length when that is given.
base::Status ValidateIndex(std::string_view index_bytes, std::optional<int64_t> data_bytes);

}  // namespace fairlead::wire::spark_shuffle
