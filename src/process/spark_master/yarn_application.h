#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/spark_build.h"
#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/store.h"
#include "process/application/yarn_master.h"
#include "process/rpc/members.h"
#include "process/rpc/rpc_client.h"
#include "process/spark_master/executor_policy.h"
#include "process/spark_master/executor_source.h"
#include "process/spark_master/stored_application.h"
#include "wire/yarn/client.h"

namespace fairlead::process::spark_master {

/// What all applications of a cluster share.
struct YarnSettings {
  std::vector<env::Endpoint> resource_managers;  // ApplicationClientProtocol; of each manager
  std::vector<env::Endpoint> schedulers;         // ApplicationMasterProtocol
  /// Of applications that do not choose by FAIRLEAD_QUEUE in their executors' environment.
  std::string queue = "default";
  std::string web_scheme = "http://";  // of nodes' pages: yarn.http.policy
  uint16_t shuffle_port = 0;           // of the nodes' shuffle service (spark.shuffle.service.port); 0: Spark's own
  /// Of this daemon, as the resource manager shows it; the source sets both.
  std::string host;
  int32_t port = 0;
  PolicySettings policy;
};

/// One driver's application on YARN: submitted as its user with an unmanaged master, which this is. From the driver's
/// registration to its end; calls about it go to the resource manager until it knows the end.
class YarnApplication final : public Application {
 public:
  /// `store` may be null: then a restart of this process ends the application.
  YarnApplication(env::Loop& loop, env::Net& net, env::Store* store, env::Log& log, const YarnSettings& settings,
                  const endpoints::spark::SparkBuild& build, endpoints::spark::RegisterApplication registration,
                  Callbacks callbacks);
  /// One that an earlier life of this process stored.
  YarnApplication(env::Loop& loop, env::Net& net, env::Store* store, env::Log& log, const YarnSettings& settings,
                  const endpoints::spark::SparkBuild& build, endpoints::spark::RegisterApplication registration,
                  Callbacks callbacks, const std::string& id, StoredApplication stored);
  ~YarnApplication() override;

  void Start() override;
  void Resume() override;
  void RequestExecutors(const endpoints::spark::RequestExecutors& request, std::function<void(bool)> done) override;
  void KillExecutors(const endpoints::spark::KillExecutors& request, std::function<void(bool)> done) override;
  void End(const std::string& reason) override;

  const std::string& id() const override { return id_; }
  bool accepted() const override { return accepted_; }
  bool ending() const override { return ending_; }
  const endpoints::spark::SparkBuild& build() const override { return build_; }
  const endpoints::spark::RegisterApplication& registration() const override { return registration_; }

 private:
  template <class Response, class Request>
  void Call(const char* method, const Request& request, std::function<void(Response)> done);
  void Submit();
  void AwaitAttempt();
  void OnReport(const wire::yarn::ApplicationReportProto& report);
  void StartMaster();
  void SetToken(const endpoints::yarn::RpcToken& token);
  void Remember(const application::ExecutorContainer& executor, bool started);
  void Save();
  void Commit(std::function<void(const env::CommitStatus&)> done);
  void OnDismissed(const std::string& reason, int looks);
  void Apply(const ExecutorPolicy::Effects& effects);
  void Tell(const std::string& reason);
  void Remove(const std::string& reason);
  void OnRefused(const std::string& reason);
  void Finish();
  void Kill();
  void Over();

  env::Loop& loop_;
  env::Net& net_;
  env::Log& log_;
  const YarnSettings& settings_;
  const endpoints::spark::SparkBuild& build_;
  const endpoints::spark::RegisterApplication registration_;
  Callbacks callbacks_;
  rpc::RpcClient rpc_;
  rpc::Members resource_managers_;
  ExecutorPolicy policy_;
  env::Store* const store_;
  StoredApplication stored_;
  bool resumed_ = false;
  bool saving_ = false;  // a commit is due
  wire::yarn::ApplicationIdProto proto_id_;
  std::string id_;
  bool submitted_ = false;  // perhaps not yet answered
  bool accepted_ = false;
  base::Instant accepted_at_;
  std::unique_ptr<application::YarnMaster> master_;
  bool registered_ = false;  // the master
  bool ending_ = false;
  std::string end_reason_;  // empty: the driver is done
  bool over_ = false;
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_master
