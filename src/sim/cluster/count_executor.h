#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "env/alive.h"
#include "env_sim/world.h"
#include "model/tasks.h"
#include "process/executor/driver_connection.h"
#include "process/executor/executor_core.h"
#include "process/executor/merged_chunks.h"
#include "process/executor/shuffle_client.h"
#include "process/executor/shuffle_pusher.h"
#include "sim/cluster/count_job.h"
#include "sim/cluster/ledger.h"
#include "sim/cluster/planted_bug.h"
#include "tasks/map_outputs.h"

namespace fairlead::sim {

/// An executor of a count job: registers its files at the node's shuffle service, connects to its driver, runs tasks.
/// What it decides, its connections and messages are the engine's (ExecutorCore); instead of the engine's threads,
/// tasks take virtual time. It checks that what it was told is what it does.
class CountExecutor final : public Program {
 public:
  struct Settings {
    std::string id;           // as its driver named it
    std::string application;  // as the shuffle service knows it
    std::string secret;
    env::Endpoint driver;
    env::Endpoint shuffle_service;
    std::string host;
    std::string local_directory;  // for map outputs
    JobSpec job;
    model::ApplicationAttemptId attempt;  // of its driver
    PlantedBug bug = PlantedBug::kNone;
  };
  CountExecutor(env_sim::World& world, env_sim::Machine& machine, env::Disk& disk, Settings settings, Ledger& ledger,
                std::function<void(int exit_code)> exit);
  ~CountExecutor() override;
  std::string CheckInvariants() const override;

 private:
  using Core = process::executor::ExecutorCore;
  using Key = process::executor::KeptPartitions::Key;
  struct Task {
    int64_t id = -1;
    int32_t partition = 0;
    StagePlan plan;
  };
  /// A task goes on where it was when what it waits for has come: false, not yet.
  using Waiting = std::pair<int64_t, std::function<bool()>>;  // by task
  struct Fetching;
  struct KeptFetch;

  process::executor::ShufflePusher::Hooks PushHooks();
  void PrepareMerges();
  void Register(int tries);
  void AskWhetherItMerges();
  void Connect();
  void Send(wire::engine::Message message);
  void OnMessage(wire::engine::Message message);
  void Hear(const wire::engine::Message& message);
  void RunNext();
  void WaitFor(int64_t task, std::function<bool()> go_on);
  void Work(const Task& task);
  // The input of a task without a shuffle: a cached partition, from here or another executor, or made.
  void FindInput(const Task& task, size_t level);
  void FetchKept(const Task& task, size_t level, const wire::engine::KeptPlace& at);
  void HaveInput(const Task& task, size_t level, Counts counts);
  void Keep(const Key& key, const Counts& counts);
  void Publish(const Key& key);
  // The input of a task that reads a shuffle.
  void FetchInput(const Task& task);
  void FetchMerged(const Task& task, std::vector<tasks::MapOutputTable::Block> blocks);
  void FetchChunk(const std::shared_ptr<Fetching>& fetching, const env::Endpoint& service,
                  process::executor::MergedInput::Chunk chunk, int tries);
  void FetchBlocks(const std::shared_ptr<Fetching>& fetching, const std::vector<tasks::MapOutputTable::Block>& blocks);
  void FetchFrom(const std::shared_ptr<Fetching>& fetching, uint32_t place,
                 std::vector<tasks::MapOutputTable::Block> blocks, int tries);
  void Done(const Task& task, const Counts& input);
  void Commit(const Task& task, const wire::engine::TaskDone& done);
  void Broke(const Task& task, model::tasks::FailureKind kind, const std::string& message, int32_t map = -1,
             uint32_t source = UINT32_MAX);
  base::Status WriteFile(const std::string& name, const std::string& bytes, std::string& path);
  base::Status WriteOutput(const Task& task, const Counts& counts, std::string& sizes);
  void Remove(const std::vector<std::string>& files);
  void EndTask(int64_t task);
  bool Runs(int64_t task) const { return core_.Runs(task); }
  void Exit(int code);

  env_sim::World& world_;
  env_sim::Machine& machine_;
  env::Disk& disk_;
  const Settings settings_;
  Ledger& ledger_;
  std::function<void(int)> exit_;
  process::executor::ShuffleClient shuffle_;
  process::executor::ShuffleClient push_client_;
  process::executor::ShufflePusher pusher_;
  bool service_merges_ = false;
  std::unique_ptr<process::executor::DriverConnection> driver_;
  Core core_;
  std::map<int64_t, Task> running_;
  std::vector<Waiting> waiting_;
  std::map<uint64_t, std::unique_ptr<process::executor::ShuffleClient::Stream>> streams_;
  uint64_t next_stream_ = 1;
  // What was heard and told, whatever the core makes of it.
  std::set<Key> told_kept_;
  std::set<int64_t> told_to_kill_;
  int64_t newest_epoch_ = 0;
  bool exited_ = false;
  env::Alive alive_;
};

}  // namespace fairlead::sim
