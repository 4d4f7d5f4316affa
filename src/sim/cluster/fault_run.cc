#include "sim/cluster/fault_run.h"

#include <algorithm>

namespace fairlead::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr Duration kFaultTime = Duration::Seconds(60);
constexpr Duration kTimeLimit = Duration::Seconds(1800);
constexpr Duration kSettleTime = Duration::Seconds(120);

std::map<int, JobSpec> MakeJobs(base::Rng& rng) {
  std::map<int, JobSpec> jobs;
  const int count = static_cast<int>(rng.Between(2, 4));
  for (int i = 0; i < count; ++i) {
    JobSpec job;
    job.number = i;
    job.queue = "root.q" + std::to_string(i % 2);
    job.kind = rng.Chance(0.4) ? JobSpec::Kind::kCount : JobSpec::Kind::kTasks;
    job.tasks = static_cast<int>(rng.Between(1, 12));
    job.task_time = Duration::Millis(rng.Between(200, 8000));
    job.task_size = model::Resources::Of(128 * rng.Between(1, 6), rng.Between(1, 2));
    job.reduces = static_cast<int>(rng.Between(1, 5));
    job.executors = static_cast<int>(rng.Between(1, 3));
    job.input_seed = rng.Below(1000);
    job.merges = rng.Chance(0.8);
    if (rng.Chance(0.4)) job.preferred_host = "node" + std::to_string(rng.Below(4));
    if (rng.Chance(0.3)) job.task_failure = 0.2;
    if (rng.Chance(0.2)) job.master_failure = 0.5;
    jobs[i] = job;
  }
  return jobs;
}

/// Each kind of fault is on in about half of the runs, so that some runs see few and some see many.
env_sim::FaultRates MakeRates(base::Rng& rng) {
  env_sim::FaultRates rates;
  const auto maybe = [&](double rate) { return rng.Chance(0.5) ? rate : 0; };
  rates.cut_before_delivery = maybe(0.01);
  rates.cut_after_delivery = maybe(0.01);
  rates.half_open = maybe(0.003);
  rates.slow_write = maybe(0.02);
  rates.connect_refused = maybe(0.05);
  rates.store_failure = maybe(0.05);
  rates.store_damage = 0.15;
  return rates;
}

/// Puts crashes and returns of machines on the world's agenda.
class FaultScript {
 public:
  FaultScript(env_sim::World& world, Cluster& cluster) : world_(world), cluster_(cluster) {}

  void Write() {
    const Instant end = world_.now() + kFaultTime;
    for (int i = static_cast<int>(world_.rng().Below(3)); i > 0; --i) At(end, &FaultScript::CrashRm);
    WriteRest(end);
  }
  /// Of several managers; `else_too`: everything else befalls the cluster, too.
  void WriteTakeovers(bool else_too) {
    const Instant end = world_.now() + kFaultTime;
    for (int64_t i = world_.rng().Between(1, 4); i > 0; --i) At(end, &FaultScript::CrashRm);
    for (int64_t i = world_.rng().Between(0, 3); i > 0; --i) At(end, &FaultScript::StallRm);
    for (int64_t i = world_.rng().Between(0, 3); i > 0; --i) At(end, &FaultScript::CutRm);
    for (int64_t i = world_.rng().Between(0, 2); i > 0; --i) At(end, &FaultScript::DelayRm);
    if (else_too) WriteRest(end);
  }

