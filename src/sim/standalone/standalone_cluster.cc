#include "sim/standalone/standalone_cluster.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "process/spark_master/rest_submission.h"
#include "sim/standalone/spark_release.h"
#include "wire/json/json.h"

namespace fairlead::sim {

namespace {

namespace es = endpoints::spark;
namespace sm = process::spark_master;
namespace sw = process::spark_worker;
using base::Duration;
using nlohmann::json;

constexpr Duration kSession = Duration::Seconds(2);
constexpr uint16_t kMasterPort = 7077;
constexpr uint16_t kWorkerPort = 35000;
// On two workers there is room for all that is wanted.
constexpr int32_t kCores = 5;
constexpr int kJobsMax = 4;
constexpr int kDrivers = 2;
constexpr int32_t kExecutorsMax = 3;

es::ApplicationDescription Application(int number) {
  es::ApplicationDescription application;
  application.name = "application " + std::to_string(number);
  application.user = "somebody";
  application.cores_max = kExecutorsMax;
  application.profile.cores = 1;
  application.profile.memory_mib = 512;
  application.command.main_class = "org.apache.spark.executor.CoarseGrainedExecutorBackend";
  application.command.arguments = {"--executor-id", "{{EXECUTOR_ID}}", "--app-id", "{{APP_ID}}"};
  return application;
}

/// "app-... 3" for an executor, "job-5" for a driver.
std::string NameOf(const env::SpawnRequest& request) {
  const auto after = [&](const std::string& word) {
    const auto found = std::ranges::find(request.argv, word);
    return found != request.argv.end() ? *std::next(found) : "";
  };
  const std::string executor = after("--executor-id");
  return executor.empty() ? request.argv.back() : after("--app-id") + " " + executor;
}

}  // namespace

/// Runs until a signal, a crash of its own or the end of its machine ends it.
class StandaloneSimulation::Process final : public env_sim::SimProcess {
 public:
  using Exit = std::function<void(env::ExitStatus)>;
  Process(std::multimap<std::string, Process*>& running, const std::string& name, Exit exit)
      : running_(running), at_(running.emplace(name, this)), exit_(std::move(exit)) {}
  ~Process() override {
    if (at_ != running_.end()) running_.erase(at_);
  }
  void OnSignal(int signal) override { End({0, signal}); }
  void Crash() { End({1, 0}); }

