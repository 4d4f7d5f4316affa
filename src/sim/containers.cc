#include "sim/containers.h"

#include <cstdio>

namespace fairlead::sim {
namespace {

namespace nm = model::nm;

/// Numbers after `word` in a launch script made from MasterCommand or TaskCommand.
bool FindCommand(const std::string& script, const char* word, int& first, int* second) {
  const size_t at = script.find(word);
  if (at == std::string::npos) return false;
  const char* rest = script.c_str() + at + std::string_view(word).size();
  if (second == nullptr) return std::sscanf(rest, " %d", &first) == 1;
  return std::sscanf(rest, " %d %d", &first, second) == 2;
}

}  // namespace

/// One life of the agent's view of its host.
class SimContainers final : public process::nm::Containers {
 public:
  SimContainers(ContainerHost& host, env::Loop& loop) : host_(host), loop_(loop) {}
  ~SimContainers() override {
    if (host_.agent_loop_ != &loop_) return;
    host_.events_ = nullptr;
  }

  void Start(process::nm::ContainerEvents* events) override {
    host_.events_ = events;
    host_.agent_loop_ = &loop_;
  }
  void Launch(process::nm::LaunchPlan plan) override { host_.Launch(std::move(plan)); }
  void Attach(const nm::ContainerSpec& spec) override {
    const auto found = host_.processes_.find(spec.id);
    if (found == host_.processes_.end()) return host_.Tell(nm::ContainerAbsent{spec.id});
    if (found->second.running) return host_.Tell(nm::ContainerRunning{spec.id, 1});
    host_.Tell(nm::ContainerExited{spec.id, found->second.exit_code, found->second.cause, "", 0});
  }
  void Signal(const model::ContainerId& id, nm::SignalKind kind) override {
    if (kind == nm::SignalKind::kTerminate || kind == nm::SignalKind::kKill) {
      host_.End(id, kind == nm::SignalKind::kKill ? 137 : 143, nm::EndCause::kExit);
    }
  }
  void Resize(const model::ContainerId&, const model::Resources&) override {}
  void Forget(const model::ContainerId& id) override { host_.processes_.erase(id); }

 private:
  ContainerHost& host_;
  env::Loop& loop_;
};

ContainerHost::ContainerHost(env_sim::World& world, env_sim::Machine& apps, env::Endpoint scheduler, std::string name,
                             const std::map<int, JobSpec>& jobs, Ledger& ledger)
    : world_(world),
      apps_(apps),
      scheduler_(std::move(scheduler)),
      name_(std::move(name)),
      jobs_(jobs),
      ledger_(ledger) {}

ContainerHost::~ContainerHost() = default;

std::unique_ptr<process::nm::Containers> ContainerHost::NewPort(env::Loop& agent_loop) {
  return std::make_unique<SimContainers>(*this, agent_loop);
}

void ContainerHost::Tell(nm::Event event) {
  if (events_ == nullptr) return;
  agent_loop_->Post([this, event = std::move(event), events = events_]() mutable {
    if (events_ == events) events_->OnContainerEvent(std::move(event));
  });
}

void ContainerHost::Launch(process::nm::LaunchPlan plan) {
  const model::ContainerId id = plan.id;
  Process& process = processes_[id];
  process = Process{};
  process.plan = std::move(plan);
  process.running = true;
  ledger_.ProcessStarted(id, name_, process.plan.resources);
  Tell(nm::ContainerRunning{id, 1});
  int job = 0;
  int task = 0;
  if (FindCommand(process.plan.script, "simulate-master", job, nullptr)) {
    StartMaster(process, job);
  } else if (FindCommand(process.plan.script, "simulate-task", job, &task)) {
    StartTask(process, job, task);
  } else {
    End(id, 127, nm::EndCause::kExit);
  }
}

void ContainerHost::StartMaster(Process& process, int job) {
  process.is_master = true;
  const model::ContainerId id = process.plan.id;
  const auto credentials = endpoints::yarn::ParseCredentials(process.plan.tokens);
  endpoints::yarn::RpcToken token;
  if (credentials.ok()) {
    for (const auto& [alias, candidate] : credentials->tokens) {
      if (candidate.kind == "YARN_AM_RM_TOKEN") token = candidate;
    }
  }
  if (token.kind.empty()) {
    ledger_.Violation(ToString(id) + " got no AMRM token");
    return End(id, 1, nm::EndCause::kExit);
  }
  process.master = std::make_unique<Master>(world_, apps_, scheduler_, jobs_.at(job), id.attempt, token, ledger_,
                                            [this, id](int code) { End(id, code, nm::EndCause::kExit); });
}

void ContainerHost::StartTask(Process& process, int job, int task) {
  const model::ContainerId id = process.plan.id;
  const JobSpec& spec = jobs_.at(job);
  const bool fails = world_.rng().Chance(spec.task_failure);
  const base::Duration time{spec.task_time.ns / 2 + world_.rng().Between(0, spec.task_time.ns)};
  process.end_timer = apps_.loop().After(time, [this, id, task, fails] {
    if (fails) {
      ++world_.counts()["task fails"];
    } else {
      ledger_.TaskDone(id.attempt.app, task);
    }
    End(id, fails ? 1 : 0, nm::EndCause::kExit);
  });
}

void ContainerHost::End(const model::ContainerId& id, int exit_code, nm::EndCause cause) {
  const auto found = processes_.find(id);
  if (found == processes_.end() || !found->second.running) return;
  Process& process = found->second;
  process.running = false;
  process.exit_code = exit_code;
  process.cause = cause;
  apps_.loop().Cancel(process.end_timer);
  if (process.master) {
    // Destroyed in a later turn: it may be the caller.
    std::shared_ptr<Master> master = std::move(process.master);
    apps_.loop().Post([master] {});
  }
  ledger_.ProcessEnded(id);
  Tell(nm::ContainerExited{id, exit_code, cause, "", 0});
}

void ContainerHost::Die() {
  // What the host's disk knows of a start outlives it; the processes and their exit codes do not.
  for (auto& [id, process] : processes_) {
    if (!process.running) continue;
    process.running = false;
    process.exit_code = model::nm::kExitLost;
    process.cause = nm::EndCause::kLost;
    process.master.reset();
  }
  events_ = nullptr;
  ledger_.HostDied(name_);
}

bool ContainerHost::KillOneTask() {
  for (auto& [id, process] : processes_) {
    if (!process.running || process.is_master) continue;
    End(id, 137, nm::EndCause::kExit);
    return true;
  }
  return false;
}

void SimLocalizer::Fetch(process::nm::FetchPlan plan, std::function<void(process::nm::Fetched)> done) {
  loop_.Post([plan = std::move(plan), done = std::move(done)] {
    done({plan.directory + "/" + plan.resource.link, plan.resource.size, ""});
  });
}

}  // namespace fairlead::sim
