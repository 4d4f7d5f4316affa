#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env_sim/world.h"
#include "model/tasks.h"
#include "process/executor/driver_connection.h"
#include "process/executor/shuffle_client.h"
#include "sim/cluster/count_job.h"
#include "tasks/map_outputs.h"

namespace fairlead::sim {

/// An executor of a count job: registers its files at the node's shuffle service, connects to its driver, runs tasks.
/// Connections and messages are the engine's; instead of the engine's threads, tasks take virtual time.
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
  };
  CountExecutor(env_sim::World& world, env_sim::Machine& machine, env::Disk& disk, Settings settings,
                std::function<void(int exit_code)> exit);
  ~CountExecutor() override;

 private:
  struct Task {
    int64_t id = -1;
    int32_t partition = 0;
    StagePlan plan;
  };
  struct Outputs {
    int64_t epoch = 0;
    tasks::MapOutputTable table;
    std::map<uint32_t, wire::engine::Place> places;
  };
  struct Fetching;

  void Register(int tries);
  void Connect();
  void OnMessage(wire::engine::Message message);
  void OnLaunch(const wire::engine::Launch& launch);
  void OnMapOutputs(wire::engine::MapOutputs& message);
  void OnKill(int64_t task);
  void RunNext();
  void Work(const Task& task);
  void FetchInput(const Task& task);
  void FetchFrom(const std::shared_ptr<Fetching>& fetching, uint32_t place,
                 std::vector<tasks::MapOutputTable::Block> blocks, int tries);
  void Done(const Task& task, const Counts& input);
  void Broke(const Task& task, model::tasks::FailureKind kind, const std::string& message, int32_t map = -1,
             uint32_t source = UINT32_MAX);
  base::Status WriteOutput(const Task& task, const Counts& counts, std::string& sizes);
  void EndTask(int64_t task);
  bool Runs(int64_t task) const { return running_.contains(task); }
  void Exit(int code);

  env_sim::World& world_;
  env_sim::Machine& machine_;
  env::Disk& disk_;
  const Settings settings_;
  std::function<void(int)> exit_;
  process::executor::ShuffleClient shuffle_;
  std::unique_ptr<process::executor::DriverConnection> driver_;
  std::map<std::pair<int32_t, int32_t>, StagePlan> plans_;  // by stage, attempt
  std::map<int32_t, Outputs> outputs_;                      // by shuffle
  std::map<int32_t, std::vector<Task>> waiting_;            // for a shuffle's outputs
  std::deque<Task> queue_;
  std::map<int64_t, Task> running_;
  bool exited_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::sim
