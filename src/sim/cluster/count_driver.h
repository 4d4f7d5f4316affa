#pragma once

#include <functional>
#include <memory>
#include <string>

#include "endpoints/yarn/rpc_identity.h"
#include "env/alive.h"
#include "env_sim/world.h"
#include "process/driver/executor_fleet.h"
#include "process/driver/job_driver.h"
#include "sim/cluster/count_job.h"
#include "sim/cluster/ledger.h"

namespace fairlead::sim {

/// The driver of a count job in its master container: the engine's production machines (JobDriver with the tasks core,
/// ExecutorFleet with YarnMaster) with a program of its own.
class CountDriver final : public Program, private process::driver::PlanSource, private process::driver::DriverListener {
 public:
  CountDriver(env_sim::World& world, env_sim::Machine& machine, std::vector<env::Endpoint> schedulers,
              const JobSpec& job, model::ApplicationAttemptId attempt, endpoints::yarn::RpcToken token, Ledger& ledger,
              std::function<void(int exit_code)> exit);
  ~CountDriver() override;
  std::string CheckInvariants() const override { return jobs_.core().CheckInvariants(); }

 private:
  void Start();
  void Submit(size_t job);
  void OnJobEnded(size_t job, const model::tasks::JobEnded& end);
  void Finish(const std::string& error);
  std::string PlanOf(const model::tasks::StageSubmitted& stage) override;
  void OnEffect(const model::tasks::Effect& effect) override;
  void OnMerged(const process::driver::MergeResult& result) override;
  process::driver::ExecutorLaunch MakeLaunch(const env::Endpoint& driver) const;

  env_sim::World& world_;
  env_sim::Machine& machine_;
  const std::vector<env::Endpoint> schedulers_;
  const JobSpec job_;
  const model::ApplicationAttemptId attempt_;
  const endpoints::yarn::RpcToken token_;
  Ledger& ledger_;
  const std::function<void(int)> exit_;
  std::string secret_;
  process::driver::JobDriver jobs_;
  std::unique_ptr<process::driver::ExecutorFleet> fleet_;
  Counts result_;
  bool finishing_ = false;
  env::Alive alive_;
};

/// Name of the secret among an executor's credentials.
inline constexpr const char* kExecutorSecret = "driver-secret";

}  // namespace fairlead::sim
