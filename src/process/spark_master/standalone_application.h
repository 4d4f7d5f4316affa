#pragma once

#include <string>
#include <vector>

#include "model/standalone.h"
#include "process/spark_master/executor_source.h"
#include "process/spark_master/standalone_cluster.h"

namespace fairlead::process::spark_master {

/// One driver's application on a cluster of workers: words to the core's events and back.
class StandaloneApplication final : public Application {
 public:
  /// The cluster outlives it.
  StandaloneApplication(StandaloneCluster& cluster, const endpoints::spark::SparkBuild& build,
                        endpoints::spark::RegisterApplication registration, Callbacks callbacks)
      : cluster_(cluster), build_(build), registration_(std::move(registration)), callbacks_(std::move(callbacks)) {}
  ~StandaloneApplication() override;

  void Start() override { cluster_.Begin(*this); }
  void Resume() override {}
  void OnAcknowledged() override;
  void RequestExecutors(const endpoints::spark::RequestExecutors& request, std::function<void(bool)> done) override;
  void KillExecutors(const endpoints::spark::KillExecutors& request, std::function<void(bool)> done) override;
  void End(const std::string& reason) override;

  const std::string& id() const override { return id_; }
  bool accepted() const override { return accepted_; }
  bool ending() const override { return ending_; }
  const endpoints::spark::SparkBuild& build() const override { return build_; }
  const endpoints::spark::RegisterApplication& registration() const override { return registration_; }

  // ---- for the cluster
  /// `accepted`: an earlier life of the master took it.
  void SetId(model::standalone::AppIndex index, std::string id, bool accepted);
  void OnAccepted();
  void Tell(const std::string& content) { callbacks_.tell(content); }
  /// Of its driver's connection; empty: not known.
  const std::string& address() const { return callbacks_.address; }
  /// The core has ended it; nothing more is said of it.
  void OnRemoved();

 private:
  StandaloneCluster& cluster_;
  const endpoints::spark::SparkBuild& build_;
  const endpoints::spark::RegisterApplication registration_;
  Callbacks callbacks_;
  model::standalone::AppIndex index_;
  std::string id_;
  bool accepted_ = false;
  bool ending_ = false;
};

std::vector<model::standalone::Resource> FromWire(const endpoints::spark::Resources& resources);
endpoints::spark::Resources ToWire(const std::vector<model::standalone::Resource>& resources);
/// The core's events of an application and a driver.
model::standalone::AppRegistered RegistrationOf(uint32_t index,
                                                const endpoints::spark::ApplicationDescription& description);
model::standalone::DriverSubmitted EventOf(const endpoints::spark::DriverDescription& driver);
/// What executors of a profile need, in the core's words: the heap, cores and custom resources.
model::standalone::Profile ProfileOf(const endpoints::spark::ResourceProfile& profile);

}  // namespace fairlead::process::spark_master
