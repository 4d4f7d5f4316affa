#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/shuffle_merge.h"
#include "model/store_row.h"
#include "shuffle/known_merges.h"
#include "shuffle/merged_partition.h"
#include "wire/spark_shuffle/messages.h"

namespace fairlead::shuffle {

/// BlockPushNonFatalFailure.ReturnCode, by its numbers. A client tries again after a collision and gives up after the
/// others.
enum class PushCode : uint8_t { kSuccess = 0, kTooLate = 1, kCollision = 2, kStale = 3, kTooOldAttempt = 4 };

struct MergeLimits {
  int64_t chunk_bytes_min = 2 << 20;  // spark.shuffle.push.server.minChunkSizeInMergedShuffleFile
  int write_failures_max = 4;         // spark.shuffle.push.server.ioExceptionsThresholdDuringMerge
  /// Of partitions, blocks on their way and what is being written. Once what no write would free takes half of it, no
  /// partition is begun, and from five eighths on none takes blocks; an eighth is for bytes that wait for another
  /// block's end. So there is always room again after a write.
  size_t memory_bytes = size_t{48} << 20;
  size_t partitions_per_app = 200'000;
  /// Merges of an application that are known, with those that have ended.
  size_t shuffles_per_app = 10'000;
};

/// A partition that is being merged, or whose files are being written.
struct MergeEntry {
  MergedPartition partition;
  int32_t reduce_id = 0;
  std::shared_ptr<const model::shuffle::Executor> dirs;
  std::string name;    // of its files, up to the dot
  size_t counted = 0;  // of its memory, in MergeBook::memory_bytes
  bool open = true;    // takes blocks
  bool being_written = false;
  int write_failures = 0;
};
using MergeEntryRef = std::shared_ptr<MergeEntry>;

/// A push from its first byte to its last. Only MergeBook looks inside.
struct Push {
  wire::spark_shuffle::PushBlockStream header;
  PushedBlock block;
  MergeEntryRef entry;              // nullptr: its bytes are thrown away
  std::optional<PushCode> refused;  // at its begin
  int64_t received = 0;
};

/// What the client of a push is told.
struct PushAnswer {
  PushCode code = PushCode::kSuccess;
  std::string failure;  // the first line of Spark's exception, in place of the code
  bool closes = false;  // and the connection ends
};

/// Names and numbers of Spark's PushMergeMetrics, then ours.
struct MergeCounters {
  uint64_t block_append_collisions = 0;
  uint64_t late_block_pushes = 0;
  uint64_t block_bytes_written = 0;
  uint64_t stale_block_pushes = 0;
  uint64_t ignored_block_bytes = 0;
  uint64_t blocks_merged = 0;
  uint64_t pushes_cut = 0;      // connections that ended within a block
  uint64_t pushes_limited = 0;  // refused because of MergeLimits
  // Why others were not merged. Spark's two meters mix these, and count what is refused at once apart from the rest.
  uint64_t pushes_late = 0;
  uint64_t pushes_stale = 0;
  uint64_t pushes_twice = 0;  // merged already, which is a success
  uint64_t pushes_of_other_attempts = 0;
  uint64_t pushes_to_lost = 0;
  uint64_t write_failures = 0;
  uint64_t partitions_lost = 0;  // given up after too many of them, or after one at the end
  uint64_t partitions_finished = 0;
};

/// What readers must know, as a value that other threads may hold.
struct MergedApp {
  int32_t attempt = -1;
  std::shared_ptr<const model::shuffle::Executor> dirs;
  KnownMerges latest;
};
using MergeView = std::map<std::string, std::shared_ptr<const MergedApp>, std::less<>>;

/// "shuffleMerged_APP_SHUFFLE_MERGE_REDUCE"; ".data", ".index" and ".meta" follow.
std::string MergedFileName(std::string_view app, int32_t shuffle_id, int32_t merge_id, int32_t reduce_id);
/// "shufflePush_SHUFFLE_MERGE_MAP_REDUCE", as clients and Spark's errors name a push.
std::string PushName(const wire::spark_shuffle::PushBlockStream& push);

/// Every merge: whose, which are open, which have ended (RemoteBlockPushResolver). Pure: what is to be written, removed
/// and stored is given out. Memory: MergeLimits::memory_bytes. Cost: O(log) of shuffles and partitions a block.
class MergeBook {
 public:
  explicit MergeBook(MergeLimits limits) : limits_(limits), view_(std::make_shared<const MergeView>()) {}

  // ---- applications
  struct Registered {
    bool changed = false;                                      // store AppRow
    std::vector<MergeEntryRef> dropped;                        // of an earlier attempt
    std::shared_ptr<const model::shuffle::Executor> old_dirs;  // and where it kept its files
    std::vector<model::StoreRow> rows;
  };
  /// The first executor that registers says where files go; a later attempt of the application takes the place of an
  /// earlier one.
  Registered Register(const std::string& app, model::shuffle::MergeDirs dirs);
  /// The application has ended.
  Registered Remove(const std::string& app);
  /// nullptr: not registered.
  const MergedApp* Find(std::string_view app) const;
  /// Made again when something has changed since the last call, so many pushes cost one copy of the
  /// applications that they change.
  std::shared_ptr<const MergeView> View() const;
  /// How many applications were copied for views.
  uint64_t copies() const { return copies_; }

  // ---- pushes
  /// nullopt: it goes on. Else it is over.
  std::optional<PushAnswer> Begin(Push& push);
  void Bytes(Push& push, std::string_view bytes);
  PushAnswer End(Push& push);
  /// Its connection is gone.
  void Cut(Push& push);

