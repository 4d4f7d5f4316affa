#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/store.h"
#include "process/spark_master/executor_source.h"
#include "process/spark_master/stored_application.h"
#include "process/spark_master/yarn_application.h"

namespace fairlead::process::spark_master {

/// Executors are containers of a YARN cluster: each driver becomes an application of its own there.
class YarnSource final : public ExecutorSource {
 public:
  /// `store` may be null: then applications end with this process.
  YarnSource(env::Loop& loop, env::Net& net, env::Store* store, env::Log& log, YarnSettings settings)
      : loop_(loop), net_(net), store_(store), log_(log), settings_(std::move(settings)) {}

  void Attach(const Master& master) override;
  std::unique_ptr<Application> Make(const endpoints::spark::SparkBuild& build,
                                    endpoints::spark::RegisterApplication registration,
                                    Application::Callbacks callbacks) override;
  base::Result<std::vector<Stored>> Load() override;
  std::unique_ptr<Application> MakeStored(const std::string& id, const endpoints::spark::SparkBuild& build,
                                          endpoints::spark::RegisterApplication registration,
                                          Application::Callbacks callbacks) override;
  void Forget(const std::string& id) override;
  void SetAside(const std::string& id, const std::string& why) override;
  bool HasEndpoint(Peers::PeerId, const std::string&) override { return false; }
  bool OnMessage(Peers::PeerId, spark_rpc::Incoming&) override { return false; }
  void OnClosed(Peers::PeerId, const std::string&) override {}

 private:
  env::Loop& loop_;
  env::Net& net_;
  env::Store* const store_;
  env::Log& log_;
  YarnSettings settings_;
  std::map<std::string, StoredApplication> loaded_;
};

}  // namespace fairlead::process::spark_master
