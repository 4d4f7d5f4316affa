#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "process/executor/shuffle_client.h"
#include "tasks/map_outputs.h"
#include "tasks/merge_rule.h"
#include "wire/engine/messages.h"
#include "wire/spark_shuffle/merge_statuses.h"
#include "wire/spark_transport/security.h"

namespace fairlead::process::driver {

struct MergeSettings {
  tasks::MergeWhen when = tasks::MergeWhen::kWhenItPays;
  std::string application_id;
  int32_t app_attempt = 1;
  wire::spark_transport::Security security;  // between the application and shuffle services
  /// For so long after the last map executors may push (spark.shuffle.push.finalize.timeout).
  base::Duration pushes_max = base::Duration::Seconds(10);
  /// A service that has not answered by then has merged nothing (spark.shuffle.push.results.timeout).
  base::Duration answers_max = base::Duration::Seconds(10);
};

/// What came of one shuffle's merge.
struct MergeResult {
  int32_t shuffle = -1;
  int64_t blocks = 0;  // of the shuffle: maps x reduce partitions, empty ones, too
  int64_t merged = 0;  // of them
  int64_t bytes = 0;   // merged
  std::vector<env::Endpoint> services;
  /// What each of them said, beside each other; of one that did not answer, nothing.
  std::vector<std::optional<std::vector<wire::spark_shuffle::MergeStatus>>> statuses;
};

/// Adds what the service with number `merger` of `mergers` says it has merged, as far as it is that service's business:
/// its own partitions, each once, no more maps than there are, and lengths that can be. `merged` has a byte a reduce
/// partition.
void AddBelieved(const std::vector<wire::spark_shuffle::MergeStatus>& said, size_t merger, size_t mergers, int32_t maps,
                 std::string& merged, MergeResult& result);

/// The driver's side of push-merged shuffle (Spark: DAGScheduler's finalization of shuffle merges). Once a few maps of
/// a shuffle are done it decides whether merging pays, and tells executors to push. When the maps are done and their
/// outputs pushed, it ends the merge; until then reducers that ask for their input wait. Whatever fails here costs time
/// and no result. All on the loop's thread.
class ShuffleMerges {
 public:
  struct Hooks {
    /// Which hosts merge the shuffle from now on; none: nobody does.
    std::function<void(int32_t shuffle, std::vector<std::string> hosts)> place;
    std::function<void(const wire::engine::PushShuffle&)> tell_executors;
    /// Nobody has to wait for the shuffle's merge any more.
    std::function<void(const MergeResult&)> ended;
  };
  ShuffleMerges(env::Loop& loop, env::Net& net, MergeSettings settings, Hooks hooks);
  ~ShuffleMerges();

  // ---- what happens to executors and stages
  /// `host`: of the executor, as the core knows it.
  void ExecutorAdded(uint32_t executor, const std::string& host, const env::Endpoint& service);
  void ExecutorLost(uint32_t executor);
  /// `may_push`: its outputs have the same rows whenever they are made.
  void StageBegins(int32_t shuffle, int32_t maps, int32_t reduces, bool may_push);
  /// `outputs` has it.
  void MapWritten(int32_t shuffle, int32_t map, uint32_t executor, const tasks::MapOutputTable& outputs);
  void MapPushed(const wire::engine::MapPushed& pushed);
  void StageDone(int32_t shuffle);
  void Forget(int32_t shuffle);

  // ---- what executors are told
  /// Of an executor that has just come.
  std::vector<wire::engine::PushShuffle> Orders() const;
  /// Who asks for the shuffle's outputs is to be answered after `ended`.
  bool KeepsBack(int32_t shuffle) const;
  /// Adds what is merged.
  void AddTo(wire::engine::MapOutputs& answer) const;

 private:
  /// From each to the one behind it, or from the first to the last.
  enum class State : uint8_t { kUndecided, kPushed, kAwaited, kFinalized, kEnded };
  struct Shuffle {
    State state = State::kUndecided;
    int32_t maps = 0;
    int32_t reduces = 0;
    // Of the first outputs.
    int32_t sampled = 0;
    int64_t sampled_bytes = 0;
    /// By map: the executor whose pushes of it are awaited; kNobody: it has none, or has pushed.
    std::vector<uint32_t> awaited;
    std::vector<bool> pushed;
    int32_t awaited_count = 0;
    wire::engine::PushShuffle order;
    size_t answers_missing = 0;
    MergeResult result;
    std::string merged;  // a byte a reduce partition
    std::unique_ptr<env::Timer> timer;
  };
  struct Executor {
    std::string host;
    env::Endpoint service;
  };
  static constexpr uint32_t kNobody = UINT32_MAX;

  Shuffle* Find(int32_t shuffle);
  std::map<env::Endpoint, std::string> Services() const;
  void Decide(int32_t id, Shuffle& shuffle);
  static void Stop(Shuffle& shuffle, size_t map);
  void FinalizeIfPushed(int32_t id, Shuffle& shuffle);
  void Finalize(int32_t id, Shuffle& shuffle);
  void OnAnswer(int32_t id, size_t merger, base::Result<std::vector<wire::spark_shuffle::MergeStatus>> statuses);
  void End(int32_t id, Shuffle& shuffle);

  env::Loop& loop_;
  const MergeSettings settings_;
  const Hooks hooks_;
  executor::ShuffleClient client_;
  std::map<uint32_t, Executor> executors_;  // whose services merge
  std::map<int32_t, Shuffle> shuffles_;
  env::Alive alive_;
};

}  // namespace fairlead::process::driver
