#include "sim/standalone/standalone_faults.h"

#include "base/hash.h"
#include "sim/standalone/standalone_cluster.h"

namespace fairlead::sim {

namespace {

using base::Duration;

constexpr Duration kFaultTime = Duration::Seconds(60);
constexpr Duration kHealTime = Duration::Seconds(120);
constexpr Duration kSession = Duration::Seconds(2);

/// What may befall the cluster, one at a time.
class Misfortune {
 public:
  Misfortune(env_sim::World& world, StandaloneSimulation& cluster) : world_(world), cluster_(cluster) {}

  void Strike() {
    const std::string host = world_.rng().Chance(0.6) ? Any("master", StandaloneSimulation::kMasters)
                                                      : Any("worker", StandaloneSimulation::kWorkers);
    switch (world_.rng().Below(8)) {
      case 0:
        return EndOrRestart(host);
      case 1:
        Count(host, "stands still");
        return cluster_.Stall(host, true);
      case 2:
        return cluster_.Stall(host, false);
      case 3:
        return CutOff(host);
      case 4:
        return LateOrNot(host);
      case 5:
        if (cluster_.KillRun()) ++world_.counts()["executor or driver killed"];
        return;
      default:
        return;  // nothing, for once
    }
  }

 private:
  std::string Any(const std::string& kind, int count) {
    return kind + std::to_string(world_.rng().Below(static_cast<uint64_t>(count)));
  }
  void Count(const std::string& host, const char* what) {
    ++world_.counts()[(StandaloneSimulation::IsMaster(host) ? "master " : "worker ") + std::string(what)];
  }

  /// A process that is there ends; at once or with the next turn of this kind comes a new one.
  void EndOrRestart(const std::string& host) {
    if (cluster_.IsUp(host)) {
      const bool of_worker = !StandaloneSimulation::IsMaster(host);
      if (of_worker && world_.rng().Chance(0.5)) {
        Count(host, "lost with its host");
        cluster_.LoseHost(host, world_.rng().Chance(0.3));
      } else {
        Count(host, "killed");
        cluster_.Kill(host);
      }
      if (world_.rng().Chance(0.5)) return;
    }
    cluster_.Restart(host);
  }
  void CutOff(const std::string& host) {
    if (!StandaloneSimulation::IsMaster(host)) return;
    const bool cut = world_.rng().Chance(0.5);
    if (cut) Count(host, "cut off from the quorum");
    cluster_.Cut(host, cut);
  }
  void LateOrNot(const std::string& host) {
    if (!StandaloneSimulation::IsMaster(host)) return;
    const bool late = world_.rng().Chance(0.5);
    if (late) Count(host, "hears the quorum late");
    // As long as a session, so that what was sent arrives when another leads.
    cluster_.Delay(host, late ? kSession : Duration{});
  }

  env_sim::World& world_;
  StandaloneSimulation& cluster_;
};

env_sim::FaultRates MakeRates(base::Rng& rng) {
  env_sim::FaultRates rates;
  const auto maybe = [&](double rate) { return rng.Chance(0.3) ? rate : 0; };
  rates.store_failure = 0.01;
  rates.cut_before_delivery = maybe(0.01);
  rates.cut_after_delivery = maybe(0.01);
  rates.slow_write = maybe(0.02);
  rates.connect_refused = maybe(0.05);
  return rates;
}

}  // namespace

std::vector<std::string> ExpectedStandaloneFaults() {
  return {"connection cut before delivery",
          "connection cut after delivery",
          "slow delivery",
          "connect refused",
          "store failure",
          "leader elected",
          "master killed",
          "master stands still",
          "master cut off from the quorum",
          "master hears the quorum late",
          "worker killed",
          "worker lost with its host",
          "worker stands still",
          "worker refused, host back too early",
          "executor or driver killed",
          "driver acknowledged",
          "application begins anew",
          "surplus executors given back"};
}

FaultRunResult RunStandaloneFaults(uint64_t seed, PlantedBug bug) {
  FaultRunResult result;
  result.seed = seed;
  env_sim::World world(seed);
  const base::Instant began = world.now();
  {
    StandaloneSimulation cluster(
        world, {.no_fence = bug == PlantedBug::kNoFence, .late_step_down = bug == PlantedBug::kLateStepDown});
    world.faults() = MakeRates(world.rng());
    Misfortune misfortune(world, cluster);
    while (world.now() < began + kFaultTime && cluster.wrong().empty()) {
      misfortune.Strike();
      if (world.rng().Chance(0.5)) cluster.Submit();
      if (world.rng().Chance(0.2)) cluster.ChangeWish();
      cluster.Pass(Duration{world.rng().Between(Duration::Millis(20).ns, Duration::Seconds(2).ns)});
      ++result.steps;
    }
    cluster.Heal();
    cluster.Pass(kHealTime);
    if (cluster.wrong().empty()) cluster.CheckWhole();
    world.counts()["leader elected"] += cluster.leaders();
    if (!cluster.wrong().empty()) result.violations.push_back(cluster.wrong());
  }
  result.counts = world.counts();
  result.virtual_seconds = (world.now() - began).seconds();
  base::StateHasher hasher;
  hasher.Mix(static_cast<uint64_t>(world.now().ns));
  hasher.Mix(world.rng().Below(UINT64_MAX));
  for (const auto& [name, count] : result.counts) {
    hasher.Mix(name);
    hasher.Mix(static_cast<uint64_t>(count));
  }
  result.hash = hasher.value();
  return result;
}

}  // namespace fairlead::sim
