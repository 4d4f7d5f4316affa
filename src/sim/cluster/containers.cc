#include "sim/cluster/containers.h"

#include <cstdio>
#include <cstring>

#include "sim/cluster/count_driver.h"
#include "sim/cluster/count_executor.h"

namespace fairlead::sim {
namespace {

namespace nm = model::nm;

/// What follows `word` in a launch script; nullptr: it is not there.
const char* Find(const char* script, const char* word) {
  const char* const at = std::strstr(script, word);
  return at == nullptr ? nullptr : at + std::strlen(word);
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
    env_sim::FaultCounts& counts = host_.world_.counts();
    if (found == host_.processes_.end()) {
      ++counts["container not yet launched when its agent died"];
      return host_.Tell(nm::ContainerAbsent{spec.id});
    }
    if (found->second.running) {
      ++counts["container outlived its agent"];
      return host_.Tell(nm::ContainerRunning{spec.id, 1});
    }
    ++counts["container ended while its agent was away"];
    host_.Tell(nm::ContainerExited{spec.id, found->second.exit_code, found->second.cause, "", 0});
  }
  void Signal(const model::ContainerId& id, nm::SignalKind kind) override {
    if (kind == nm::SignalKind::kTerminate || kind == nm::SignalKind::kKill) {
      host_.CheckOrderedEnd(id);
      host_.End(id, kind == nm::SignalKind::kKill ? 137 : 143, nm::EndCause::kExit);
    }
  }
  void Link(const model::ContainerId&, const std::string&, const std::string&, std::vector<nm::Link>) override {}
  void Resize(const model::ContainerId&, const model::Resources&) override {}
  void Forget(const model::ContainerId& id) override { host_.processes_.erase(id); }

 private:
  ContainerHost& host_;
  env::Loop& loop_;
};

ContainerHost::ContainerHost(env_sim::World& world, Place place, const std::map<int, JobSpec>& jobs, Ledger& ledger)
    : world_(world), place_(std::move(place)), jobs_(jobs), ledger_(ledger) {}

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
  ledger_.ProcessStarted(id, place_.name, process.plan.resources);
  Tell(nm::ContainerRunning{id, 1});
  int job = 0;
  int task = 0;
  char driver[64];
  char executor[16];
  const char* const script = process.plan.script.c_str();
  if (const char* at = Find(script, "simulate-driver"); at && std::sscanf(at, " %d", &job) == 1) {
    process.is_driver = true;
    StartMaster(process, jobs_.at(job));
  } else if (at = Find(script, "simulate-master"); at && std::sscanf(at, " %d", &job) == 1) {
    StartMaster(process, jobs_.at(job));
  } else if (at = Find(script, "simulate-task"); at && std::sscanf(at, " %d %d", &job, &task) == 2) {
    StartTask(process, job, task);
  } else if (at = Find(script, "simulate-executor");
             at && std::sscanf(at, " %d %63s %15s", &job, driver, executor) == 3) {
    StartExecutor(process, jobs_.at(job), driver, executor);
  } else {
    End(id, 127, nm::EndCause::kExit);
  }
}

void ContainerHost::StartMaster(Process& process, const JobSpec& job) {
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
  const auto exit = [this, id](int code) { End(id, code, nm::EndCause::kExit); };
  if (job.kind == JobSpec::Kind::kCount) {
    process.program =
        std::make_unique<CountDriver>(world_, place_.apps, place_.schedulers, job, id.attempt, token, ledger_, exit);
  } else {
    process.program =
        std::make_unique<Master>(world_, place_.apps, place_.schedulers, job, id.attempt, token, ledger_, exit);
  }
}

