#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/nm.h"
#include "nm/config.h"
#include "nm/resource_cache.h"
#include "nm/rm_link.h"

namespace fairlead::nm {

using EffectSink = std::vector<model::nm::Effect>;

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
/// One link that a container was to have.
struct LinkStatus {
  std::string link;
  bool ready = false;
  std::string error;  // not empty: there will be none
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
  /// Whether the resource manager has taken this node (container requests wait for it).
  bool ready() const { return link_.registered() || ever_registered_; }
  int64_t rm_identifier() const { return rm_identifier_; }
  /// Whether a container waits for this resource to be localized.
  bool IsAwaited(model::nm::ResourceNumber number) const;
  const std::string* UserOf(const model::ApplicationId& app) const;
  /// An application that is not forgotten, or nullptr.
  const model::nm::AppRecord* FindApp(const model::ApplicationId& app) const;

 private:
  struct Container {
    model::nm::ContainerRecord record;
    model::nm::ContainerState state = model::nm::ContainerState::kNew;
    std::vector<std::pair<std::string, model::nm::ResourceNumber>> resources;  // link, number
    std::set<model::nm::ResourceNumber> missing;
    bool attaching = false;
    bool reported = false;  // the resource manager has heard of its end
    bool services_told = false;
    bool has_room = false;  // its process runs or may run
    int64_t pid = 0;
    base::Instant kill_at = base::Instant::Max();
    base::Instant relaunch_at = base::Instant::Max();
    std::vector<base::WallTime> relaunch_times;
    std::map<std::string, std::string> failed_links;  // of localize calls -> why
    base::Instant localization_began;
    int64_t counters[5] = {};  // bytes missed, bytes cached, files missed, files cached, ms
    model::nm::ContainerUsage usage;
    bool measured_anew = false;  // since the last heartbeat
  };
  struct App {
    model::nm::AppRecord record;
    model::nm::AppState state = model::nm::AppState::kInitializing;
    std::set<model::ContainerId> live;
    std::set<model::ContainerId> all;  // since this application came, also forgotten ones
  };
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
  void Begin(Container& container);
  void Localize(Container& container);
  bool Acquire(Container& container, const model::nm::LocalResource& resource);
  void ResourceFailed(Container& container, const std::string& report, model::nm::ResourceNumber number);
  std::string FailureReport(const model::nm::ResourceFetched& event) const;

  // Calls about running containers (container_changes.cc).
  std::optional<std::string> NotRunning(const model::ApplicationAttemptId& attempt, const model::ContainerId& id,
                                        const char* operation) const;
  void PersistChange(const Container& container, PendingChange change);
  void ChangeStored(const PendingChange& change, const model::nm::Persisted& event);
  void LocalizeMore(Container& container, const std::vector<model::nm::LocalResource>& resources);
  void AddReadyLinks(const Container& container, model::nm::ResourceNumber number);
  void RestartProcess(Container& container);
  bool StartAgain(Container& container, const model::nm::ContainerExited& event);

  void Launch(Container& container, bool relaunch);
  void Run(Container& container, bool relaunch);
  void LaunchWaiting();
  bool HasRoom(const model::Resources& wanted) const;
  void Kill(Container& container, int32_t exit_status, const std::string& reason);
  void Terminate(Container& container);
  void SendSignal(Container& container, model::nm::SignalCommand command);
  void ExitedByItself(Container& container, const model::nm::ContainerExited& event, int64_t pid);
  void ExitedAfterKill(Container& container, const model::nm::ContainerExited& event);
  bool RelaunchLater(Container& container, int32_t exit_code);
  void Finish(Container& container);
  void Forget(const model::ContainerId& id);
  void KeepToken(const model::ContainerId& id, base::WallTime expires);
  void EnforceMemory(Container& container);
  std::string OverLimitText(const Container& container, int64_t pid, bool is_virtual, int64_t physical,
                            int64_t virtual_bytes) const;
  void AddDiagnostics(Container& container, const std::string& text) const;
  void AddExitDiagnostics(Container& container, const model::nm::ContainerExited& event) const;
  void SetState(Container& container, model::nm::ContainerState state, const std::string& detail = {});
  void Store(const Container& container);
  Container* FindContainer(const model::ContainerId& id);
  const Container* FindContainer(const model::ContainerId& id) const;
  model::nm::ContainerReport Report(const Container& container) const;
  bool IsRelaunch(const model::ContainerId& id) const { return seen_.contains(id); }

  // Applications (nm.cc).
  App& OpenApp(const model::nm::ContainerSpec& spec);
  void GiveServiceData(App& app, const model::nm::ContainerSpec& spec);
  void FinishApp(App& app, const std::string& why);
  void MaybeCleanApp(App& app);
  void SetState(App& app, model::nm::AppState state);
  void StoreApp(const App& app);

  // The resource manager (nm.cc).
  void SpeakToRm();
  void SendRegister();
  void SendHeartbeat();
  void MarkReported();
  void RunDeadlines();
  void MaybeExit();
  void FlushRows();
  void Put(std::string table, std::string key, std::string value);
  void Remove(std::string table, std::string key);

  const Config config_;
  model::Resources capacity_;
  ResourceCache cache_;
  RmLink link_;
  std::map<model::ApplicationId, App> apps_;
  std::map<model::ContainerId, Container> containers_;
  std::map<model::ContainerId, base::WallTime> seen_;    // started here -> expiry of its token
  std::map<model::ContainerId, base::Instant> stopped_;  // forgotten -> until when it counts as recently stopped
  std::map<uint64_t, PendingStart> pending_starts_;      // by transaction
  std::map<uint64_t, PendingChange> pending_changes_;    // by transaction
  std::set<model::ContainerId> forget_when_done_;
  std::vector<model::ContainerId> waiting_for_room_;  // oldest first
  std::vector<model::ContainerId> in_flight_;         // ends told in the call under way
  std::vector<model::ContainerId> increased_;         // not yet told
  size_t increased_in_flight_ = 0;
  std::vector<model::nm::StoreRow> rows_;  // of this Step
  uint64_t next_txn_ = 1;
  int64_t rm_identifier_ = 0;
  bool ever_registered_ = false;
  bool healthy_ = true;
  std::string health_report_;
  base::WallTime health_checked_;
  model::nm::Usage usage_;
  base::Instant next_cache_check_;
  bool stopping_ = false;
  base::Instant stop_by_;  // at the latest
  bool keep_containers_ = false;
  bool unregister_ = false;
  bool exited_ = false;
  std::string stop_reason_;
  int32_t stop_code_ = 0;
  Counters counters_;

  // Valid during one Step.
  base::Instant now_;
  base::WallTime wall_;
  EffectSink* out_ = nullptr;
};

}  // namespace fairlead::nm