 private:
  void WriteRest(Instant end) {
    for (int i = static_cast<int>(world_.rng().Below(4)); i > 0; --i) At(end, &FaultScript::CrashAgent);
    for (int i = static_cast<int>(world_.rng().Below(2)); i > 0; --i) At(end, &FaultScript::KillHost);
    for (int i = static_cast<int>(world_.rng().Below(4)); i > 0; --i) At(end, &FaultScript::KillTask);
    for (int i = static_cast<int>(world_.rng().Below(2)); i > 0; --i) At(end, &FaultScript::KillDriver);
    for (int i = static_cast<int>(world_.rng().Below(3)); i > 0; --i) At(end, &FaultScript::CrashShuffle);
    for (int i = static_cast<int>(world_.rng().Below(3)); i > 0; --i) At(end, &FaultScript::LoseFiles);
    for (int i = static_cast<int>(world_.rng().Below(3)); i > 0; --i) At(end, &FaultScript::FillMerges);
  }
  void At(Instant end, void (FaultScript::*fault)()) {
    const Instant when{world_.rng().Between(world_.now().ns, end.ns)};
    world_.Script(when, [this, fault] { (this->*fault)(); });
  }
  void Count(const char* what) { ++world_.counts()[what]; }
  int AnyNode() { return static_cast<int>(world_.rng().Below(static_cast<uint64_t>(cluster_.nodes()))); }
  Instant Soon(int64_t ms_min, int64_t ms_max) {
    return world_.now() + Duration::Millis(world_.rng().Between(ms_min, ms_max));
  }

  int AnyRm() {
    return cluster_.managers() == 1 ? 0
                                    : static_cast<int>(world_.rng().Below(static_cast<uint64_t>(cluster_.managers())));
  }
  void CrashRm() {
    const int manager = AnyRm();
    if (!cluster_.rm_up(manager)) return;
    Count("rm crash");
    cluster_.CrashRm(manager, world_.rng().Chance(0.3));
    world_.Script(Soon(100, 8000), [this, manager] { cluster_.RestartRm(manager); });
  }
  void StallRm() {
    const int manager = AnyRm();
    Count("rm stands still");
    cluster_.StallRm(manager, true);
    world_.Script(Soon(100, 8000), [this, manager] { cluster_.StallRm(manager, false); });
  }
  void CutRm() {
    const int manager = AnyRm();
    Count("rm cut off from the quorum");
    cluster_.CutRm(manager, true);
    world_.Script(Soon(100, 8000), [this, manager] { cluster_.CutRm(manager, false); });
  }
  /// As long as a session and longer, so that what was sent arrives when another leads.
  void DelayRm() {
    const int manager = AnyRm();
    Count("rm hears the quorum late");
    cluster_.DelayRm(manager, Duration::Millis(world_.rng().Between(500, 4000)));
    world_.Script(Soon(1000, 8000), [this, manager] { cluster_.DelayRm(manager, {}); });
  }
  void CrashAgent() {
    const int node = AnyNode();
    if (!cluster_.agent_up(node)) return;
    Count("nm crash");
    cluster_.CrashAgent(node, world_.rng().Chance(0.3));
    // Sometimes longer than the resource manager waits for a node.
    world_.Script(Soon(100, 20000), [this, node] { cluster_.RestartAgent(node); });
  }
  void KillHost() {
    const int node = AnyNode();
    if (!cluster_.agent_up(node)) return;
    Count("host lost");
    cluster_.KillHost(node);
    world_.Script(Soon(1000, 30000), [this, node] { cluster_.RestartAgent(node); });
  }
  void KillTask() {
    if (cluster_.KillTask(AnyNode())) Count("executor killed");
  }
  void KillDriver() {
    for (int node = 0; node < cluster_.nodes(); ++node) {
      if (cluster_.KillDriver(node)) return Count("driver killed");
    }
  }
  void CrashShuffle() {
    const int node = AnyNode();
    if (!cluster_.shuffle_up(node)) return;
    Count("shuffle service crash");
    cluster_.CrashShuffle(node, world_.rng().Chance(0.3));
    world_.Script(Soon(100, 10000), [this, node] { cluster_.RestartShuffle(node); });
  }
  void FillMerges() {
    const int node = AnyNode();
    Count("disk full for merges");
    cluster_.FillMerges(node, true);
    world_.Script(Soon(500, 10000), [this, node] { cluster_.FillMerges(node, false); });
  }
  void LoseFiles() {
    Count("files lost");
    cluster_.LoseFiles(AnyNode());
  }

