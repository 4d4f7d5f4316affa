#include "sim/cluster/shuffle_node.h"

namespace fairlead::sim {

ShuffleNode::ShuffleNode(env_sim::World& world, env_sim::Machine& machine, env::Disk& disk, env::ConfinedFiles& files,
                         Ledger& ledger)
    : world_(world), machine_(machine), disk_(disk), files_(files), ledger_(ledger) {
  config_.listen = {machine.host(), kShufflePort};
  config_.core.local_roots = {"/local"};
  config_.merges = true;
  // Blocks have some hundred bytes here: chunks of a few, and writes before the end.
  config_.merge_limits.chunk_bytes_min = 512;
  config_.merge_limits.memory_bytes = size_t{16} << 10;
  ledger_.merges().AddService(machine.host(), disk_);
}

void ShuffleNode::Start() {
  service_ =
      std::make_unique<process::shuffle::Service>(machine_.loop(), disk_, &machine_.store(), log_, config_, &files_);
  ledger_.merges().ServiceStarted(machine_.host(), world_.now());
  const base::Result<size_t> known = service_->Recover();
  if (ledger_.RefusedDamage(machine_, known.ok())) {
    service_.reset();
    return Start();
  }
  if (!known.ok()) ledger_.Violation(machine_.host() + " cannot read its store: " + known.error().message);
  if (known.ok() && *known > 0) ++world_.counts()["shuffle registrations recovered"];
  worker_ = std::make_unique<process::shuffle::IoWorker>(machine_.loop(), machine_.net(), disk_, nullptr, log_, config_,
                                                         *service_);
  service_->AddWorker(*worker_);
  if (const base::Status listening = worker_->Listen(config_.listen); !listening.ok()) {
    ledger_.Violation(machine_.host() + " cannot listen: " + listening.error().message);
  }
}

void ShuffleNode::Crash(bool silently) {
  if (!up()) return;
  machine_.Crash(silently);
  worker_.reset();
  service_.reset();
}

void ShuffleNode::Restart() {
  if (up()) return;
  machine_.Restart();
  Start();
}

void ShuffleNode::CheckInvariants() {
  if (!up()) return;
  const std::string wrong = service_->core().CheckInvariants();
  if (!wrong.empty()) ledger_.Violation(machine_.host() + ": " + wrong);
}

}  // namespace fairlead::sim
