#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/numbered.h"
#include "base/rng.h"
#include "base/time.h"
#include "model/standalone.h"

// The decisions of Spark's Standalone master (org.apache.spark.deploy.master.Master): which worker runs which driver
// and which executors, equal to 3.5 and to 4.x event by event.

namespace fairlead::scheduler::standalone {

namespace sa = model::standalone;

/// spark.deploy.workerSelectionPolicy (4.x); kCoresFreeDescUntied is what 3.x does: stable by free cores in the order
/// of a hash set, then reversed.
enum class WorkerPolicy : uint8_t {
  kCoresFreeDescUntied,
  kCoresFreeAsc,
  kCoresFreeDesc,
  kMemoryFreeAsc,
  kMemoryFreeDesc,
  kWorkerId,
};
std::optional<WorkerPolicy> WorkerPolicyByName(std::string_view name);

struct MasterConfig {
  bool places_executors = true;       // false: ExecutorPlaced says where they go
  bool spread_out_apps = true;        // spark.deploy.spreadOut(Apps)
  int32_t default_cores = INT32_MAX;  // spark.deploy.defaultCores
  int32_t max_executor_retries = 10;  // spark.deploy.maxExecutorRetries; below 0: never give an application up
  bool spread_out_drivers = true;     // spark.deploy.spreadOutDrivers (4.x)
  int32_t max_drivers = INT32_MAX;    // spark.deploy.maxDrivers (4.x)
  WorkerPolicy worker_policy = WorkerPolicy::kCoresFreeDesc;
  uint64_t seed = 1;  // of the permutations for drivers
};

struct Executor {
  int32_t id = 0;
  uint32_t worker = 0;
  int32_t cores = 0;
  int32_t memory = 0;
  int32_t profile = 0;
  std::vector<sa::Resource> resources;
  sa::ExecutorState state = sa::ExecutorState::kLaunching;
};

struct Worker {
  std::string id;
  std::string host;
  int32_t port = 0;
  int32_t cores = 0;
  int32_t memory = 0;
  int32_t cores_used = 0;
  int32_t memory_used = 0;
  std::vector<sa::Resource> resources_free;  // by name; addresses in text order
  sa::WorkerState state = sa::WorkerState::kAlive;
  bool away = false;                                           // it may come back with all that it runs
  std::map<std::pair<uint32_t, int32_t>, Executor> executors;  // (application, executor)
  std::map<uint32_t, sa::DriverIndex> drivers;
  int32_t cores_free() const { return cores - cores_used; }
  int32_t memory_free() const { return memory - memory_used; }
  bool usable() const { return state == sa::WorkerState::kAlive && !away; }
};

/// What a profile's executors need, with what it inherits filled in.
struct ExecutorNeeds {
  std::optional<int32_t> cores;  // absent: one executor a worker, as many cores as it can get
  int32_t memory = 0;
  std::vector<sa::ResourceAmount> resources;
};

struct App {
  bool known = false;
  int32_t requested_cores = 0;
  int32_t cores_granted = 0;
  int32_t next_executor = 0;
  int32_t retries = 0;
  sa::AppState state = sa::AppState::kWaiting;
  std::map<int32_t, ExecutorNeeds> profiles;
  std::map<int32_t, int32_t> targets;     // executors wanted, by profile
  std::map<int32_t, Executor> executors;  // those that count
  int32_t cores_left() const { return requested_cores - cores_granted; }
};

struct Driver {
  sa::DriverSubmitted description;
  sa::DriverState state = sa::DriverState::kSubmitted;
  uint32_t worker = UINT32_MAX;
  std::vector<sa::Resource> resources;
  bool known = true;
};

/// What has ended, by number, and nobody asks for any more. A driver that is kept keeps its worker.
struct Gone {
  std::set<uint32_t> workers;
  std::set<uint32_t> apps;
  std::set<uint32_t> drivers;
};

/// Gives addresses back to a worker, which keeps them in text order.
void ReturnResource(std::vector<sa::Resource>& free, const sa::Resource& taken);

/// The master's state. Single-threaded, deterministic; `Step` applies events in order and appends effects.
/// Unknown indices of applications, executors and drivers are ignored, as Spark ignores them; a scheduling pass costs
/// nothing where no application wants more, else O(those that do + workers), and O(workers log workers) for each that
/// may get more.
// Large on purpose: a rule for each event of Spark's Master, and what they share, on the same tables.
class Master {
 public:
  explicit Master(const MasterConfig& config) : config_(config), rng_(config.seed) {}

  void Step(std::span<const sa::Event> events, std::vector<sa::Effect>& out);

