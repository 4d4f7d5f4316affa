#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

// Messages between executors and the shuffle service (org.apache.spark.network.shuffle.protocol, BlockTransferMessage):
// int8 id and fields, as the body of RpcRequest, RpcResponse, OneWayMessage or the meta of UploadStream. Equal in Spark
// 3.5 and 4.x.

namespace fairlead::wire::spark_shuffle {

/// How malformed input is answered: Spark 3.5 allocates first and checks later, 4.x checks first, with other texts.
enum class Dialect : uint8_t { kSpark35, kSpark43 };

/// A list of lists of int32 in two arrays, so that a request for thousands of blocks is two allocations.
class IntLists {
 public:
  size_t size() const { return ends_.size(); }
  size_t total() const { return values_.size(); }
  std::span<const int32_t> operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {values_.data() + begin, ends_[i] - begin};
  }
  void Add(std::span<const int32_t> list) {
    values_.insert(values_.end(), list.begin(), list.end());
    ends_.push_back(values_.size());
  }
  /// Appends to the list that CloseList() will end.
  void AddValue(int32_t value) { values_.push_back(value); }
  void CloseList() { ends_.push_back(values_.size()); }
  friend bool operator==(const IntLists&, const IntLists&) = default;

 private:
  std::vector<int32_t> values_;
  std::vector<size_t> ends_;
};

struct OpenBlocks {
  std::string app_id;
  std::string exec_id;
  std::vector<std::string> block_ids;
};
struct UploadBlock {
  std::string app_id;
  std::string exec_id;
  std::string block_id;
  std::string metadata;
  std::string data;
};
struct RegisterExecutor {
  std::string app_id;
  std::string exec_id;
  std::vector<std::string> local_dirs;
  int32_t sub_dirs_per_local_dir = 64;
  std::string shuffle_manager;
};
/// The reply to every request that opens blocks.
struct StreamHandle {
  int64_t stream_id = 0;
  int32_t num_chunks = 0;
};
/// Mesos only, gone in 4.0.
struct RegisterDriver {
  std::string app_id;
  int64_t heartbeat_timeout_ms = 0;
};
/// Mesos only, gone in 4.0.
struct ShuffleServiceHeartbeat {
  std::string app_id;
};
struct UploadBlockStream {
  std::string block_id;
  std::string metadata;
};
struct RemoveBlocks {
  std::string app_id;
  std::string exec_id;
  std::vector<std::string> block_ids;
};
struct BlocksRemoved {
  int32_t num_removed = 0;
};
/// Chunk k of the stream is the k-th of map_ids x their reduce_ids; with `batch` each list is [start, end) and one
/// chunk.
struct FetchShuffleBlocks {
  std::string app_id;
  std::string exec_id;
  int32_t shuffle_id = 0;
  std::vector<int64_t> map_ids;
  IntLists reduce_ids;
  bool batch = false;
};
struct GetLocalDirsForExecutors {
  std::string app_id;
  std::vector<std::string> exec_ids;
};
struct LocalDirsForExecutors {
  std::vector<std::string> exec_ids;
  std::vector<int32_t> num_dirs_by_exec;
  std::vector<std::string> all_dirs;
};
struct PushBlockStream {
  std::string app_id;
  int32_t app_attempt_id = 0;
  int32_t shuffle_id = 0;
  int32_t shuffle_merge_id = 0;
  int32_t map_index = 0;
  int32_t reduce_id = 0;
  int32_t index = 0;
};
struct FinalizeShuffleMerge {
  std::string app_id;
  int32_t app_attempt_id = 0;
  int32_t shuffle_id = 0;
  int32_t shuffle_merge_id = 0;
};
/// With bitmaps everything after the merge id stays undecoded in `rest` (push-based merge only).
struct MergeStatuses {
  int32_t shuffle_id = 0;
  int32_t shuffle_merge_id = 0;
  std::vector<int32_t> reduce_ids;
  std::vector<int64_t> sizes;
  std::string rest;
};
struct FetchShuffleBlockChunks {
  std::string app_id;
  std::string exec_id;
  int32_t shuffle_id = 0;
  int32_t shuffle_merge_id = 0;
  std::vector<int32_t> reduce_ids;
  IntLists chunk_ids;
};
struct DiagnoseCorruption {
  std::string app_id;
  std::string exec_id;
  int32_t shuffle_id = 0;
  int64_t map_id = 0;
  int32_t reduce_id = 0;
  int64_t checksum = 0;
  std::string algorithm;
};
/// org.apache.spark.network.shuffle.checksum.Cause, by ordinal.
enum class Cause : uint8_t {
  kDiskIssue,
  kNetworkIssue,
  kUnknownIssue,
  kChecksumVerifyPass,
  kUnsupportedChecksumAlgorithm,
};
std::string_view EnumName(Cause cause);
struct CorruptionCause {
  Cause cause = Cause::kUnknownIssue;
};
struct BlockPushReturnCode {
  uint8_t code = 0;
  std::string failed_block_id;
};
struct RemoveShuffleMerge {
  std::string app_id;
  int32_t app_attempt_id = 0;
  int32_t shuffle_id = 0;
  int32_t shuffle_merge_id = 0;
};

/// The alternative's index is the id on the wire.
using Message =
    std::variant<OpenBlocks, UploadBlock, RegisterExecutor, StreamHandle, RegisterDriver, ShuffleServiceHeartbeat,
                 UploadBlockStream, RemoveBlocks, BlocksRemoved, FetchShuffleBlocks, GetLocalDirsForExecutors,
                 LocalDirsForExecutors, PushBlockStream, FinalizeShuffleMerge, MergeStatuses, FetchShuffleBlockChunks,
                 DiagnoseCorruption, CorruptionCause, BlockPushReturnCode, RemoveShuffleMerge>;

/// Error::code of DecodeMessage.
enum class DecodeError : int {
  kMalformed = 1,    // answered by a failure that carries the message
  kOutOfMemory = 2,  // Spark 3.5 allocates what the field says and closes the connection
};

/// Decodes a message; bytes after it are ignored, as Spark does. The error is the first line of the exception that a
/// service of that release answers with. Memory: proportional to body.size().
base::Result<Message> DecodeMessage(std::string_view body, Dialect dialect = Dialect::kSpark43);

/// Id and fields.
std::string EncodeMessage(const Message& message);

/// The message as its Java class prints itself: "StreamHandle[streamId=1,numChunks=2]".
std::string ToJavaString(const Message& message, Dialect dialect = Dialect::kSpark43);

}  // namespace fairlead::wire::spark_shuffle
