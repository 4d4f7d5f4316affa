#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "process/executor/kept_partitions.h"
#include "tasks/map_outputs.h"
#include "wire/engine/messages.h"

namespace fairlead::process::executor {

/// What an executor knows and decides: which task runs next, which tables of map outputs hold, what its driver was
/// asked and has answered, which cached partitions it keeps, which files it has no use for any more. No thread, no I/O:
/// the engine calls it under a lock, the simulator on its loop. What a task needs and has not come is asked for once;
/// the owner looks again when OnMessage says that answers have come.
class ExecutorCore {
 public:
  using Send = std::function<void(wire::engine::Message)>;
  /// What the owner made of a stage's plan, to run its tasks.
  using Program = std::shared_ptr<void>;
  using MakeProgram = std::function<Program(std::string plan)>;
  /// `send` may be called from inside any function that is not const. `kept_bytes_max`: of cached partitions in memory.
  ExecutorCore(Send send, MakeProgram make_program, int64_t kept_bytes_max);

  /// What is left for the owner after a message.
  struct Outcome {
    size_t work = 0;                                        // tasks that can be taken
    bool answers = false;                                   // something came that may be waited for
    std::optional<int64_t> kill;                            // a task that runs
    std::optional<KeptPartitions::Key> publish;             // to be written as a file for others, then Published
    std::vector<int64_t> broadcasts_gone;                   // shared values to be freed
    std::vector<std::pair<int32_t, int64_t>> outputs_gone;  // shuffle and task whose files are not needed any more
    std::vector<std::string> files_gone;                    // others
  };
  Outcome OnMessage(wire::engine::Message message);

  struct Work {
    wire::engine::TaskLaunch launch;
    int32_t stage = 0;
    Program program;
  };
  /// The next task, which runs until Ended; nothing: none waits.
  std::optional<Work> Take();
  bool HasWork() const { return !queue_.empty(); }
  bool Runs(int64_t task) const { return running_.contains(task); }
  void Ended(int64_t task) { running_.erase(task); }
  /// A task has written its files of a shuffle.
  void Wrote(int32_t shuffle, int64_t task) { written_[shuffle].push_back(task); }

  struct Outputs {
    int64_t epoch = -1;
    bool asked = false;
    bool ready = false;
    std::shared_ptr<const tasks::MapOutputTable> table;  // null: the driver knows none
    std::map<uint32_t, wire::engine::Place> places;
    wire::engine::PushShuffle merge;  // see MapOutputs
    std::string merged;
  };
  /// Null: asked for.
  const Outputs* FindOutputs(int32_t shuffle);
  /// A block of the shuffle could not be had: its table is asked for again.
  void DropOutputs(int32_t shuffle);

  /// Asks whether the task may commit; the answer is taken with the token.
  uint64_t AskCommit(int64_t task);
  std::optional<bool> TakeCommit(uint64_t token);

  struct SharedValue {
    bool ready = false;
    std::shared_ptr<const std::string> bytes;  // null: the driver has none
  };
  /// Null: asked for.
  const SharedValue* FindBroadcast(int64_t id);

  KeptPartitions& kept() { return kept_; }
  const KeptPartitions& kept() const { return kept_; }
  /// Asks who else keeps a partition; 0: nobody does, as far as is known.
  uint64_t AskKept(int32_t dataset, int32_t partition);
  std::optional<wire::engine::KeptPlace> TakeKept(uint64_t token);
  /// Whoever waited for an answer is gone.
  void Abandon(uint64_t token);

 private:
  using Stage = std::pair<int32_t, int32_t>;  // and its attempt
  void On(wire::engine::Launch& launch, Outcome& outcome);
  void On(wire::engine::StagePlanned& planned);
  void On(const wire::engine::Kill& kill, Outcome& outcome);
  void On(wire::engine::MapOutputs& message);
  void On(const wire::engine::Forget& forget, Outcome& outcome);

  Send send_;
  MakeProgram make_program_;
  KeptPartitions kept_;
  std::map<Stage, Program> programs_;
  std::deque<Work> queue_;
  std::set<int64_t> running_;
  std::map<int32_t, Outputs> outputs_;
  std::map<int64_t, SharedValue> broadcasts_;
  std::map<uint64_t, std::optional<bool>> commits_;
  std::map<uint64_t, std::optional<wire::engine::KeptPlace>> kept_waits_;
  std::set<int32_t> kept_somewhere_;                 // datasets with kept partitions that the driver knows
  std::map<int32_t, std::vector<int64_t>> written_;  // shuffle -> tasks that wrote files here
  uint64_t next_token_ = 1;
};

}  // namespace fairlead::process::executor