  const base::Numbered<Worker>& workers() const { return workers_; }
  const base::Numbered<App>& apps() const { return apps_; }
  const base::Numbered<Driver>& drivers() const { return drivers_; }
  /// Applications that have not ended, in order of registration.
  const std::vector<uint32_t>& waiting_apps() const { return waiting_apps_; }
  const std::vector<uint32_t>& waiting_drivers() const { return waiting_drivers_; }
  /// Until all that was stored has answered, or is given up: nothing is scheduled.
  bool recovering() const { return recovering_; }
  /// Events that name it are ignored from then on.
  void Forget(const Gone& gone);
  uint64_t StateHash() const;
  /// Recomputes what workers and applications use; empty when all agree.
  std::string CheckInvariants() const;

 private:
  void On(const sa::WorkerRegistered& event);
  void On(const sa::WorkerLost& event);
  void On(const sa::WorkerDecommissioned& event);
  void On(const sa::AppRegistered& event);
  void On(const sa::AppFinished& event);
  void On(const sa::ExecutorStateChanged& event);
  void On(const sa::ExecutorsRequested& event);
  void On(const sa::ExecutorsKilled& event);
  void On(const sa::DriverSubmitted& event);
  void On(const sa::DriverStateChanged& event);
  void On(const sa::DriverKilled& event);
  void On(const sa::Orders& event);
  void On(const sa::Recovered& event);
  void On(const sa::WorkerAnswered& event);
  void On(const sa::AppAnswered& event);
  void On(const sa::RecoveryEnded& event);
  void On(const sa::AppKilled& event);
  void On(const sa::ExecutorPlaced& event);
  void On(const sa::ExecutorTaken& event);
  void On(const sa::WorkerAway& event);
  void On(const sa::WorkerBack& event);
  void Emit(sa::Effect effect) { out_->push_back(std::move(effect)); }

  Worker& AddWorker(const sa::WorkerRegistered& event);
  App& AddApp(const sa::AppRegistered& event);
  void LoseWorker(uint32_t worker, const std::string& message);
  void SetTarget(App& app, const sa::ProfileTarget& target);
  void ChangeExecutorState(const sa::ExecutorStateChanged& event);
  bool Claim(uint32_t worker, const sa::ClaimedExecutor& claimed);
  bool Claim(uint32_t worker, const sa::ClaimedDriver& claimed);
  void EndRecoveryIfAllAnswered();
  void EndRecovery();
  void GiveUpDriver(uint32_t driver);
  void Schedule();
  void ScheduleDrivers();
  void ScheduleExecutors();
  std::vector<uint32_t> AliveWorkers() const;
  std::vector<sa::DriverIndex> LostDrivers(const Worker& worker) const;
  std::vector<uint32_t> DriverWorkers();
  struct Room {
    int32_t cores = 0;
    int32_t memory = 0;
  };
  /// The most cores, and the most memory, that any worker has left.
  Room MostRoom() const;
  static int64_t ExecutorsOf(const App& app, int32_t profile);
  /// Whether executors of a profile are wanted, and cores are left for one.
  static bool Wants(const App& app, int32_t profile, int32_t target);
  /// To be called after what Wants() looks at has changed.
  void NoteWants(uint32_t app);
  std::vector<uint32_t> UsableWorkers(const ExecutorNeeds& needs) const;
  /// Cores for each of `usable`: one step a worker in turn (spread out), or worker after worker (pack).
  std::vector<int32_t> Distribute(const App& app, int32_t profile, const ExecutorNeeds& needs,
                                  const std::vector<uint32_t>& usable) const;
  bool CanLaunch(const Worker& worker, int32_t cores, int32_t memory,
                 const std::vector<sa::ResourceAmount>& resources) const;
  void LaunchExecutors(uint32_t app, int32_t profile, const ExecutorNeeds& needs, uint32_t worker, int32_t cores);
  void LaunchDriverOn(uint32_t driver, uint32_t worker);
  void RemoveExecutorFromApp(uint32_t app, int32_t executor);
  void RemoveExecutorFromWorker(uint32_t worker, uint32_t app, int32_t executor);
  void KillExecutorOf(uint32_t app, int32_t executor, uint32_t worker);
  void RemoveApp(uint32_t app, sa::AppState state);
  void RemoveDriver(uint32_t driver, sa::DriverState state, sa::DriverIndex successor = {},
                    const std::string& exception = {});
  uint32_t CreateDriver(sa::DriverSubmitted description);
  void AddProfile(App& app, const sa::Profile& profile);

  MasterConfig config_;
  base::Rng rng_;
  std::vector<sa::Effect>* out_ = nullptr;
  base::Numbered<Worker> workers_;
  base::Numbered<App> apps_;
  base::Numbered<Driver> drivers_;
  std::vector<uint32_t> waiting_apps_;
  std::set<uint32_t> wanting_apps_;  // of these, those that want more, in the same order
  std::vector<uint32_t> waiting_drivers_;
  int32_t running_drivers_ = 0;
  bool recovering_ = false;
  std::optional<sa::Orders> orders_;  // of the event that is being applied
  size_t next_permutation_ = 0;
};

}  // namespace fairlead::scheduler::standalone
