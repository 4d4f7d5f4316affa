#pragma once

#include <memory>

#include "env/confined_files.h"
#include "env/log.h"
#include "env_sim/world.h"
#include "process/shuffle/service.h"
#include "sim/cluster/ledger.h"

namespace fairlead::sim {

inline constexpr uint16_t kShufflePort = 7337;

/// The production shuffle service of one node, with a life of its own: executors' files are on the node's disk, its
/// registrations in its store.
class ShuffleNode {
 public:
  /// `files`: how it writes what it merges on `disk`.
  ShuffleNode(env_sim::World& world, env_sim::Machine& machine, env::Disk& disk, env::ConfinedFiles& files,
              Ledger& ledger);

  void Start();
  void Crash(bool silently);
  void Restart();
  bool up() const { return service_ != nullptr; }
  env::Endpoint endpoint() const { return config_.listen; }
  void CheckInvariants();
  uint64_t StateHash() const { return service_ ? service_->core().StateHash() : 0; }

 private:
  env_sim::World& world_;
  env_sim::Machine& machine_;
  env::Disk& disk_;
  env::ConfinedFiles& files_;
  Ledger& ledger_;
  env::NullLog log_;
  process::shuffle::Config config_;
  std::unique_ptr<process::shuffle::Service> service_;
  std::unique_ptr<process::shuffle::IoWorker> worker_;
};

}  // namespace fairlead::sim