 private:
  void End(env::ExitStatus status) {
    if (!exit_) return;
    running_.erase(std::exchange(at_, running_.end()));
    std::exchange(exit_, nullptr)(status);
  }
  std::multimap<std::string, Process*>& running_;
  std::multimap<std::string, Process*>::iterator at_;
  Exit exit_;
};

StandaloneSimulation::StandaloneSimulation(env_sim::World& world, env_sim::QuorumBugs bugs)
    : world_(world), quorum_(world, kSession, bugs) {
  for (int i = 0; i < kMasters; ++i) StartMaster(world_.AddMachine("master" + std::to_string(i)));
  for (int i = 0; i < kWorkers; ++i) StartWorker(world_.AddMachine("worker" + std::to_string(i)));
  for (int i = 0; i < kDrivers; ++i) {
    drivers_.push_back(std::make_unique<SimDriver>(world_, i, kMasters, Application(i)));
  }
}

StandaloneSimulation::~StandaloneSimulation() {
  drivers_.clear();
  workers_.clear();
  supervisors_.clear();
  masters_.clear();
  // What runs there goes while it is known here.
  for (int i = 0; i < kWorkers; ++i) {
    env_sim::Machine& machine = world_.machine("worker" + std::to_string(i));
    if (machine.up()) machine.Crash(true);
  }
}

void StandaloneSimulation::Broken(const std::string& why) {
  if (wrong_.empty()) wrong_ = why;
}

// ---- daemons -------------------------------------------------------------------------------------------------------

void StandaloneSimulation::StartMaster(env_sim::Machine& machine) {
  Master& place = masters_[machine.host()];
  sm::StandaloneMaster::Options options;
  options.master.listen = {machine.host(), kMasterPort};
  options.master.host = machine.host();
  options.master.builds = {SimulatedSpark()};
  options.cluster.worker_timeout = options.cluster.recovery_timeout = Duration::Seconds(8);
  options.on_over = [this](const std::string& why) { Broken(why); };
  place.process = std::make_unique<sm::StandaloneMaster>(machine.loop(), machine.net(), log_, std::move(options));
  auto elector = quorum_.Join(machine, machine.host());
  place.elector = elector.get();
  if (const base::Status begun = place.process->Join(std::move(elector)); !begun.ok()) Broken(begun.error().message);
}

void StandaloneSimulation::StartWorker(env_sim::Machine& machine) {
  machine.SetProcessFactory([this](const env::SpawnRequest& request, Process::Exit exit) {
    const std::string name = NameOf(request);
    if (name.starts_with("app-") && running_.contains(name)) Broken("executor " + name + " runs twice");
    return std::make_unique<Process>(running_, name, std::move(exit));
  });
  if (!machine.disk().WriteFileAtomically("/job.jar", "jar").ok()) Broken("no jar");
  sw::SparkWorkerSettings settings;
  settings.listen = {machine.host(), kWorkerPort};
  settings.host = machine.host();
  for (int i = 0; i < kMasters; ++i) settings.masters.push_back({"master" + std::to_string(i), kMasterPort});
  settings.cores = kCores;
  settings.memory_mib = 16 * 1024;
  settings.work_directory = "/work";
  settings.heartbeat = Duration::Seconds(2);
  settings.launch.spark_home = SimulatedSpark().home;
  settings.launch.java = "/opt/java/bin/java";
  sw::Supervisor& supervisor = SupervisorOn(machine);
  supervisor.Attach();
  settings.id = supervisor.identity().id;
  settings.runs = supervisor.Runs();
  const auto on_given_up = [this, host = machine.host()](const std::string& why) {
    // Its host came back before the Master had given the old Worker up.
    const bool early = why.ends_with("re-register worker at same address: " + host + ":" + std::to_string(kWorkerPort));
    early ? static_cast<void>(ended_.insert(host)) : Broken(why);
  };
  auto worker = sw::SparkWorker::Start({machine.loop(), machine.net(), supervisor, machine.disk(), log_},
                                       SimulatedSpark(), settings, on_given_up);
  if (!worker.ok()) return Broken(worker.error().message);
  supervisor.SetIdentity({(*worker)->link().id(), (*worker)->link().local().port});
  workers_[machine.host()] = std::move(*worker);
}

sw::Supervisor& StandaloneSimulation::SupervisorOn(env_sim::Machine& machine) {
  std::unique_ptr<sw::Supervisor>& supervisor = supervisors_[machine.host()];
  if (supervisor == nullptr) {
    const auto over = [this, &machine] {
      machine.loop().Post([this, host = machine.host()] { supervisors_[host].reset(); });
    };
    supervisor =
        *sw::Supervisor::Start({machine.loop(), machine.net(), machine.processes(), log_}, machine.host(), {}, over);
  }
  return *supervisor;
}

sm::StandaloneMaster* StandaloneSimulation::Acting() {
  for (auto& [host, master] : masters_) {
    if (IsActing(master)) return master.process.get();
  }
  return nullptr;
}

bool StandaloneSimulation::IsActing(const Master& master) {
  return master.process && !master.process->cluster().standby() && master.elector->MayAct();
}

// ---- time and promises ---------------------------------------------------------------------------------------------

void StandaloneSimulation::Pass(Duration time) {
  const base::Instant until = world_.now() + time;
  while (world_.now() < until && wrong_.empty()) {
    const base::Instant next = std::min(until, world_.now() + Duration::Millis(100));
    world_.Script(next, [] {});  // time goes on even when nothing happens
    world_.RunUntil(
        next, [this] { return !wrong_.empty(); }, [this] { Check(); });
    for (const auto& [host, master] : masters_) {
      const std::string books = master.process ? master.process->cluster().core().CheckInvariants() : "";
      if (!books.empty()) Broken(books);
    }
    for (const auto& driver : drivers_) driver->Turn(ExecutorsOf(driver->id()));
    StartAgain();
  }
}

void StandaloneSimulation::Check() {
  int acting = 0;
  for (const auto& [host, master] : masters_) acting += IsActing(master) ? 1 : 0;
  if (acting > 1) Broken("two masters act");
  if (quorum_.foul_writes() > 0) Broken("a deposed leader has written");
  for (const auto& [host, master] : masters_) {
    if (!master.process) continue;
    for (const auto& [i, worker] : master.process->cluster().core().workers()) {
      if (worker.cores_used > worker.cores) Broken("cores of " + worker.id + " are booked twice");
    }
  }
}

/// As a service manager does it with a Worker that has ended.
void StandaloneSimulation::StartAgain() {
  for (const std::string& host : std::exchange(ended_, {})) {
    if (workers_[host] == nullptr) continue;
    ++world_.counts()["worker refused, host back too early"];
    LoseHost(host, false);
    Restart(host);
  }
}

void StandaloneSimulation::CheckWhole() {
  sm::StandaloneMaster* leader = Acting();
  if (leader == nullptr || leader->cluster().core().recovering()) {
    return Broken("nobody leads after everything was healed");
  }
  const auto alive = std::ranges::count_if(leader->cluster().core().workers(), [](const auto& worker) {
    return worker.second.state == model::standalone::WorkerState::kAlive;
  });
  if (alive != kWorkers) Broken(std::to_string(alive) + " workers are alive");
  for (const std::string& job : acknowledged_) {
    if (running_.count(job) != 1)
      Broken(job + " was acknowledged and runs " + std::to_string(running_.count(job)) + " times");
  }
  auto strangers = static_cast<size_t>(
      std::ranges::count_if(running_, [](const auto& one) { return one.first.starts_with("app-"); }));
  for (const auto& driver : drivers_) {
    if (!driver->settled()) Broken("a driver is not registered, or not heard");
    const auto has = static_cast<int32_t>(ExecutorsOf(driver->id()).size());
    strangers -= static_cast<size_t>(has);
    if (has != driver->wanted()) {
      Broken(driver->id() + " has " + std::to_string(has) + " executors and not " + std::to_string(driver->wanted()));
    }
  }
  if (strangers != 0) Broken(std::to_string(strangers) + " executors run that nobody has");
}

std::vector<std::string> StandaloneSimulation::ExecutorsOf(const std::string& application) const {
  std::vector<std::string> ids;
  const std::string prefix = application + " ";
  for (auto at = running_.lower_bound(prefix); at != running_.end() && at->first.starts_with(prefix); ++at) {
    ids.push_back(at->first.substr(prefix.size()));
  }
  return ids;
}

// ---- what people and jobs do ---------------------------------------------------------------------------------------

void StandaloneSimulation::Submit() {
  sm::StandaloneMaster* master = Acting();
  if (master == nullptr || submitted_ == kJobsMax) return;
  const std::string name = "job-" + std::to_string(submitted_++);
  process::http::Request request;
  request.method = "POST";
  request.path = "/v1/submissions/create";
  request.body =
      json({{"action", "CreateSubmissionRequest"},
            {"appResource", "file:/job.jar"},
            {"mainClass", "org.example.Job"},
            {"appArgs", {name}},
            {"clientSparkVersion", SimulatedSpark().release},
            {"environmentVariables", json::object()},
            {"sparkProperties",
             {{"spark.app.name", "job"}, {"spark.master", "spark://master:7077"}, {"spark.driver.supervise", "true"}}}})
          .dump();
  sm::RestSubmission(*master, SimulatedSpark(), 6066, [](const std::string&) {
    return std::nullopt;
  }).Handle(request, [this, name](const process::http::Response& response) {
    if (!wire::json::Parse(response.body, wire::json::kAnswer)->value("success", false)) return;
    acknowledged_.insert(name);
    ++world_.counts()["driver acknowledged"];
  });
}

void StandaloneSimulation::ChangeWish() {
  drivers_[world_.rng().Below(kDrivers)]->Want(static_cast<int32_t>(world_.rng().Between(1, kExecutorsMax)));
}

// ---- faults --------------------------------------------------------------------------------------------------------

bool StandaloneSimulation::IsUp(const std::string& host) const {
  return IsMaster(host) ? masters_.at(host).process != nullptr : workers_.at(host) != nullptr;
}

void StandaloneSimulation::Kill(const std::string& host) {
  env_sim::Machine& machine = world_.machine(host);
  machine.Stall(false);
  if (IsMaster(host)) {
    masters_[host].process.reset();
    return machine.Crash(false);
  }
  workers_[host].reset();
  if (supervisors_[host] != nullptr) supervisors_[host]->Detach();
}

void StandaloneSimulation::LoseHost(const std::string& host, bool silently) {
  env_sim::Machine& machine = world_.machine(host);
  machine.Stall(false);
  workers_[host].reset();
  supervisors_[host].reset();
  machine.Crash(silently);
}

void StandaloneSimulation::Restart(const std::string& host) {
  env_sim::Machine& machine = world_.machine(host);
  if (!machine.up()) machine.Restart();
  IsMaster(host) ? StartMaster(machine) : StartWorker(machine);
}

bool StandaloneSimulation::KillRun() {
  if (running_.empty()) return false;
  auto chosen = std::next(running_.begin(), static_cast<int64_t>(world_.rng().Below(running_.size())));
  chosen->second->Crash();
  return true;
}

void StandaloneSimulation::Heal() {
  std::vector<std::string> hosts;
  for (const auto& [host, master] : masters_) hosts.push_back(host);
  for (const auto& [host, worker] : workers_) hosts.push_back(host);
  for (const std::string& host : hosts) {
    Stall(host, false);
    if (!IsUp(host)) Restart(host);
    if (!IsMaster(host)) continue;
    Cut(host, false);
    Delay(host, {});
  }
  world_.faults() = env_sim::FaultRates{};
}

}  // namespace fairlead::sim