void ContainerHost::StartExecutor(Process& process, const JobSpec& job, const std::string& driver,
                                  const std::string& executor) {
  const model::ContainerId id = process.plan.id;
  const auto credentials = endpoints::yarn::ParseCredentials(process.plan.tokens);
  const auto address = env::ParseEndpoint(driver);
  if (!credentials.ok() || !credentials->secrets.contains(kExecutorSecret) || !address) {
    ledger_.Violation(ToString(id) + " cannot find its driver");
    return End(id, 1, nm::EndCause::kExit);
  }
  CountExecutor::Settings settings;
  settings.id = executor;
  settings.application = ToString(id.attempt.app);
  settings.secret = credentials->secrets.at(kExecutorSecret);
  settings.driver = *address;
  settings.shuffle_service = place_.shuffle_service;
  settings.host = place_.name;
  settings.local_directory = process.plan.app_dirs.front() + "/blockmgr-" + ToString(id);
  settings.job = job;
  settings.attempt = id.attempt;
  settings.bug = place_.bug;
  process.program = std::make_unique<CountExecutor>(world_, place_.apps, place_.disk, std::move(settings), ledger_,
                                                    [this, id](int code) { End(id, code, nm::EndCause::kExit); });
}

void ContainerHost::StartTask(Process& process, int job, int task) {
  const model::ContainerId id = process.plan.id;
  const JobSpec& spec = jobs_.at(job);
  const bool fails = world_.rng().Chance(spec.task_failure);
  const base::Duration time{spec.task_time.ns / 2 + world_.rng().Between(0, spec.task_time.ns)};
  process.end_timer = place_.apps.loop().After(time, [this, id, task, fails] {
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
  place_.apps.loop().Cancel(process.end_timer);
  if (process.program) {
    // Destroyed in a later turn: it may be the caller.
    std::shared_ptr<Program> program = std::move(process.program);
    place_.apps.loop().Post([program] {});
  }
  ledger_.ProcessEnded(id);
  Tell(nm::ContainerExited{id, exit_code, cause, "", 0});
}

// Where nothing befalls but changes of the leader, a task runs to its end.
void ContainerHost::CheckOrderedEnd(const model::ContainerId& id) {
  const auto found = processes_.find(id);
  if (found == processes_.end() || !found->second.running || found->second.end_timer == 0) return;
  ledger_.TaskKilled(id);
}

void ContainerHost::Die() {
  // What the host's disk knows of a start outlives it; the processes and their exit codes do not.
  for (auto& [id, process] : processes_) {
    if (!process.running) continue;
    process.running = false;
    process.exit_code = model::kExitLost;
    process.cause = nm::EndCause::kLost;
    process.program.reset();
  }
  events_ = nullptr;
  ledger_.HostDied(place_.name);
}

bool ContainerHost::KillOne(bool driver) {
  for (auto& [id, process] : processes_) {
    if (!process.running || (driver ? !process.is_driver : process.is_master)) continue;
    End(id, 137, nm::EndCause::kExit);
    return true;
  }
  return false;
}

void ContainerHost::CheckInvariants() {
  for (const auto& [id, process] : processes_) {
    if (!process.program) continue;
    const std::string wrong = process.program->CheckInvariants();
    if (!wrong.empty()) ledger_.Violation(ToString(id) + ": " + wrong);
  }
}

void SimLocalizer::Fetch(process::nm::FetchPlan plan, std::function<void(process::nm::Fetched)> done) {
  const base::Duration time = base::Duration::Millis(world_.rng().Between(0, 2000));
  loop_.After(time, [plan = std::move(plan), done = std::move(done)] {
    done({plan.directory + "/" + plan.resource.link, plan.resource.size, ""});
  });
}

void SimDirs::Remove(std::vector<std::string> paths, std::function<void(std::vector<std::string>)> done) {
  auto errors = std::make_shared<std::vector<std::string>>();
  loop_.Offload(
      [&disk = disk_, paths = std::move(paths), errors] {
        for (const std::string& path : paths) {
          if (base::Status removed = disk.RemoveTree(path); !removed) errors->push_back(removed.error().message);
        }
      },
      [done = std::move(done), errors] { done(std::move(*errors)); });
}

}  // namespace fairlead::sim
