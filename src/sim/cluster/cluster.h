#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/log.h"
#include "env_sim/sim_quorum.h"
#include "env_sim/world.h"
#include "process/nm/node_manager.h"
#include "process/rm/leadership.h"
#include "process/rm/resource_manager.h"
#include "sim/cluster/client.h"
#include "sim/cluster/containers.h"
#include "sim/cluster/ledger.h"
#include "sim/cluster/planted_bug.h"
#include "sim/cluster/shuffle_node.h"

namespace fairlead::sim {

struct ClusterSpec {
  int nodes = 4;
  int managers = 1;  // resource managers; several elect a leader and share a store
  model::Resources node_capacity = model::Resources::Of(2048, 8);
  PlantedBug bug = PlantedBug::kNone;
};

/// The production resource manager and node agents on simulated machines, each with its own life.
class Cluster {
 public:
  Cluster(env_sim::World& world, ClusterSpec spec, std::map<int, JobSpec> jobs, Ledger& ledger);
  ~Cluster();

  /// Starts a client for the job; the job's master and tasks are simulated processes of the nodes' hosts.
  void Submit(int job);

  void CrashRm(int manager, bool silently);
  void RestartRm(int manager);
  /// Of one of several: its process stands still, or it and the quorum do not hear each other, or late.
  void StallRm(int manager, bool stalled) { rms_[static_cast<size_t>(manager)].machine->Stall(stalled); }
  void CutRm(int manager, bool cut) { quorum_->Cut(rms_[static_cast<size_t>(manager)].name, cut); }
  void DelayRm(int manager, base::Duration delay) { quorum_->Delay(rms_[static_cast<size_t>(manager)].name, delay); }
  void CrashAgent(int node, bool silently);
  void RestartAgent(int node);
  /// The host with agent and containers is gone; RestartAgent brings an empty one back.
  void KillHost(int node);
  void CrashShuffle(int node, bool silently) { nodes_[static_cast<size_t>(node)]->shuffle->Crash(silently); }
  void RestartShuffle(int node);
  /// The files of all applications on the node's disk are gone, map outputs among them.
  void LoseFiles(int node);
  /// The node has no room on its disk for blocks that its shuffle service merges, or has it again.
  void FillMerges(int node, bool full);
  bool shuffle_up(int node) const { return nodes_[static_cast<size_t>(node)]->shuffle->up(); }
  bool KillTask(int node) { return nodes_[static_cast<size_t>(node)]->host->KillOne(false); }
  bool KillDriver(int node) { return nodes_[static_cast<size_t>(node)]->host->KillOne(true); }
  bool rm_up(int manager) const {
    const Manager& place = rms_[static_cast<size_t>(manager)];
    return place.alone || place.member;
  }
  int managers() const { return spec_.managers; }
  bool agent_up(int node) const { return nodes_[static_cast<size_t>(node)]->agent != nullptr; }
  int nodes() const { return spec_.nodes; }

  bool AllJobsEnded() const;
  /// Checks every machine that is up; violations go to the ledger.
  void CheckInvariants();
  /// After the last job: nothing may be in use any more.
  void CheckQuiet();
  /// Nothing runs and nothing is booked any more.
  bool Quiet() const;
  uint64_t StateHash() const;
  /// Applications that have not ended, with what their asks wait for, and nodes that do not run: for a failure's
  /// report.
  std::string Describe() const;
  /// Containers that the resource manager still has.
  std::string DescribeBooked() const;

 private:
  struct Node {
    std::string name;
    env_sim::Machine* machine = nullptr;  // of the agent
    env_sim::Machine* apps = nullptr;     // of its containers
    std::unique_ptr<env::ConfinedFiles> lying_files;
    std::unique_ptr<ShuffleNode> shuffle;
    std::unique_ptr<ContainerHost> host;
    bool host_up = true;
    std::unique_ptr<SimDirs> dirs;
    std::unique_ptr<SimLocalizer> localizer;
    std::unique_ptr<process::nm::Containers> containers;
    std::unique_ptr<process::nm::NodeManager> agent;
  };
  struct Manager {
    std::string name;
    env_sim::Machine* machine = nullptr;
    std::unique_ptr<env::Net> net;  // the machine's, audited
    std::unique_ptr<process::rm::ResourceManager> alone;
    std::unique_ptr<process::rm::Leadership> member;  // of several
  };
  process::rm::ResourceManagerOptions RmOptions(const std::string& name) const;
  void AddRm(const std::string& name);
  void StartRm(Manager& manager);
  void StartMember(Manager& manager);
  /// The one that acts, or null.
  process::rm::ResourceManager* Rm() const;
  std::vector<env::Endpoint> RmEndpoints(uint16_t port) const;
  void CheckLeaders();
  void StartAgent(Node& node);

  env_sim::World& world_;
  ClusterSpec spec_;
  std::map<int, JobSpec> jobs_;
  Ledger& ledger_;
  env::NullLog log_;
  std::unique_ptr<env_sim::SimQuorum> quorum_;  // of several managers
  std::vector<Manager> rms_;
  env_sim::Machine* client_machine_ = nullptr;
  std::unique_ptr<env::Store> lying_store_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<JobClient>> clients_;
};

}  // namespace fairlead::sim
