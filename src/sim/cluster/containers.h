#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env_sim/world.h"
#include "process/nm/ports.h"
#include "sim/cluster/ledger.h"
#include "sim/cluster/master.h"
#include "sim/cluster/planted_bug.h"

namespace fairlead::sim {

/// The processes of one simulated host. They belong to the host, not to its node agent: they live on while the agent is
/// down, and their exit codes wait for it, as the supervisors of the real machine have it.
class ContainerHost {
 public:
  struct Place {
    std::string name;        // of the host
    env_sim::Machine& apps;  // whose ports the containers' processes use; not the agent's, which may crash alone
    env::Disk& disk;         // of the host
    std::vector<env::Endpoint> schedulers;  // of each resource manager
    env::Endpoint shuffle_service;          // of the host
    PlantedBug bug = PlantedBug::kNone;     // of its executors
  };
  /// `jobs` outlives this.
  ContainerHost(env_sim::World& world, Place place, const std::map<int, JobSpec>& jobs, Ledger& ledger);
  ~ContainerHost();

  /// The port for one life of the agent.
  std::unique_ptr<process::nm::Containers> NewPort(env::Loop& agent_loop);

  /// The whole host is gone, with everything on it.
  void Die();
  /// Ends one running task or executor (`driver`: the driver of a count job) with SIGKILL, as an operator might; false
  /// when none runs.
  bool KillOne(bool driver);
  void CheckInvariants();

 private:
  friend class SimContainers;
  struct Process {
    process::nm::LaunchPlan plan;
    bool running = false;
    bool is_master = false;
    int exit_code = 0;
    model::nm::EndCause cause = model::nm::EndCause::kExit;
    bool is_driver = false;
    std::unique_ptr<Program> program;
    env::Loop::TimerId end_timer = 0;
  };
  void Launch(process::nm::LaunchPlan plan);
  void StartMaster(Process& process, const JobSpec& job);
  void StartExecutor(Process& process, const JobSpec& job, const std::string& driver, const std::string& executor);
  void StartTask(Process& process, int job, int task);
  void End(const model::ContainerId& id, int exit_code, model::nm::EndCause cause);
  void CheckOrderedEnd(const model::ContainerId& id);
  void Tell(model::nm::Event event);

  env_sim::World& world_;
  const Place place_;
  const std::map<int, JobSpec>& jobs_;
  Ledger& ledger_;
  std::map<model::ContainerId, Process> processes_;
  process::nm::ContainerEvents* events_ = nullptr;  // of the agent's current life
  env::Loop* agent_loop_ = nullptr;
};

/// Everything is there after a while.
class SimLocalizer final : public process::nm::Localizer {
 public:
  SimLocalizer(env_sim::World& world, env::Loop& loop) : world_(world), loop_(loop) {}
  void Fetch(process::nm::FetchPlan plan, std::function<void(process::nm::Fetched)> done) override;
  void GiveUp(model::nm::ResourceNumber) override {}

 private:
  env_sim::World& world_;
  env::Loop& loop_;
};

class SimDirs final : public process::nm::NodeDirs {
 public:
  SimDirs(env::Loop& loop, env::Disk& disk) : loop_(loop), disk_(disk) {}
  std::vector<std::string> all_local() const override { return {"/local"}; }
  std::vector<std::string> good_local() const override { return {"/local"}; }
  std::vector<std::string> all_logs() const override { return {"/logs"}; }
  std::vector<std::string> good_logs() const override { return {"/logs"}; }
  std::string PickLocal() override { return "/local"; }
  void Remove(std::vector<std::string> paths, std::function<void(std::vector<std::string>)> done) override;

 private:
  env::Loop& loop_;
  env::Disk& disk_;
};

}  // namespace fairlead::sim