  struct Outdated {
    std::vector<MergeEntryRef> dropped;
    std::vector<std::pair<std::shared_ptr<const model::shuffle::Executor>, std::string>> names;  // of finished files
    std::vector<model::StoreRow> rows;  // of ends that count no more
  };
  /// What a push of a later merge has replaced since the last call, so that its files go, and what was forgotten.
  Outdated TakeOutdated() { return std::exchange(outdated_, {}); }

  // ---- the end of a shuffle
  struct Finishing {
    std::vector<MergeEntryRef> entries;
    std::vector<MergeEntryRef> dropped;  // of an earlier merge, whose files go
  };
  /// From now on its pushes are too late. The error is the first line of Spark's exception.
  base::Result<Finishing> Finalize(const wire::spark_shuffle::FinalizeShuffleMerge& request);
  /// The last write of such a partition failed: it is given up.
  void NotFinished();
  /// The files of these partitions are written: what is stored before anybody is told. nullopt: the merge was removed
  /// or replaced meanwhile, and its files go.
  std::optional<std::vector<model::StoreRow>> Finished(const wire::spark_shuffle::FinalizeShuffleMerge& request,
                                                       std::vector<int32_t> reduce_ids);
  struct Removal {
    std::vector<MergeEntryRef> dropped;
    std::vector<std::string> names;  // files that were finished
    std::shared_ptr<const model::shuffle::Executor> dirs;
    std::vector<model::StoreRow> rows;
  };
  base::Result<Removal> RemoveMerge(const wire::spark_shuffle::RemoveShuffleMerge& request);

  // ---- writing
  struct Write {
    MergeEntryRef entry;
    MergedPartition::Unwritten unwritten;
  };
  bool wants_writing() const { return memory_ > limits_.memory_bytes / 2 && unwritten_ > 0; }
  /// What should be written now: of the partitions that have at least as much as the average.
  std::vector<Write> TakeWrites();
  /// One of them is done, with or without success. An entry that failed too often is lost: nothing of it is kept.
  void Written(Write write, bool ok);
  bool Lost(const MergeEntry& entry) const { return entry.write_failures > limits_.write_failures_max; }
  /// An entry that Finalize, Register, Remove or RemoveMerge gave is gone.
  void Release(MergeEntry& entry);
  /// Too much is held: who pushes should wait.
  bool crowded() const { return memory_ > limits_.memory_bytes; }

  // ---- the store
  static constexpr std::string_view kDirsTable = "shuffle_merge_dirs";
  static constexpr std::string_view kMergedTable = "shuffle_merged";
  /// Rows of kDirsTable before those of kMergedTable.
  base::Status Restore(std::string_view table, std::string_view key, std::string_view value,
                       const std::vector<std::string>& roots);
  /// After the last row: readers see what came back.
  void Restored();

  const MergeCounters& counters() const { return counters_; }
  size_t memory_bytes() const { return memory_; }
  /// Blocks that wait for another's end, and their bytes that have come.
  size_t deferred_blocks() const { return deferred_blocks_; }
  size_t deferred_bytes() const { return deferred_; }
  size_t open_partitions() const { return open_; }
  struct AppUse {
    uint64_t blocks = 0;
    uint64_t bytes = 0;
    uint64_t refused = 0;
    size_t open_partitions = 0;
  };
  /// By application.
  std::map<std::string, AppUse> Use() const;
  /// Empty when the sums are right.
  std::string CheckInvariants() const;

 private:
  struct Shuffle {
    int32_t merge_id = 0;
    bool finished = false;
    std::map<int32_t, MergeEntryRef> partitions;
    std::vector<int32_t> reduce_ids;  // of a finished one
    bool removed = false;
  };
  struct App {
    int32_t attempt = -1;
    std::shared_ptr<const model::shuffle::Executor> dirs;
    std::map<int32_t, Shuffle> shuffles;
    AppUse use;
    // What follows from `shuffles`:
    KnownMerges latest{};
    std::set<int32_t> removed{};
  };
  App* FindApp(std::string_view app);
  void Open(Push& push, App& app);
  bool MayKnow(int32_t shuffle_id, App& app, const std::string& name);
  void Replace(Shuffle& shuffle, App& app, const wire::spark_shuffle::PushBlockStream& header);
  /// What no write frees.
  size_t Lasting() const { return memory_ - std::min(memory_, 2 * unwritten_ + deferred_ + writing_); }
  MergeEntryRef Begin(Shuffle& shuffle, App& app, const wire::spark_shuffle::PushBlockStream& header);
  PushAnswer EndOpen(Push& push, MergeEntry& entry, App& app);
  PushCode LateOrStale(const Push& push) const;
  std::vector<MergeEntryRef> Drop(Shuffle& shuffle, App& app);
  Registered Forget(App& app, const std::string& name);
  template <class Change>
  auto Count(MergeEntry& entry, Change&& change);
  void CountDeferred(Push& push, size_t before);
  static void Know(App& app, int32_t shuffle_id);
  void Publish(const std::string& app) { unpublished_.insert(app); }

  const MergeLimits limits_;
  std::map<std::string, App, std::less<>> apps_;
  mutable std::shared_ptr<const MergeView> view_;
  mutable std::set<std::string> unpublished_;  // applications that have changed since view_ was made
  mutable uint64_t copies_ = 0;
  MergeCounters counters_;
  Outdated outdated_;
  size_t memory_ = 0;     // of entries, what is being written, and deferred bytes
  size_t unwritten_ = 0;  // bytes that no file has, of open partitions
  size_t writing_ = 0;    // bytes of writes that have not come back
  size_t deferred_ = 0;
  size_t deferred_blocks_ = 0;
  size_t open_ = 0;
  uint64_t last_generation_ = uint64_t{1} << 62;  // apart from those of executors
};

}  // namespace fairlead::shuffle
