#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/result.h"

// The private protocol between a driver and its own executors (docs/engine.md): same binary, same build id, no promise
// of compatibility. A frame is a big-endian u32 length and the binary form (base/codec.h) of one Message.

namespace fairlead::wire::engine {

/// Frames above this are refused before they are buffered.
inline constexpr uint32_t kFrameMax = 512u << 20;
/// Until the executor has proved that it knows the secret.
inline constexpr uint32_t kFrameMaxUnknownPeer = 4096;

/// Driver -> executor, at once on a new connection.
struct Challenge {
  std::string nonce;  // 32 random bytes
  FL_FIELDS(nonce)
};
/// Executor -> driver, with the proof that it knows the application's secret (ProofOf, proof.h).
struct Hello {
  std::string proof;
  std::string build_id;
  std::string executor_id;
  std::string host;
  int32_t slots = 0;
  /// Where its shuffle files are served, and whether by itself: then they go with it.
  std::string shuffle_host;
  int32_t shuffle_port = 0;
  bool serves_own_files = false;
  int64_t pid = 0;
  bool service_merges = false;  // pushed blocks, for this application
  std::string nonce;            // 32 random bytes
  FL_FIELDS(proof, build_id, executor_id, host, slots, shuffle_host, shuffle_port, serves_own_files, pid,
            service_merges, nonce)
};
/// Driver -> executor: the driver knows the secret, too (AnswerTo, proof.h). What follows is sealed, both ways
/// (channel.h).
struct Known {
  std::string proof;
  FL_FIELDS(proof)
};
struct Welcome {
  uint32_t executor = 0;
  FL_FIELDS(executor)
};
struct Refused {
  std::string reason;
  FL_FIELDS(reason)
};
/// What the tasks of a stage attempt run; comes before its first Launch on this executor.
struct StagePlanned {
  int32_t stage = -1;
  int32_t attempt = 0;
  std::string plan;  // engine::StagePlan
  int64_t epoch = 0;
  std::vector<int32_t> kept;  // cached datasets with partitions that some executor keeps
  FL_FIELDS(stage, attempt, plan, epoch, kept)
};
struct TaskLaunch {
  int64_t task = -1;
  int32_t partition = 0;
  int32_t attempt = 0;
  FL_FIELDS(task, partition, attempt)
};
struct Launch {
  int32_t stage = -1;
  int32_t stage_attempt = 0;
  std::vector<TaskLaunch> tasks;
  FL_FIELDS(stage, stage_attempt, tasks)
};
struct Kill {
  int64_t task = -1;
  FL_FIELDS(task)
};
/// The stage's plan will not be needed again.
struct StageGone {
  int32_t stage = -1;
  int32_t attempt = 0;
  FL_FIELDS(stage, attempt)
};
struct TaskStarted {
  int64_t task = -1;
  FL_FIELDS(task)
};
struct TaskDone {
  int64_t task = -1;
  std::string result;
  std::string sizes;    // one byte per reduce partition (tasks::EncodeSize)
  std::string metrics;  // engine::TaskMetrics
  int64_t run_ns = 0;
  int64_t remote_read_ns = 0;
  int64_t remote_read_bytes = 0;
  std::map<int64_t, int64_t> counters;  // additions to the program's counters
  FL_FIELDS(task, result, sizes, metrics, run_ns, remote_read_ns, remote_read_bytes, counters)
};
struct TaskBroke {
  int64_t task = -1;
  int32_t kind = 0;  // model::tasks::FailureKind
  std::string message;
  int32_t shuffle = -1;
  int32_t map_index = -1;
  uint32_t source = UINT32_MAX;
  FL_FIELDS(task, kind, message, shuffle, map_index, source)
};
struct AskCommit {
  int64_t task = -1;
  uint64_t token = 0;
  FL_FIELDS(task, token)
};
struct CommitAnswer {
  uint64_t token = 0;
  bool granted = false;
  FL_FIELDS(token, granted)
};
struct AskMapOutputs {
  int32_t shuffle = -1;
  FL_FIELDS(shuffle)
};
/// An executor that wrote map outputs.
struct Place {
  uint32_t executor = 0;
  std::string executor_id;
  std::string host;  // of its shuffle service
  int32_t port = 0;
  FL_FIELDS(executor, executor_id, host, port)
};
/// A shuffle service that merges pushed blocks.
struct Merger {
  std::string host;
  int32_t port = 0;
  FL_FIELDS(host, port)
};
/// Driver -> executor: outputs of the shuffle that it wrote and will write are to be pushed to these services, each of
/// which merges a run of the reduce partitions (tasks/merge_rule.h).
struct PushShuffle {
  int32_t shuffle = -1;
  int32_t app_attempt = -1;
  std::vector<Merger> mergers;
  FL_FIELDS(shuffle, app_attempt, mergers)
};
/// Executor -> driver: of this map output everything is pushed that will be.
struct MapPushed {
  int32_t shuffle = -1;
  int32_t map = -1;
  FL_FIELDS(shuffle, map)
};
struct MapOutputs {
  int32_t shuffle = -1;
  int64_t epoch = 0;
  std::string table;  // tasks::EncodeMapOutputs
  std::vector<Place> places;
  /// Of a shuffle that was merged: by whom, and a byte for each reduce partition, 1 where there is something merged.
  PushShuffle merge;
  std::string merged;
  FL_FIELDS(shuffle, epoch, table, places, merge, merged)
};
struct AskBroadcast {
  int64_t id = 0;
  FL_FIELDS(id)
};
struct Broadcast {
  int64_t id = 0;
  bool known = false;
  std::string value;
  FL_FIELDS(id, known, value)
};
/// Executor -> driver: it now (no longer) keeps the partition of a cached dataset.
struct BlockKept {
  int32_t dataset = -1;
  int32_t partition = -1;
  bool present = true;
  FL_FIELDS(dataset, partition, present)
};
/// Executor -> driver: who gives me this partition of a cached dataset?
struct AskKept {
  int32_t dataset = -1;
  int32_t partition = -1;
  uint64_t token = 0;
  FL_FIELDS(dataset, partition, token)
};
/// Driver -> the executor that keeps it: write it as a block file (rdd_DATASET_PARTITION) for others.
struct PublishKept {
  int32_t dataset = -1;
  int32_t partition = -1;
  FL_FIELDS(dataset, partition)
};
/// The answer to PublishKept.
struct KeptPublished {
  int32_t dataset = -1;
  int32_t partition = -1;
  bool good = false;  // else it cannot be had
  int64_t bytes = 0;
  uint64_t checksum = 0;  // XXH3 of them
  FL_FIELDS(dataset, partition, good, bytes, checksum)
};
/// The answer to AskKept.
struct KeptPlace {
  uint64_t token = 0;
  bool known = false;
  Place place;
  int64_t bytes = 0;
  uint64_t checksum = 0;
  FL_FIELDS(token, known, place, bytes, checksum)
};
/// Executor -> driver: how busy others keep its host, in thousandths (0 to 1000).
struct HostLoad {
  int32_t thousandths = 0;
  FL_FIELDS(thousandths)
};
/// Driver -> executor: drop these cached datasets, the files of these shuffles and these shared values.
struct Forget {
  std::vector<int32_t> datasets;
  std::vector<int32_t> shuffles;
  std::vector<int64_t> broadcasts;
  FL_FIELDS(datasets, shuffles, broadcasts)
};
/// Driver -> executor: finish; nothing more will come.
struct Shutdown {
  std::string reason;
  FL_FIELDS(reason)
};
/// Either way, every kPingInterval: the sender is alive and can be reached.
struct Ping {
  FL_NO_FIELDS()
};

/// As Spark's executors and network (spark.executor.heartbeatInterval, spark.network.timeout): a peer that was silent
/// for kSilenceMax is gone, although its connection has not said so.
inline constexpr int64_t kPingIntervalMs = 10'000;
inline constexpr int64_t kSilenceMaxMs = 120'000;

using Message = std::variant<Challenge, Hello, Welcome, Refused, StagePlanned, Launch, Kill, StageGone, TaskStarted,
                             TaskDone, TaskBroke, AskCommit, CommitAnswer, AskMapOutputs, MapOutputs, AskBroadcast,
                             Broadcast, BlockKept, Forget, Shutdown, Ping, AskKept, PublishKept, KeptPublished,
                             KeptPlace, HostLoad, PushShuffle, MapPushed, Known>;

/// Appends the frame of a message.
void AppendFrame(std::string& out, const Message& message);

/// Cuts a byte stream into messages.
class FrameParser {
 public:
  explicit FrameParser(uint32_t frame_max) : frame_max_(frame_max) {}
  void set_frame_max(uint32_t frame_max) { frame_max_ = frame_max; }
  void Feed(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole message; an error for malformed or oversized input (close the connection then). ok and false: more
  /// bytes are needed. Amortised O(bytes).
  base::Result<bool> Next(Message& message);
  /// What was fed and is no message yet; it is gone here. What follows goes through a channel first.
  std::string TakeRest();

 private:
  uint32_t frame_max_;
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace fairlead::wire::engine
