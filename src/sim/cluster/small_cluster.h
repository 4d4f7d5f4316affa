#pragma once

#include <memory>
#include <optional>

#include "endpoints/yarn/rpc_identity.h"
#include "env/log.h"
#include "env_sim/world.h"
#include "process/nm/node_manager.h"
#include "process/rm/resource_manager.h"
#include "sim/cluster/containers.h"

namespace fairlead::sim {

/// One production resource manager and one node agent, whose containers run until they are ended, for what is told to
/// them call by call.
class SmallCluster {
 public:
  static inline const env::Endpoint kClient{"rm", 8032};
  static inline const env::Endpoint kScheduler{"rm", 8030};
  static inline const env::Endpoint kTracker{"rm", 8031};
  static inline const env::Endpoint kAdmin{"rm", 8033};

  SmallCluster();
  ~SmallCluster();

  /// Both on what their stores hold, and some time until the node is known. `laid_open`: others could read the
  /// manager's store until now.
  base::Status Start(bool laid_open = false);
  void Stop();
  /// The manager alone stops, and starts on what it has stored.
  base::Status RestartManager(bool laid_open);
  void Pass(base::Duration time);

  /// The id of the next application.
  model::ApplicationId NewApplication();
  /// The application's current one, or null.
  const fairlead::rm::Attempt* AttemptOf(const model::ApplicationId& app) const;
  env::Endpoint node_address() const;
  endpoints::yarn::RpcToken NmToken(const model::ApplicationAttemptId& attempt) const;

  process::rm::ResourceManager& rm() { return *rm_; }
  const process::rm::ResourceManager& rm() const { return *rm_; }
  process::nm::NodeManager& node() { return *node_; }
  env_sim::World& world() { return world_; }
  env_sim::Machine& rm_host() { return rm_host_; }

 private:
  class HeldContainers;
  class OnceOpenStore;
  base::Status StartManager(bool laid_open);
  base::Status StartNode();

  env_sim::World world_{1};
  env_sim::Machine& rm_host_ = world_.AddMachine("rm");
  env_sim::Machine& node_host_ = world_.AddMachine("node");
  env::NullLog log_;
  std::unique_ptr<HeldContainers> containers_;
  SimLocalizer localizer_{world_, node_host_.loop()};
  SimDirs dirs_{node_host_.loop(), node_host_.disk()};
  std::unique_ptr<OnceOpenStore> store_;
  std::unique_ptr<process::rm::ResourceManager> rm_;
  std::unique_ptr<process::nm::NodeManager> node_;
};

}  // namespace fairlead::sim
