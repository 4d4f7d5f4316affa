#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/nm_messages.h"
#include "endpoints/yarn/tokens.h"
#include "env/alive.h"
#include "env/audit.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/store.h"
#include "env/timer.h"
#include "nm/nm.h"
#include "process/nm/app_tokens.h"
#include "process/nm/container_service.h"
#include "process/nm/log_gathering.h"
#include "process/nm/node_keys.h"
#include "process/nm/ports.h"
#include "process/nm/state_writer.h"
#include "process/nm/tracker_client.h"

namespace fairlead::process::nm {

/// Names of Hadoop keys behind the values in comments.
struct Settings : TrackerSettings {
  fairlead::nm::Config core;  // node_address is filled in when the port is known
  std::string host;           // as which the node registers
  env::Endpoint listen;       // port 0: the one of the last run, else any free one
  int32_t http_port = 0;      // told to the resource manager
  std::string hadoop_version = "3.3.6";
  std::string node_label;
  model::Resources physical;
  ContainerService::Admits admits = {};
  endpoints::yarn::TokenHmac hmac = endpoints::yarn::TokenHmac::kSha1;

  std::map<std::string, std::string> environment;                // the agent's own
  std::vector<std::string> env_whitelist;                        // yarn.nodemanager.env-whitelist
  std::string admin_env = "MALLOC_ARENA_MAX=$MALLOC_ARENA_MAX";  // yarn.nodemanager.admin-env
  std::string user_home = "/home/";                              // yarn.nodemanager.user-home-dir
  bool debug_info = true;                                        // yarn.nodemanager.log-container-debug-info.enabled
  base::Duration delete_delay{};                                 // yarn.nodemanager.delete.debug-delay-sec
  base::Duration log_retain = base::Duration::Seconds(10800);    // yarn.nodemanager.log.retain-seconds
  LogSettings logs = {};                                         // where logs are gathered
};

struct Environment {
  env::Loop& loop;
  env::Net& net;
  env::Disk& disk;
  env::Store& store;
  env::Log& log;
  Containers& containers;
  Localizer& localizer;
  NodeDirs& dirs;
  std::vector<AuxService*> services;
  LogAggregator* aggregator = nullptr;  // none: logs stay on the node
  env::Audit audit = {};                // of containers that masters start and stop
};

/// One node agent over the ports: the nm core, ContainerManagementProtocol served to masters and the resource manager,
/// ResourceTracker called, tokens, local files, auxiliary services. What it cannot learn again is in the store.
class NodeManager : private ContainerEvents {
 public:
  NodeManager(Environment environment, Settings settings);
  ~NodeManager() override;
  NodeManager(const NodeManager&) = delete;
  NodeManager& operator=(const NodeManager&) = delete;

  /// Loads the store, listens, begins to register. `on_exit` runs once when the agent has nothing more to do.
  base::Status Start(std::function<void(int code, const std::string& reason)> on_exit);
  /// Ends all containers first unless they are kept for the next run.
  void Shutdown(bool keep_containers);
  void SetHealth(bool healthy, const std::string& report);
  void SetHttpPort(int32_t port) { identity_.http_port = port; }
  /// Where its pages are, as the resource manager knows them.
  env::Endpoint Pages() const { return {identity_.host, static_cast<uint16_t>(identity_.http_port)}; }
  const endpoints::yarn::NodeTokens& tokens() const { return keys_.tokens(); }

  const fairlead::nm::Nm& core() const { return core_; }
  fairlead::nm::View View() const { return core_.GetView(); }
  const endpoints::yarn::NodeIdentity& identity() const { return identity_; }
  const Settings& settings() const { return settings_; }
  base::WallTime started() const { return started_; }
  /// Rows of the store that this run goes on without.
  const std::vector<env::UnreadRow>& unread() const { return unread_; }
  const ContainerService& service() const { return service_; }

 private:
  // The core.
  void OnContainerEvent(model::nm::Event event) override { Feed(std::move(event)); }
  void Feed(model::nm::Event event);
  void Pump();
  void SetTimer();
  void Execute(std::vector<model::nm::Effect> effects);
  void Do(model::nm::Persist& effect, std::vector<model::nm::Effect> after);
  void Do(model::nm::CallAnswer& effect) { service_.Answer(effect); }
  void Do(model::nm::CallRefused& effect) { service_.Refuse(effect); }
  void Do(model::nm::InitService& effect);
  void Do(model::nm::ServiceContainer& effect);
  void Do(model::nm::Fetch& effect);
  void Do(model::nm::RemoveResource& effect);
  void Do(model::nm::Launch& effect);
  void Do(model::nm::Attach& effect);
  void Do(model::nm::Signal& effect);
  void Do(model::nm::Resize& effect);
  void Do(model::nm::CleanContainer& effect);
  void Do(model::nm::CleanApp& effect);
  void Do(model::nm::HandleLogs& effect);
  void Do(model::nm::Register& effect);
  void Do(model::nm::Heartbeat& effect);
  void Do(model::nm::Unregister& effect);
  void Do(model::nm::Exit& effect);
  void End(int code, const std::string& reason);
  void Do(model::nm::StateChanged& effect);
  void Do(model::nm::AddLinks& effect);
  void Do(model::nm::ContainerEnded& effect);

  // Start.
  base::Result<model::nm::Started> LoadState();
  base::Status Listen();

  // Launch (launcher.cc).
  base::Result<LaunchPlan> PlanLaunch(const model::nm::Launch& launch);
  std::vector<std::pair<std::string, std::string>> NodeVariables(const LaunchPlan& plan, const std::string& counters);
  std::vector<std::pair<std::string, std::string>> AdminVariables(const std::map<std::string, std::string>& of_app);

  // Files.
  void StartFetch(const FetchPlan& plan);
  void GiveUpFetches();
  std::string ExistingWorkDir(const std::string& user, const model::ContainerId& id) const;
  void RemoveTrees(std::vector<std::string> paths, std::function<void()> done = nullptr);
  void LogsAreHandled(const model::ApplicationId& app, const std::string& error);
  void KeepLogs(const model::ApplicationId& app);
  void LogsHaveLeft(const model::ApplicationId& app);
  void ScheduleLogRemoval(const model::ApplicationId& app, base::WallTime when);

  Environment env_;
  Settings settings_;
  endpoints::yarn::NodeIdentity identity_;
  fairlead::nm::Nm core_;
  StateWriter state_;
  std::vector<env::UnreadRow> unread_;
  NodeKeys keys_;
  AppTokens app_tokens_;
  ContainerService service_;
  TrackerClient tracker_;
  std::deque<model::nm::Event> events_;
  bool pumping_ = false;
  env::Timer timer_{env_.loop};
  bool port_remembered_ = false;
  base::WallTime started_;
  std::map<model::nm::ResourceNumber, FetchPlan> fetches_;  // under way
  std::optional<LogGathering> logs_;                        // none: logs stay on the node
  std::function<void(int, const std::string&)> on_exit_;
  env::Alive alive_;
};

}  // namespace fairlead::process::nm
