#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/nm.h"
#include "nm/apps.h"
#include "nm/config.h"
#include "nm/container.h"
#include "nm/resource_cache.h"
#include "nm/rm_link.h"
#include "nm/room.h"
#include "nm/rows.h"
#include "nm/starts.h"

namespace fairlead::nm {

struct ContainerView {
  model::ContainerId id;
  model::nm::ContainerState state = model::nm::ContainerState::kNew;
  std::string user;
  model::Resources resources;
  int32_t exit_status = model::kExitInvalid;
  std::string diagnostics;
  int64_t pid = 0;
  bool is_master = false;
  model::MeasuredUse use;
  base::WallTime started;
};
struct AppView {
  model::ApplicationId id;
  model::nm::AppState state = model::nm::AppState::kInitializing;
  std::string user;
  std::string view_acl;
  std::vector<model::ContainerId> containers;
};
struct Counters {
  int64_t launched = 0;
  int64_t completed = 0;
  int64_t failed = 0;
  int64_t killed = 0;
  int64_t heartbeats = 0;
  int64_t heartbeat_failures = 0;
  int64_t registrations = 0;
  int64_t resources_fetched = 0;
  int64_t resource_hits = 0;
};
struct View {
  std::vector<AppView> apps;              // by id
  std::vector<ContainerView> containers;  // by id
  Counters counters;
  model::Resources capacity;
  model::Resources allocated;
  int64_t cache_bytes = 0;
  bool registered = false;
  bool healthy = true;
  std::string health_report;
  base::WallTime health_checked;
  int64_t rm_identifier = 0;
};

/// What decides on one node: which container is localized, started, signalled, ended, forgotten, what the resource
/// manager hears and when. States and rules are those of Hadoop's NodeManager (ContainerImpl, ApplicationImpl,
/// NodeStatusUpdaterImpl, ContainerManagerImpl); what is ours: starts and ends are reported at once, not at the next
/// interval.
///
/// Invariants: a container is launched at most once at a time and ends exactly once; a start is acknowledged only after
/// it is stored; an ended container is remembered until the resource manager says that its master knows, or its
/// application is over.
class Nm {
 public:
  explicit Nm(Config config);

  /// Applies `events` in order at `now` and appends the effects to `out`. O(log n) per event; a heartbeat is O(live
  /// containers).
  void Step(base::Instant now, base::WallTime wall, std::span<const model::nm::Event> events, EffectSink& out);
  /// When Step wants to be called again at the latest, even without events.
  base::Instant NextDeadline() const;
  /// Empty when all books agree, else what differs. O(state).
  std::string CheckInvariants() const;
  /// Equal states give equal hashes on every machine. O(state).
  uint64_t StateHash() const;
  View GetView() const;

  /// getContainerStatuses for one container: the report, or why not.
  base::Result<model::nm::ContainerReport> Status(const model::ApplicationAttemptId& attempt,
                                                  const model::ContainerId& id) const;
  /// getLocalizationStatuses for one container.
  base::Result<std::vector<LinkStatus>> Localization(const model::ApplicationAttemptId& attempt,
                                                     const model::ContainerId& id) const;
  int64_t rm_identifier() const { return link_.rm_identifier(); }
  const ResourceCache& resources() const { return cache_; }
  /// An application that is not forgotten, or nullptr.
  const model::nm::AppRecord* FindApp(const model::ApplicationId& app) const;

 private:
  struct PendingStart {
    model::nm::CallAnswer answer;
    std::vector<model::ContainerId> containers;
  };
  /// A localize or restartContainer call whose row is under way.
  struct PendingChange {
    model::nm::CallToken call = 0;
    model::ContainerId container;
    std::vector<model::nm::LocalResource> resources;  // none: a restart
  };
  using Pending = std::variant<PendingStart, PendingChange>;
  /// The agent is about to end, and how.
  struct Stopping {
    bool keep_containers = false;
    bool unregister = false;
    model::nm::Exit exit = {};
    base::Instant at_the_latest = {};
  };

  // Events.
  void On(const model::nm::Started& event);
  void On(const model::nm::Persisted& event);
  void On(const model::nm::StartContainers& event);
  void On(const model::nm::StopContainers& event);
  void On(const model::nm::SignalContainer& event);
  void On(const model::nm::UpdateContainers& event);
  void On(const model::nm::ResourceFetched& event);
  void On(const model::nm::ContainerRunning& event);
  void On(const model::nm::LaunchFailed& event);
  void On(const model::nm::ContainerExited& event);
  void On(const model::nm::ContainerAbsent& event);
  void On(const model::nm::Usage& event);
  void On(const model::nm::Health& event);
  void On(const model::nm::AppCleaned& event);
  void On(const model::nm::LogsHandled& event);
  void On(const model::nm::Registered& event);
  void On(const model::nm::HeartbeatAnswered& event);
  void On(const model::nm::RmCallFailed& event);
  void On(const model::nm::Shutdown& event);
  void On(const model::nm::Tick&) {}
  void On(const model::nm::LocalizeContainer& event);
  void On(const model::nm::RestartContainer& event);

  // Containers (containers.cc).
  std::optional<model::nm::Refusal> CheckStart(const model::ApplicationAttemptId& attempt,
                                               const model::nm::ContainerSpec& spec, bool is_start) const;
  /// The rows of a call that is answered when they are stored.
  void Commit(Rows rows, Pending pending);
  void Begin(Container& container);
  void ResourceFailed(Container& container, const std::string& report, model::nm::ResourceNumber number);
  void Launch(Container& container, bool relaunch);
  void Run(const Container& container, bool relaunch);
  void Kill(Container& container, int32_t exit_status, const std::string& reason);
  void Terminate(Container& container);
  void SendSignal(const model::ContainerId& id, model::nm::SignalCommand command);
  void ExitedByItself(Container& container, const model::nm::ContainerExited& event, int64_t pid);
  void Finish(Container& container);
  void Forget(model::ContainerId id);
  void AddDiagnostics(Container& container, const std::string& text) const;
  void SetState(Container& container, model::nm::ContainerState state, const std::string& detail = {});
  Container* FindContainer(const model::ContainerId& id);

  // Calls about running containers (container_changes.cc).
  void ChangeStored(const PendingChange& change, const model::nm::Persisted& event);
  void LocalizeMore(Container& container, const std::vector<model::nm::LocalResource>& resources);
  void AddLinks(const Container& container, model::nm::ResourceNumber number);
  bool StartAgain(Container& container, const model::nm::ContainerExited& event);

  // Applications, the resource manager, the end (nm.cc).
  void FinishApp(const model::ApplicationId& app, const std::string& why);
  void MaybeCleanApp(const model::ApplicationId& id);
  void SendRegister();
  void SendHeartbeat();
  void CallAnswered();
  void RunDeadlines();
  void Stop(Stopping how);
  void MaybeExit();

  const Config config_;
  Room room_;
  Starts starts_;
  ResourceCache cache_;
  RmLink link_;
  Apps apps_;
  std::map<model::ContainerId, Container> containers_;
  std::map<uint64_t, Pending> pending_;  // by transaction
  uint64_t next_txn_ = 1;
  Rows rows_;  // of this Step, that nobody waits for
  model::nm::Health health_;
  model::MeasuredUse node_use_;
  base::Instant next_cache_check_;
  std::optional<Stopping> stop_;
  bool exited_ = false;
  Counters counters_;

  // Valid during one Step.
  base::Instant now_;
  base::WallTime wall_;
  EffectSink* out_ = nullptr;
};

}  // namespace fairlead::nm