  env_sim::World& world_;
  Cluster& cluster_;
};

void Summarize(const env_sim::World& world, Instant began, const Ledger& ledger, FaultRunResult& result) {
  result.violations = ledger.violations();
  result.virtual_seconds = (world.now() - began).seconds();
}

}  // namespace

std::vector<std::string> ExpectedFaults(int managers) {
  if (managers > 1) {
    return {"rm crash",       "rm stands still",        "rm cut off from the quorum", "rm hears the quorum late",
            "leader elected", "master registers again", "call tried again",           "store failure"};
  }
  return {
      // faults
      "connection cut before delivery", "connection cut after delivery", "half-open peer", "slow delivery",
      "connect refused", "store failure", "store damaged", "rm crash", "nm crash", "host lost", "shuffle service crash",
      "files lost", "disk full for merges", "executor killed", "driver killed", "master dies", "task fails",
      // rare branches
      "cached partition fetched", "cached partition makes room", "cached partition read", "commit denied",
      "task killed", "call tried again", "container ended while its agent was away",
      "container not yet launched when its agent died", "container outlived its agent", "executor lost its driver",
      "block pushed", "push refused", "shuffle merged", "merge ended without its service", "merged chunk read",
      "merged partition cannot be found", "fetch tried again", "job fails with a reason",
      "map output cannot be fetched", "master is disowned", "master registers again", "registration had taken effect",
      "shuffle registration tried again", "shuffle registrations recovered", "stage runs again",
      "start of a container failed", "task lost with its executor", "task runs again"};
}

FaultRunResult RunFaults(uint64_t seed, PlantedBug bug, int managers) {
  FaultRunResult result;
  result.seed = seed;
  env_sim::World world(seed);
  const Instant began = world.now();
  Ledger ledger;
  ClusterSpec spec;
  spec.bug = bug;
  spec.managers = managers;
  std::map<int, JobSpec> jobs = MakeJobs(world.rng());
  const bool only_takeovers = managers > 1 && world.rng().Chance(0.4);
  if (only_takeovers) {
    for (auto& [number, job] : jobs) job.task_failure = job.master_failure = 0;
    ledger.OnlyTakeovers();
  }
  Cluster cluster(world, spec, jobs, ledger);
  if (!only_takeovers) world.faults() = MakeRates(world.rng());
  for (const auto& [number, job] : jobs) {
    world.Script(began + Duration::Millis(world.rng().Between(0, 10000)),
                 [&cluster, n = number] { cluster.Submit(n); });
  }
  FaultScript script(world, cluster);
  managers > 1 ? script.WriteTakeovers(!only_takeovers) : script.Write();
  world.Script(began + kFaultTime, [&world] { world.faults() = env_sim::FaultRates{}; });

  const auto after_step = [&] {
    ++result.steps;
    cluster.CheckInvariants();
  };
  const auto failed = [&] { return !ledger.violations().empty(); };
  world.RunUntil(began + kFaultTime, failed, after_step);
  const auto done = [&] { return failed() || cluster.AllJobsEnded(); };
  if (!world.RunUntil(began + kTimeLimit, done, after_step)) {
    ledger.Violation("not every job has ended " + std::to_string(static_cast<int>(kTimeLimit.seconds())) +
                     " s after the start" + cluster.Describe());
  }
  const auto quiet = [&] { return failed() || cluster.Quiet(); };
  if (!world.RunUntil(world.now() + kSettleTime, quiet, after_step)) cluster.CheckQuiet();
  result.counts = world.counts();
  base::StateHasher hasher;
  hasher.Mix(cluster.StateHash());
  for (const auto& [name, count] : result.counts) {
    hasher.Mix(name);
    hasher.Mix(static_cast<uint64_t>(count));
  }
  result.hash = hasher.value();
  Summarize(world, began, ledger, result);
  return result;
}

}  // namespace fairlead::sim
