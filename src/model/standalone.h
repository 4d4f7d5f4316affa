#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/ids.h"

// Events and effects of the Spark Standalone master core (scheduler/spark_standalone): what
// org.apache.spark.deploy.DeployMessages carry, as values. Indices are dense, given by the core's user in order of
// arrival and never used again. Lists are only ever appended.

namespace fairlead::model::standalone {

struct WorkerTag;
struct AppTag;
struct DriverTag;
using WorkerIndex = base::Index<WorkerTag>;
using AppIndex = base::Index<AppTag>;
/// In order of creation, re-launches included: the core gives these.
using DriverIndex = base::Index<DriverTag>;

/// A custom resource (gpu) and its addresses.
struct Resource {
  std::string name;
  std::vector<std::string> addresses;
  FL_FIELDS(name, addresses)
};

struct ResourceAmount {
  std::string name;
  int32_t amount = 0;
  FL_FIELDS(name, amount)
};

/// What one executor of a resource profile needs; profile 0 is the application's default profile.
struct Profile {
  int32_t id = 0;
  std::optional<int32_t> cores;   // absent: the default profile's, or as many as there are
  std::optional<int32_t> memory;  // MiB; absent: the default profile's
  std::vector<ResourceAmount> resources;
  FL_FIELDS(id, cores, memory, resources)
};

/// ExecutorState of Spark, in its order.
enum class ExecutorState : uint8_t { kLaunching, kRunning, kKilled, kFailed, kLost, kExited, kDecommissioned };
std::string_view EnumName(ExecutorState state);
/// kUnknown, also of workers: stored by an earlier life of the master, and not heard of since.
enum class AppState : uint8_t { kWaiting, kRunning, kFinished, kFailed, kKilled, kUnknown };
std::string_view EnumName(AppState state);
enum class DriverState : uint8_t { kSubmitted, kRunning, kFinished, kRelaunching, kUnknown, kKilled, kFailed, kError };
std::string_view EnumName(DriverState state);
enum class WorkerState : uint8_t { kAlive, kDead, kDecommissioned, kUnknown };
std::string_view EnumName(WorkerState state);

struct WorkerRegistered {
  static constexpr std::string_view kName = "worker_registered";
  WorkerIndex worker;
  std::string id;
  std::string host;
  int32_t port = 0;
  int32_t cores = 0;
  int32_t memory = 0;  // MiB
  std::vector<Resource> resources;
  FL_FIELDS(worker, id, host, port, cores, memory, resources)
};
/// Its connection broke, or its heartbeats stopped (spark.worker.timeout).
struct WorkerLost {
  static constexpr std::string_view kName = "worker_lost";
  WorkerIndex worker;
  std::string message;
  FL_FIELDS(worker, message)
};
struct WorkerDecommissioned {
  static constexpr std::string_view kName = "worker_decommissioned";
  WorkerIndex worker;
  FL_FIELDS(worker)
};
struct AppRegistered {
  static constexpr std::string_view kName = "app_registered";
  AppIndex app;
  std::optional<int32_t> max_cores;  // spark.cores.max
  Profile profile;                   // the default one
  std::optional<int32_t> initial_executor_limit;
  FL_FIELDS(app, max_cores, profile, initial_executor_limit)
};
/// The application said so, or its driver's connection broke.
struct AppFinished {
  static constexpr std::string_view kName = "app_finished";
  AppIndex app;
  FL_FIELDS(app)
};
struct ExecutorStateChanged {
  static constexpr std::string_view kName = "executor_state_changed";
  AppIndex app;
  int32_t executor = 0;
  ExecutorState state = ExecutorState::kRunning;
  std::optional<int32_t> exit_status;
  std::string message;
  uint64_t token = 0;                      // comes back in Answer, true also for an executor that is not known
  std::optional<WorkerIndex> worker = {};  // who reports; a report about another worker's executor is ignored
  FL_FIELDS(app, executor, state, exit_status, message, token, worker)
};
struct ProfileTarget {
  Profile profile;
  int32_t total = 0;
  FL_FIELDS(profile, total)
};
/// Dynamic allocation: how many executors of each profile named.
struct ExecutorsRequested {
  static constexpr std::string_view kName = "executors_requested";
  AppIndex app;
  uint64_t token = 0;
  std::vector<ProfileTarget> targets;
  FL_FIELDS(app, token, targets)
};
struct ExecutorsKilled {
  static constexpr std::string_view kName = "executors_killed";
  AppIndex app;
  uint64_t token = 0;
  std::vector<int32_t> executors;
  FL_FIELDS(app, token, executors)
};
struct DriverSubmitted {
  static constexpr std::string_view kName = "driver_submitted";
  uint64_t token = 0;
  int32_t cores = 0;
  int32_t memory = 0;  // MiB
  bool supervise = false;
  std::vector<ResourceAmount> resources;
  FL_FIELDS(token, cores, memory, supervise, resources)
};
struct DriverStateChanged {
  static constexpr std::string_view kName = "driver_state_changed";
  DriverIndex driver;
  DriverState state = DriverState::kFinished;
  std::optional<WorkerIndex> worker = {};  // as in ExecutorStateChanged
  std::string exception = {};              // why it could not be started, or ended
  FL_FIELDS(driver, state, worker, exception)
};
struct DriverKilled {
  static constexpr std::string_view kName = "driver_killed";
  uint64_t token = 0;
  DriverIndex driver;
  FL_FIELDS(token, driver)
};
/// The orders that Spark takes from hash tables and a random generator, for the next event of the batch: replays of
/// recordings give them; without, workers come in order of registration, a worker's drivers in that of their numbers,
/// and permutations from the seed.
struct Orders {
  static constexpr std::string_view kName = "orders";
  std::vector<WorkerIndex> alive;
  std::vector<std::vector<WorkerIndex>> permutations;  // one per scheduling pass
  std::vector<DriverIndex> lost;                       // drivers of the worker that is lost
  FL_FIELDS(alive, permutations, lost)
};

struct StoredApp {
  AppRegistered registration;
  std::vector<ProfileTarget> targets;  // the last that it asked for
  int32_t next_executor = 0;           // smaller numbers may be in use, also where nobody claims them
  FL_FIELDS(registration, targets, next_executor)
};
struct StoredDriver {
  DriverSubmitted description;
  bool waits = false;  // it was never sent to a worker
  FL_FIELDS(description, waits)
};
/// What an earlier life of the master has stored; comes before all else. Until every worker and application in it has
/// answered, or RecoveryEnded comes, nothing is scheduled.
struct Recovered {
  static constexpr std::string_view kName = "recovered";
  std::vector<WorkerRegistered> workers;
  std::vector<StoredApp> apps;
  std::vector<StoredDriver> drivers;
  FL_FIELDS(workers, apps, drivers)
};
struct ClaimedExecutor {
  AppIndex app;
  int32_t executor = 0;
  int32_t profile = 0;
  int32_t cores = 0;
  int32_t memory = 0;
  ExecutorState state = ExecutorState::kRunning;
  std::vector<Resource> resources;
  FL_FIELDS(app, executor, profile, cores, memory, state, resources)
};
struct ClaimedDriver {
  DriverIndex driver;
  std::vector<Resource> resources;
  FL_FIELDS(driver, resources)
};
/// A stored worker says what it runs (WorkerSchedulerStateResponse).
struct WorkerAnswered {
  static constexpr std::string_view kName = "worker_answered";
  WorkerIndex worker;
  std::vector<ClaimedExecutor> executors;
  std::vector<ClaimedDriver> drivers;
  FL_FIELDS(worker, executors, drivers)
};
/// A stored application's driver is there (MasterChangeAcknowledged).
struct AppAnswered {
  static constexpr std::string_view kName = "app_answered";
  AppIndex app;
  FL_FIELDS(app)
};
/// Who has not answered by now is given up.
struct RecoveryEnded {
  static constexpr std::string_view kName = "recovery_ended";
  FL_NO_FIELDS()
};

/// By a person, on the master's page.
struct AppKilled {
  static constexpr std::string_view kName = "app_killed";
  AppIndex app;
  FL_FIELDS(app)
};

/// Of who places executors in the core's stead (MasterConfig::places_executors): one more of this profile goes to the
/// worker. What does not fit there is not launched.
struct ExecutorPlaced {
  static constexpr std::string_view kName = "executor_placed";
  AppIndex app;
  int32_t profile = 0;
  WorkerIndex worker;
  int32_t cores = 0;
  FL_FIELDS(app, profile, worker, cores)
};
/// From the same: an executor is taken back, for others. Its tasks' failures are not the application's.
struct ExecutorTaken {
  static constexpr std::string_view kName = "executor_taken";
  AppIndex app;
  int32_t executor = 0;
  std::string message;
  FL_FIELDS(app, executor, message)
};

/// The connection of a worker that keeps its executors and drivers for a while broke: nothing is placed there.
struct WorkerAway {
  static constexpr std::string_view kName = "worker_away";
  WorkerIndex worker;
  FL_FIELDS(worker)
};
struct HeldExecutor {
  AppIndex app;
  int32_t executor = 0;
  FL_FIELDS(app, executor)
};
/// It is back and says what it runs; what else was to run there is lost.
struct WorkerBack {
  static constexpr std::string_view kName = "worker_back";
  WorkerIndex worker;
  uint64_t token = 0;  // comes back in Answer, before all that follows
  std::vector<HeldExecutor> executors;
  std::vector<DriverIndex> drivers;
  FL_FIELDS(worker, token, executors, drivers)
};

using Event = std::variant<WorkerRegistered, WorkerLost, WorkerDecommissioned, AppRegistered, AppFinished,
                           ExecutorStateChanged, ExecutorsRequested, ExecutorsKilled, DriverSubmitted,
                           DriverStateChanged, DriverKilled, Orders, Recovered, WorkerAnswered, AppAnswered,
                           RecoveryEnded, AppKilled, ExecutorPlaced, ExecutorTaken, WorkerAway, WorkerBack>;

struct LaunchExecutor {
  static constexpr std::string_view kName = "launch_executor";
  WorkerIndex worker;
  AppIndex app;
  int32_t executor = 0;
  int32_t cores = 0;
  int32_t memory = 0;
  int32_t profile = 0;
  std::vector<Resource> resources;
  FL_FIELDS(worker, app, executor, cores, memory, profile, resources)
};
struct LaunchDriver {
  static constexpr std::string_view kName = "launch_driver";
  WorkerIndex worker;
  DriverIndex driver;
  int32_t cores = 0;
  int32_t memory = 0;
  std::vector<Resource> resources;
  FL_FIELDS(worker, driver, cores, memory, resources)
};
struct KillExecutor {
  static constexpr std::string_view kName = "kill_executor";
  WorkerIndex worker;
  AppIndex app;
  int32_t executor = 0;
  FL_FIELDS(worker, app, executor)
};
struct KillDriver {
  static constexpr std::string_view kName = "kill_driver";
  WorkerIndex worker;
  DriverIndex driver;
  FL_FIELDS(worker, driver)
};
struct RegisteredWorker {
  static constexpr std::string_view kName = "registered_worker";
  WorkerIndex worker;
  bool duplicate = false;
  FL_FIELDS(worker, duplicate)
};
struct RegisterWorkerFailed {
  static constexpr std::string_view kName = "register_worker_failed";
  WorkerIndex worker;
  std::string message;
  FL_FIELDS(worker, message)
};
struct RegisteredApplication {
  static constexpr std::string_view kName = "registered_application";
  AppIndex app;
  FL_FIELDS(app)
};
struct ExecutorAdded {
  static constexpr std::string_view kName = "executor_added";
  AppIndex app;
  int32_t executor = 0;
  WorkerIndex worker;
  int32_t cores = 0;
  int32_t memory = 0;
  FL_FIELDS(app, executor, worker, cores, memory)
};
struct ExecutorUpdated {
  static constexpr std::string_view kName = "executor_updated";
  AppIndex app;
  int32_t executor = 0;
  ExecutorState state = ExecutorState::kRunning;
  std::string message;
  std::optional<int32_t> exit_status;
  std::optional<std::string> worker_host;  // the worker went away with it
  FL_FIELDS(app, executor, state, message, exit_status, worker_host)
};
struct WorkerRemoved {
  static constexpr std::string_view kName = "worker_removed";
  AppIndex app;
  WorkerIndex worker;
  std::string message;
  FL_FIELDS(app, worker, message)
};
struct ApplicationRemoved {
  static constexpr std::string_view kName = "application_removed";
  AppIndex app;
  std::string message;
  FL_FIELDS(app, message)
};
struct ApplicationFinished {
  static constexpr std::string_view kName = "application_finished";
  WorkerIndex worker;
  AppIndex app;
  FL_FIELDS(worker, app)
};
struct Answer {
  static constexpr std::string_view kName = "answer";
  uint64_t token = 0;
  bool ok = false;
  FL_FIELDS(token, ok)
};
struct DriverAccepted {
  static constexpr std::string_view kName = "driver_accepted";
  uint64_t token = 0;
  DriverIndex driver;
  FL_FIELDS(token, driver)
};
/// A driver is over, or (kRelaunching) continues as `successor`.
struct DriverEnded {
  static constexpr std::string_view kName = "driver_ended";
  DriverIndex driver;
  DriverState state = DriverState::kFinished;
  DriverIndex successor;
  std::string exception = {};
  FL_FIELDS(driver, state, successor, exception)
};

using Effect = std::variant<LaunchExecutor, LaunchDriver, KillExecutor, KillDriver, RegisteredWorker,
                            RegisterWorkerFailed, RegisteredApplication, ExecutorAdded, ExecutorUpdated, WorkerRemoved,
                            ApplicationRemoved, ApplicationFinished, Answer, DriverAccepted, DriverEnded>;

}  // namespace fairlead::model::standalone
