#include "process/driver/executor_fleet.h"

#include <algorithm>
#include <cstring>

namespace fairlead::process::driver {

namespace mt = model::tasks;

namespace {
/// How long the reason of a lost executor may take: its container's end comes with a heartbeat of its node.
constexpr base::Duration kReasonWait = base::Duration::Seconds(5);
/// All are of one kind.
constexpr int32_t kExecutors = 1;

/// An exit status as people read it: shells and nodes say 128 + N for the end by signal N.
std::string StatusText(int32_t status) {
  const char* const signal = status > 128 && status < 160 ? ::sigabbrev_np(status - 128) : nullptr;
  return std::to_string(status) + (signal == nullptr ? "" : " (SIG" + std::string(signal) + ")");
}
}  // namespace

ExecutorFleet::ExecutorFleet(env::Loop& loop, env::Net& net, JobDriver& driver, FleetSettings settings,
                             Callbacks callbacks)
    : loop_(loop),
      net_(net),
      driver_(driver),
      lost_work_(loop, driver.core()),
      settings_(std::move(settings)),
      callbacks_(std::move(callbacks)) {}

ExecutorFleet::~ExecutorFleet() {
  alive_.End();
  Close();
}

void ExecutorFleet::Close() {
  tick_timer_.Stop();
  server_.reset();
  racks_.reset();
  master_.reset();
}

base::Status ExecutorFleet::Start() {
  ExecutorServer::Callbacks callbacks;
  callbacks.admit = [this](const wire::engine::Hello& hello) -> base::Result<ExecutorInfo> {
    const std::string host = master_->HostOf(hello.executor_id);
    if (host.empty()) return base::Error{"there is no container of executor " + hello.executor_id};
    ExecutorState& state = executors_[hello.executor_id];
    if (state.connected) return base::Error{"executor " + hello.executor_id + " is connected already"};
    return ExecutorInfo{
        hello.executor_id,   host, "", settings_.cores, hello.shuffle_host, hello.shuffle_port, hello.serves_own_files,
        hello.service_merges};
  };
  callbacks.on_ready = [this](const std::string& id, mt::ExecutorIndex index) {
    executors_[id] = {id, index, true, false, loop_.Now()};
    callbacks_.on_news("executor " + id + " is ready on " + master_->HostOf(id));
  };
  callbacks.on_lost = [this](const std::string& id, mt::ExecutorIndex index, const std::string& reason) {
    return OnLost(id, index, reason);
  };
  server_ = std::make_unique<ExecutorServer>(loop_, net_, driver_, settings_.secret, settings_.build_id, callbacks);
  base::Result<env::Endpoint> address = server_->Listen({settings_.host, 0});
  if (!address) return base::Error{"cannot listen on " + settings_.host + ": " + address.error().message};
  address->host = settings_.host;

  ExecutorLaunch launch = callbacks_.make_launch(*address);
  size_ = model::Resources::Of(launch.memory_mib, launch.cores);
  application::YarnMaster::Callbacks master;
  master.make_launch = [launch = std::move(launch)](const application::ExecutorContainer& executor) {
    return LaunchContext(launch, executor);
  };
  master.on_executor_ended = [this](const application::ExecutorEnd& end) { OnEnded(end); };
  // With executors at work it may be for now only: the node that was large enough may come back.
  master.on_refused = [this](const std::string& reason) {
    if (executors_.empty()) callbacks_.on_failed("the resource manager gives no such executors: " + reason);
  };
  master.on_dismissed = [this](const std::string& reason) { callbacks_.on_failed(reason); };
  master.progress = callbacks_.progress;
  master.losses = [this] { return Losses(); };
  master_ = std::make_unique<application::YarnMaster>(loop_, net_, settings_.resource_managers, settings_.am_rm_token,
                                                      std::move(master));
  if (!settings_.resource_manager_clients.empty()) {
    racks_ = std::make_unique<ClusterRacks>(
        loop_, net_, settings_.resource_manager_clients, settings_.user,
        [this](const std::string& host, const std::string& rack) { OnRack(host, rack); });
  }
  if (settings_.gang) master_->SetGang(kExecutors, settings_.executors_min);
  driver_.AddListener(this);
  driver_.AddListener(&lost_work_);
  master_->Register(settings_.host, address->port, settings_.tracking_url, [this](base::Status status) {
    if (!status.ok()) callbacks_.on_failed("cannot register at the resource manager: " + status.error().message);
  });
  if (settings_.places_wait.ns == 0) {
    MayAsk();
  } else {
    loop_.After(settings_.places_wait, alive_([this] { MayAsk(); }));
  }
  Tick();
  return {};
}

bool ExecutorFleet::OnLost(const std::string& id, mt::ExecutorIndex index, const std::string& reason) {
  const auto found = executors_.find(id);
  if (found == executors_.end()) return false;
  found->second.connected = false;
  if (found->second.dismissed || finishing_) {
    driver_.RemoveExecutor(index, mt::LossKind::kKilled, false, "given back");
    executors_.erase(found);
    return true;
  }
  // The container's end tells who is to blame; without it in time the connection's end must do.
  loop_.After(kReasonWait, alive_([this, id, index, reason] {
                const auto still = executors_.find(id);
                if (still == executors_.end() || still->second.connected) return;
                executors_.erase(still);
                driver_.RemoveExecutor(index, mt::LossKind::kProcessLost, false, reason);
                if (master_) master_->Release(id);
              }));
  return true;
}

void ExecutorFleet::OnEnded(const application::ExecutorEnd& end) {
  if (finishing_) return;
  const std::string& id = end.executor.executor_id;
  const bool not_by_app = end.IsClustersDoing();
  const auto found = executors_.find(id);
  const bool dismissed = found != executors_.end() && found->second.dismissed;
  const bool busy = found != executors_.end() && driver_.Busy(found->second.index);
  const std::string story = "container of executor " + id + ", " + end.executor.container_id + ", ended with status " +
                            StatusText(end.exit_status) + (end.diagnostics.empty() ? "" : ": " + end.diagnostics);
  if (found != executors_.end()) {
    const mt::LossKind kind = dismissed    ? mt::LossKind::kKilled
                              : not_by_app ? mt::LossKind::kExitedNotByApp
                                           : mt::LossKind::kExitedByApp;
    const mt::ExecutorIndex index = found->second.index;
    executors_.erase(found);
    driver_.RemoveExecutor(index, kind, false, story);
  }
  if (dismissed) return;
  callbacks_.on_news(story);
  // What crashed under a task counts against that task's tries; this is about executors that cannot even start.
  if (not_by_app || busy) return;
  if (++failures_ > std::max(3, 2 * settings_.executors_max)) {
    callbacks_.on_failed("too many executors failed; the last: " + story);
  }
}

void ExecutorFleet::OnEffect(const mt::Effect& effect) {
  if (const auto* const demand = std::get_if<mt::DemandChanged>(&effect)) {
    demand_ = demand->pending + demand->running;
    Resize();
  } else if (const auto* const begun = std::get_if<mt::StageSubmitted>(&effect)) {
    tasks::StagePlaces places = driver_.core().PlacesOf(begun->stage, begun->attempt);
    if (places.tasks > 0) places_[{begun->stage, begun->attempt}] = std::move(places);
    AskNearData();
    MayAsk();
  } else if (const auto* const ended = std::get_if<mt::StageCompleted>(&effect)) {
    if (places_.erase({ended->stage, ended->attempt}) > 0) AskNearData();
  }
}

std::map<std::string, base::Duration> ExecutorFleet::Losses() const {
  std::map<std::string, base::Duration> losses;
  for (const auto& [id, state] : executors_) {
    if (state.connected) losses[id] = lost_work_.Of(state.index);
  }
  return losses;
}

void ExecutorFleet::OnRack(const std::string& host, const std::string& rack) {
  driver_.KnowRack(host, rack);
  if (host_racks_.insert_or_assign(host, rack).second) AskNearData();
}

void ExecutorFleet::AskNearData() {
  if (!master_ || finishing_) return;
  application::WantedPlaces wanted;
  for (const auto& [stage, places] : places_) {
    wanted.tasks += places.tasks;
    for (const auto& [host, tasks] : places.hosts) wanted.hosts[host] += tasks;
  }
  std::map<std::string, std::string> racks;
  for (const auto& [host, tasks] : wanted.hosts) {
    if (const auto rack = host_racks_.find(host); rack != host_racks_.end()) racks.insert(*rack);
  }
  master_->SetPlaces(kExecutors, settings_.cores, std::move(wanted), std::move(racks));
}

void ExecutorFleet::MayAsk() {
  if (std::exchange(may_ask_, true)) return;
  Resize();
}

/// As many executors as could run tasks now, within the limits; fewer only when they have been idle for long (Tick).
void ExecutorFleet::Resize() {
  if (!master_ || finishing_ || !may_ask_) return;
  const int64_t wanted = (demand_ + settings_.cores - 1) / settings_.cores;
  const int32_t target = static_cast<int32_t>(
      std::clamp<int64_t>(wanted, std::max<int64_t>(settings_.executors_min, target_), settings_.executors_max));
  SetTarget(target);
}

void ExecutorFleet::SetTarget(int32_t target) {
  target_ = target;
  master_->SetTarget(kExecutors, size_, target);
}

/// Once a second: executors idle for long are given back.
void ExecutorFleet::Tick() {
  tick_timer_.After(base::Duration::Seconds(1), [this] { Tick(); });
  const std::vector<mt::ExecutorIndex> removable = driver_.core().Removable();
  const int64_t wanted = (demand_ + settings_.cores - 1) / settings_.cores;
  for (auto& [id, state] : executors_) {
    if (!state.connected || state.dismissed) continue;
    if (!std::binary_search(removable.begin(), removable.end(), state.index)) {
      state.idle_since = loop_.Now();
      continue;
    }
    if (loop_.Now() - state.idle_since < settings_.idle_max ||
        target_ <= std::max<int64_t>(settings_.executors_min, wanted)) {
      continue;
    }
    state.dismissed = true;
    driver_.Decommission(state.index);
    SetTarget(target_ - 1);
    server_->Dismiss(state.index, "idle");
    master_->Release(id);
  }
}

void ExecutorFleet::Finish(const std::string& error, std::function<void()> done) {
  finishing_ = true;
  server_->ShutDown(error.empty() ? "the job is done" : "the job failed");
  master_->Finish(error.empty(), error, "", std::move(done));
}

}  // namespace fairlead::process::driver
