#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/elector.h"
#include "process/spark_master/spark_master.h"
#include "process/spark_master/standalone_cluster.h"

namespace fairlead::process::spark_master {

/// A Standalone Master through its leaderships: alone it leads for ever; one of several stands by until it is elected,
/// then takes up what the last leader stored and calls its workers and drivers back, and stands by again when it is
/// deposed (where Spark's own ends its process). On the loop's thread.
class StandaloneMaster {
 public:
  struct Options {
    SparkMasterSettings master;  // of one build
    StandaloneSettings cluster;
    /// It can go on neither as the leader nor in standby; the reason.
    std::function<void(const std::string& why)> on_over;
  };
  StandaloneMaster(env::Loop& loop, env::Net& net, env::Log& log, Options options);
  ~StandaloneMaster();

  /// Leads from now on. `store` may be null: nothing outlives this process. `imported` is what Spark's own master left.
  base::Status LeadAlone(std::unique_ptr<env::Store> store, StandaloneState imported);
  /// Stands by and takes part in the election.
  base::Status Join(std::unique_ptr<env::Elector> elector);

  /// Of the present leadership, or an empty one in standby; valid for the turn, once one of the above went well.
  StandaloneCluster& cluster() { return *cluster_; }
  env::Endpoint local() const { return master_->local(); }

 private:
  base::Status Begin(bool standby, StandaloneState imported);
  void End();
  void Elected(std::unique_ptr<env::Store> store);
  void Deposed(const std::string& why);
  /// Gives the leadership up: it may not act any more, or cannot.
  void StepDown();

  env::Loop& loop_;
  env::Net& net_;
  env::Log& log_;
  Options options_;
  std::unique_ptr<env::Elector> elector_;  // null: alone
  bool stepping_down_ = false;
  std::unique_ptr<env::Store> store_;
  std::unique_ptr<StandaloneCluster> cluster_;
  std::unique_ptr<SparkMaster> master_;
};

}  // namespace fairlead::process::spark_master
