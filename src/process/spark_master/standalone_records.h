#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/numbered.h"
#include "base/time.h"
#include "endpoints/spark/submission_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "model/standalone.h"
#include "process/peers/gone_list.h"
#include "process/spark_master/standalone_ids.h"
#include "scheduler/scheduler.h"
#include "scheduler/spark_standalone/master.h"

namespace fairlead::process::spark_master {

struct StandaloneSettings {
  scheduler::standalone::MasterConfig scheduling;
  /// Decides where executors go in the place of Spark's rules (--profile); not set: Spark's rules.
  std::function<std::unique_ptr<scheduler::Scheduler>()> make_scheduler;
  base::Duration worker_timeout = base::Duration::Seconds(60);    // spark.worker.timeout
  int64_t dead_worker_persistence = 15;                           // the same key: in worker_timeouts
  size_t retained_applications = 200;                             // spark.deploy.retainedApplications
  size_t retained_drivers = 200;                                  // spark.deploy.retainedDrivers
  base::Duration recovery_timeout = base::Duration::Seconds(60);  // spark.deploy.recoveryTimeout
  IdSettings ids;
  bool driver_ids_as_names = false;  // spark.master.useDriverIdAsAppName.enabled
  std::string web_url;               // of this master's page, as workers link to it
  /// Another master leads: nothing is taken, and whoever asks is told so.
  bool standby = false;
  /// The store takes nothing any more, now or later (env::CommitFailure): nothing more is decided.
  std::function<void(const std::string& why)> on_store_lost;
};

class StandaloneApplication;

/// An executor as pages tell of it, also after its end.
struct ShownExecutor {
  std::string worker;  // its id
  int32_t cores = 0;
  int32_t memory_mib = 0;
  base::WallTime started;
  model::standalone::ExecutorState state = model::standalone::ExecutorState::kLaunching;
  std::string message;
};
struct ApplicationRecord {
  std::string id;
  StandaloneApplication* machine = nullptr;              // null: it has ended
  endpoints::spark::ApplicationDescription description;  // without its command, which the machine knows
  base::WallTime started;
  base::WallTime ended;                                         // 0: not yet
  std::map<int32_t, model::standalone::ProfileTarget> targets;  // the last it asked for, by profile
  int32_t next_executor = 0;                                    // as an earlier life stored it
  bool cleared = false;                                         // it has ended and is not shown any more
  std::map<int32_t, ShownExecutor> executors;                   // the latest of this life
  std::string from = {};                                        // the address of its driver's connection
};
endpoints::spark::ApplicationDescription WithoutCommand(endpoints::spark::ApplicationDescription description);
/// What was submitted; a driver that is started again shares it with its predecessor.
struct Submission {
  endpoints::spark::DriverDescription description;
  std::string kept;       // where it came by RPC (endpoints/spark/known_description.h)
  std::string from = {};  // the address of who submitted it, where that is known
  size_t bytes = 0;       // what it takes in memory
};
struct DriverRecord {
  std::string id;
  std::shared_ptr<const Submission> submission;
  base::WallTime submitted;
  std::string exception;  // of the worker that ran it; empty: none
  bool gone = false;
  bool cleared = false;
};

/// The applications and drivers of a Standalone Master under the core's indices: their ids, what pages tell of them,
/// and how much is still shown of those that have gone. An id that is not shown any more is not found as shown, and
/// goes with Drop.
class StandaloneRecords {
 public:
  explicit StandaloneRecords(const StandaloneSettings& settings);

  /// With a new id, or with that of an earlier life.
  std::pair<uint32_t, ApplicationRecord&> AddApplication(const std::string& name, base::WallTime now);
  std::pair<uint32_t, ApplicationRecord&> TakeApplication(const std::string& id);
  DriverRecord& AddDriver(std::shared_ptr<const Submission> submission, base::WallTime now);
  DriverRecord& TakeDriver(const std::string& id);
  /// One is over: of a driver only what is shown stays.
  void ApplicationGone(uint32_t index, base::WallTime now);
  void DriverGone(uint32_t index, const std::string& exception);
  /// All that have gone are not shown any more.
  void ClearCompleted();
  /// What is not shown any more, for the core, and then for Drop.
  void CollectUnshown(scheduler::standalone::Gone& gone) const;
  void Drop(const scheduler::standalone::Gone& gone);

  std::optional<uint32_t> Application(const std::string& id) const { return ids_.Application(id); }
  std::optional<uint32_t> Driver(const std::string& id) const { return ids_.Driver(id); }
  std::optional<uint32_t> ShownApplication(const std::string& id) const;
  std::optional<uint32_t> ShownDriver(const std::string& id) const;
  ApplicationRecord& application(uint32_t index) { return applications_[index]; }
  const base::Numbered<ApplicationRecord>& applications() const { return applications_; }
  const base::Numbered<DriverRecord>& drivers() const { return drivers_; }

 private:
  const bool driver_ids_as_names_;
  StandaloneIds ids_;
  base::Numbered<ApplicationRecord> applications_;
  base::Numbered<DriverRecord> drivers_;
  peers::GoneList gone_applications_;
  peers::GoneList gone_drivers_;
};

}  // namespace fairlead::process::spark_master
