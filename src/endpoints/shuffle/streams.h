#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/shuffle.h"
#include "wire/spark_shuffle/messages.h"

// Opened lists of blocks, each read once and in order (OneForOneStreamManager and the iterators of
// ExternalBlockHandler).

namespace fairlead::endpoints::shuffle {

/// One block to be opened.
struct BlockRef {
  enum class Kind : uint8_t { kShuffle, kRdd, kMerged };
  Kind kind = Kind::kShuffle;
  int32_t shuffle_id = 0;  // of kRdd: the RDD's id
  int64_t map_id = 0;      // of kRdd: the split; of kMerged: the reduce id
  int32_t start = 0;       // reduce ids, of kMerged chunks [start, end); end may be anything
  int32_t end = 0;
  int32_t merge_id = 0;  // of kMerged
  std::string app;       // of kMerged, whose files carry its name
};

/// A stream: what was asked for and how far it was read. Memory: the ids of the request.
class BlockStream {
 public:
  /// Of FetchShuffleBlocks; chunks are map ids x reduce ids, or one a map with `batch`.
  explicit BlockStream(wire::spark_shuffle::FetchShuffleBlocks request);
  /// Of FetchShuffleBlockChunks: reduce ids x chunks of the merged partition.
  explicit BlockStream(wire::spark_shuffle::FetchShuffleBlockChunks request);
  /// Of OpenBlocks: ids of one kind, parsed as numbers. The error is the first line of Spark's exception.
  static base::Result<BlockStream> Parse(const wire::spark_shuffle::OpenBlocks& request);

  const std::string& app() const { return app_; }
  const std::string& executor() const { return executor_; }
  int32_t num_chunks() const { return num_chunks_; }
  size_t memory_bytes() const;

  /// Is there a block under the cursor? An error where Spark's iterator throws (lists of different lengths).
  base::Result<bool> HasNext() const;
  /// The block under the cursor; HasNext() must have said true. An error where Spark throws.
  base::Result<BlockRef> Peek() const;
  /// The block under the cursor and those after it, `count` at most; empty where Peek() would give an error.
  std::vector<BlockRef> Upcoming(size_t count);
  /// Moves the cursor; Spark does so once the block was found, not before.
  void Advance();

  int32_t next_chunk = 0;  // the only index that may be asked for
  uint64_t owner = 0;      // session that opened it
  /// For the host: what the executor had registered in this version of the registry.
  std::shared_ptr<const model::shuffle::Executor> registration;
  uint64_t registry_version = 0;

 private:
  BlockStream() = default;

  enum class Form : uint8_t { kLists, kBatch, kMerged, kFlat };
  Form form_ = Form::kLists;
  std::string app_;
  std::string executor_;
  int32_t shuffle_id_ = 0;
  int32_t merge_id_ = 0;  // of kMerged
  int32_t num_chunks_ = 0;
  std::vector<int64_t> map_ids_;
  wire::spark_shuffle::IntLists lists_;
  std::vector<BlockRef> flat_;  // of OpenBlocks
  size_t outer_ = 0;            // cursor: map, or index into flat_
  size_t inner_ = 0;            // cursor: reduce id within the map
};

/// The streams of one I/O thread. Ids are opaque to clients and never used twice.
class StreamTable {
 public:
  /// `bytes_max`: of all streams together.
  StreamTable(int64_t first_id, size_t bytes_max) : next_id_(first_id), bytes_max_(bytes_max) {}

  /// nullopt: too much is open.
  std::optional<int64_t> Add(BlockStream stream);
  BlockStream* Find(int64_t id);
  void Remove(int64_t id);
  size_t size() const { return streams_.size(); }
  size_t memory_bytes() const { return bytes_; }

 private:
  std::unordered_map<int64_t, BlockStream> streams_;
  int64_t next_id_;
  const size_t bytes_max_;
  size_t bytes_ = 0;
};

/// Keys in the order in which a java.util.HashMap gives them that was filled in the order of `keys` (equal ones once),
/// starting with a table of `capacity` (a power of two).
std::vector<std::string> JavaHashOrder(const std::vector<std::string>& keys, size_t capacity);

/// Long.parseLong and Integer.parseInt; the error is the first line of the NumberFormatException.
base::Result<int64_t> JavaParseLong(std::string_view text);
base::Result<int32_t> JavaParseInt(std::string_view text);
/// String.split("_"): trailing empty parts are left out.
std::vector<std::string_view> JavaSplit(std::string_view text);
/// "java.lang.ArrayIndexOutOfBoundsException: Index i out of bounds for length n".
base::Error ArrayIndexError(int64_t index, int64_t length);

}  // namespace fairlead::endpoints::shuffle
