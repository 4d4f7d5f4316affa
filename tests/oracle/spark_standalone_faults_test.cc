// Two Standalone Masters over one quorum, our Workers, a recorded driver and drivers on workers, by seed, with crashes,
// stalls and cuts: one master acts at a time, no executor runs twice, no core is booked twice, and no driver that was
// acknowledged is lost.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/rng.h"
#include "endpoints/spark/driver_messages.h"
#include "env_sim/sim_quorum.h"
#include "env_sim/world.h"
#include "oracle/spark_peer.h"
#include "process/spark_master/rest_submission.h"
#include "process/spark_master/standalone_master.h"
#include "process/spark_worker/spark_worker.h"
#include "process/spark_worker/supervisor.h"
#include "wire/java_stream/writer.h"

namespace fairlead::oracle {
namespace {

using base::Duration;
namespace es = endpoints::spark;
namespace js = wire::java_stream;
namespace sm = process::spark_master;
namespace sw = process::spark_worker;
namespace st = wire::spark_transport;
using nlohmann::json;

constexpr const char* kRelease = "4.3.0";
constexpr Duration kSession = Duration::Seconds(2);
constexpr int kMasters = 2;
constexpr int kWorkers = 3;
constexpr int32_t kCores = 8;
constexpr int kJobsMax = 8;  // of one core each: there is room for all of them on one worker less
constexpr size_t kExecutors = 2;

/// What runs: "app-... 3" for an executor, "job-5" for a driver.
using Running = std::multiset<std::string>;

/// A process that runs until a signal, or the end of its machine, ends it.
class Process final : public env_sim::SimProcess {
 public:
  Process(Running& running, std::string name, std::function<void(env::ExitStatus)> exit)
      : running_(running), name_(std::move(name)), exit_(std::move(exit)) {
    running_.insert(name_);
  }
  ~Process() override { Gone(); }
  void OnSignal(int signal) override {
    if (!exit_) return;
    Gone();
    std::exchange(exit_, nullptr)({0, signal});
  }

 private:
  void Gone() {
    if (!name_.empty()) running_.erase(running_.find(std::exchange(name_, "")));
  }
  Running& running_;
  std::string name_;
  std::function<void(env::ExitStatus)> exit_;
};

std::string NameOf(const env::SpawnRequest& request) {
  const auto after = [&](const std::string& word) {
    const auto found = std::ranges::find(request.argv, word);
    return found != request.argv.end() ? *std::next(found) : "";
  };
  if (const std::string executor = after("--executor-id"); !executor.empty()) return after("--app-id") + " " + executor;
  return request.argv.back();
}

/// A driver in client mode with what was recorded of one: it registers with every master, and says to whoever calls it
/// back that it knows.
class ClientDriver {
 public:
  explicit ClientDriver(env_sim::World& world) : world_(world), messages_(*ReadSparkMessages(kSparkFolder, kRelease)) {
    const auto registration = es::DecodeDriverMessage(messages_.at(2).stream);
    const es::RpcAddress address = std::get<es::RegisterApplication>(*registration).driver;
    machine_ = &world.AddMachine(address.host);
    listener_ = *machine_->net().Listen(
        {address.host, static_cast<uint16_t>(address.port)},
        [this](std::unique_ptr<env::Stream> stream) { peers_.push_back({std::make_unique<Peer>(std::move(stream))}); });
  }

  const std::string& id() const { return id_; }

  /// Looks at what came.
  void Turn() {
    for (Conversation& one : peers_) Read(one);
    std::erase_if(peers_, [](const Conversation& one) { return one.peer->closed(); });
    if (!id_.empty() || world_.now() < next_try_) return;
    next_try_ = world_.now() + Duration::Seconds(20);  // StandaloneAppClient.REGISTRATION_TIMEOUT_SECONDS
    peers_.clear();
    for (int i = 0; i < kMasters; ++i) {
      machine_->net().Connect({"master" + std::to_string(i), 7077}, Duration::Seconds(5), [this](auto stream) {
        if (!stream.ok() || !id_.empty()) return;
        peers_.push_back({std::make_unique<Peer>(std::move(*stream))});
        peers_.back().peer->Write(messages_.at(0).frame + messages_.at(2).frame);
      });
    }
  }

 private:
  struct Conversation {
    std::unique_ptr<Peer> peer;
    size_t read = 0;
  };
  void Read(Conversation& one) {
    for (; one.read < one.peer->received().size(); ++one.read) {
      const Peer::Received& message = one.peer->received()[one.read];
      if (message.class_name == std::string(kDeployMessages) + "MasterChanged") one.peer->Write(Acknowledged());
      if (!id_.empty() || message.class_name != std::string(kDeployMessages) + "RegisteredApplication") continue;
      const auto graph = js::ReadStream(message.content);
      id_ = *graph->Text(graph->RefOf(graph->Root(), "appId"));
    }
  }
  std::string Acknowledged() const {
    const auto recorded =
        std::ranges::find(messages_, std::string(kRelease) + ", MasterChangeAcknowledged", &SparkMessage::name);
    const auto graph = js::ReadStream(recorded->stream);
    const js::ClassCatalog none;
    js::Builder builder(none);
    const js::Ref root = builder.Copy(*graph, graph->Root());
    builder.SetRef(root, "appId", builder.NewString(id_));
    builder.graph().contents.emplace_back(root);
    std::string frame;
    st::AppendOneWayMessage(frame, es::EncodeRpcMessage({es::RpcAddress{"driver", 1}, es::RpcAddress{"master", 7077},
                                                         "Master", js::WriteStream(builder.graph())}));
    return frame;
  }

  env_sim::World& world_;
  const std::vector<SparkMessage> messages_;
  base::Instant next_try_;
  env_sim::Machine* machine_ = nullptr;
  std::unique_ptr<env::Listener> listener_;
  std::vector<Conversation> peers_;
  std::string id_;
};

/// One run.
class FaultyCluster {
 public:
  FaultyCluster(uint64_t seed, env_sim::QuorumBugs bugs)
      : world_(seed), chance_(seed), quorum_(world_, kSession, bugs) {
    world_.faults().store_failure = 0.01;
    for (int i = 0; i < kMasters; ++i) StartMaster(world_.AddMachine("master" + std::to_string(i)));
    for (int i = 0; i < kWorkers; ++i) StartWorker(world_.AddMachine("worker" + std::to_string(i)));
    driver_ = std::make_unique<ClientDriver>(world_);
  }

  /// What went wrong, or "".
  std::string Go() {
    const base::Instant end = world_.now() + Duration::Seconds(60);
    while (world_.now() < end && wrong_.empty()) {
      Fault();
      Submit();
      Pass(Duration{chance_.Between(Duration::Millis(20).ns, Duration::Seconds(2).ns)});
    }
    Heal();
    if (wrong_.empty()) CheckWhole();
    return wrong_;
  }

  int64_t leaders() const { return quorum_.epochs(); }
  size_t acknowledged() const { return acknowledged_.size(); }

 private:
  struct Master {
    std::unique_ptr<sm::StandaloneMaster> process;
    env::Elector* elector = nullptr;
  };

  void StartMaster(env_sim::Machine& machine) {
    Master& place = masters_[machine.host()];
    sm::StandaloneMaster::Options options;
    options.master.listen = {machine.host(), 7077};
    options.master.host = machine.host();
    options.master.builds = {build_};
    options.cluster.worker_timeout = options.cluster.recovery_timeout = Duration::Seconds(8);
    options.on_over = [this](const std::string& why) { wrong_ = why; };
    place.process = std::make_unique<sm::StandaloneMaster>(machine.loop(), machine.net(), log_, std::move(options));
    auto elector = quorum_.Join(machine, machine.host());
    place.elector = elector.get();
    if (const base::Status begun = place.process->Join(std::move(elector)); !begun.ok()) wrong_ = begun.error().message;
  }

  void StartWorker(env_sim::Machine& machine) {
    machine.SetProcessFactory([this](const env::SpawnRequest& request, std::function<void(env::ExitStatus)> exit) {
      const std::string name = NameOf(request);
      if (name.starts_with("app-") && running_.contains(name)) wrong_ = "executor " + name + " runs twice";
      return std::make_unique<Process>(running_, name, std::move(exit));
    });
    if (!machine.disk().WriteFileAtomically("/job.jar", "jar").ok()) wrong_ = "no jar";
    sw::SparkWorkerSettings settings;
    settings.listen = {machine.host(), 35000};
    settings.host = machine.host();
    for (int i = 0; i < kMasters; ++i) settings.masters.push_back({"master" + std::to_string(i), 7077});
    settings.cores = kCores;
    settings.memory_mib = 16 * 1024;
    settings.work_directory = "/work";
    settings.heartbeat = Duration::Seconds(2);
    settings.launch.spark_home = "/opt/spark";
    settings.launch.java = "/opt/java/bin/java";
    sw::Supervisor& supervisor = SupervisorOn(machine);
    supervisor.Attach();
    settings.id = supervisor.identity().id;
    settings.runs = supervisor.Runs();
    auto worker =
        sw::SparkWorker::Start({machine.loop(), machine.net(), supervisor, machine.disk(), log_}, build_, settings,
                               [this, host = machine.host()](const std::string& why) {
                                 // Its host came back before the Master had given the old Worker up.
                                 if (why.ends_with("re-register worker at same address: " + host + ":35000")) {
                                   ended_.insert(host);
                                 } else {
                                   wrong_ = why;
                                 }
                               });
    if (!worker.ok()) wrong_ = worker.error().message;
    if (!worker.ok()) return;
    supervisor.SetIdentity({(*worker)->id(), (*worker)->local().port});
    workers_[machine.host()] = std::move(*worker);
  }
  sw::Supervisor& SupervisorOn(env_sim::Machine& machine) {
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
  /// Its host goes, or the Worker alone.
  void KillWorker(const std::string& host, bool alone) {
    workers_[host].reset();
    if (supervisors_[host] != nullptr && alone) return supervisors_[host]->Detach();
    supervisors_[host].reset();
  }

  /// Null when nobody leads who may.
  sm::StandaloneMaster* Acting() {
    for (auto& [host, master] : masters_) {
      if (IsActing(master)) return master.process.get();
    }
    return nullptr;
  }
  static bool IsActing(const Master& master) {
    return master.process && !master.process->cluster().standby() && master.elector->MayAct();
  }

  void Pass(Duration time) {
    const base::Instant until = world_.now() + time;
    while (world_.now() < until && wrong_.empty()) {
      const base::Instant next = std::min(until, world_.now() + Duration::Millis(100));
      world_.Script(next, [] {});  // time goes on even when nothing happens
      world_.RunUntil(
          next, [this] { return !wrong_.empty(); }, [this] { Check(); });
      for (const auto& [host, master] : masters_) {
        const std::string books = master.process ? master.process->cluster().core().CheckInvariants() : "";
        if (!books.empty()) wrong_ = books;
      }
      driver_->Turn();
      StartAgain();
    }
  }

  /// As a service manager does it with a Worker that has ended.
  void StartAgain() {
    for (const std::string& host : std::exchange(ended_, {})) {
      if (workers_[host] == nullptr) continue;
      KillWorker(host, false);
      world_.machine(host).Crash(false);
      Restart(host);
    }
  }

  void Check() {
    int acting = 0;
    for (const auto& [host, master] : masters_) acting += IsActing(master) ? 1 : 0;
    if (acting > 1) wrong_ = "two masters act";
    if (quorum_.foul_writes() > 0) wrong_ = "a deposed leader has written";
    for (const auto& [host, master] : masters_) {
      if (!master.process) continue;
      for (const auto& worker : master.process->cluster().core().workers()) {
        if (worker.cores_used > worker.cores) wrong_ = "cores of " + worker.id + " are booked twice";
      }
    }
  }

  void Submit() {
    sm::StandaloneMaster* master = Acting();
    if (master == nullptr || submitted_ == kJobsMax || chance_.Chance(0.5)) return;
    const std::string name = "job-" + std::to_string(submitted_++);
    process::http::Request request;
    request.method = "POST";
    request.path = "/v1/submissions/create";
    request.body = json({{"action", "CreateSubmissionRequest"},
                         {"appResource", "file:/job.jar"},
                         {"mainClass", "org.example.Job"},
                         {"appArgs", {name}},
                         {"clientSparkVersion", kRelease},
                         {"environmentVariables", json::object()},
                         {"sparkProperties",
                          {{"spark.app.name", "job"},
                           {"spark.master", "spark://master:7077"},
                           {"spark.driver.supervise", "true"}}}})
                       .dump();
    sm::RestSubmission(*master, build_, 6066).Handle(request, [this, name](const process::http::Response& response) {
      if (json::parse(response.body).value("success", false)) acknowledged_.insert(name);
    });
  }

  void Fault() {
    const bool of_master = chance_.Chance(0.6);
    const std::string host = of_master ? "master" + std::to_string(chance_.Below(kMasters))
                                       : "worker" + std::to_string(chance_.Below(kWorkers));
    env_sim::Machine& machine = world_.machine(host);
    switch (chance_.Below(8)) {
      case 0:  // kill -9, and a new process at once or with the next turn of this kind
        if (IsUp(host)) {
          machine.Stall(false);
          const bool alone = !of_master && chance_.Chance(0.5);
          of_master ? masters_[host].process.reset() : KillWorker(host, alone);
          if (alone) break;
          // A master's host answers that nobody is there: a worker has no other sign of it, as Spark's.
          machine.Crash(!of_master && chance_.Chance(0.3));
          if (chance_.Chance(0.5)) break;
        }
        Restart(host);
        break;
      case 1:
        machine.Stall(true);
        break;
      case 2:
        machine.Stall(false);
        break;
      case 3:
        if (of_master) quorum_.Cut(host, true);
        break;
      case 4:
        if (of_master) quorum_.Cut(host, false);
        break;
      case 5:  // as long as a session, so that what was sent arrives when another leads
        if (of_master) quorum_.Delay(host, kSession);
        break;
      case 6:
        if (of_master) quorum_.Delay(host, {});
        break;
      case 7:
        break;  // nothing, for once
    }
  }

  bool IsUp(const std::string& host) {
    return host[0] == 'm' ? masters_[host].process != nullptr : workers_[host] != nullptr;
  }
  void Restart(const std::string& host) {
    env_sim::Machine& machine = world_.machine(host);
    if (!machine.up()) machine.Restart();
    host[0] == 'm' ? StartMaster(machine) : StartWorker(machine);
  }

  void Heal() {
    std::vector<std::string> hosts;
    for (const auto& [host, master] : masters_) hosts.push_back(host);
    for (const auto& [host, worker] : workers_) hosts.push_back(host);
    for (const std::string& host : hosts) {
      world_.machine(host).Stall(false);
      if (!IsUp(host)) Restart(host);
      if (host[0] != 'm') continue;
      quorum_.Cut(host, false);
      quorum_.Delay(host, {});
    }
    Pass(Duration::Seconds(60));
  }

  void CheckWhole() {
    sm::StandaloneMaster* leader = Acting();
    if (leader == nullptr || leader->cluster().core().recovering()) {
      wrong_ = "nobody leads after everything was healed";
      return;
    }
    int alive = 0;
    for (const auto& worker : leader->cluster().core().workers()) {
      alive += worker.state == model::standalone::WorkerState::kAlive ? 1 : 0;
    }
    if (alive != kWorkers) wrong_ = std::to_string(alive) + " workers are alive";
    for (const std::string& job : acknowledged_) {
      if (running_.count(job) != 1) wrong_ = job + " was acknowledged and runs " + std::to_string(running_.count(job));
    }
    size_t executors = 0;
    for (const std::string& name : running_) {
      if (name.starts_with("job-")) continue;
      if (!name.starts_with(driver_->id() + " ")) wrong_ = "a stranger runs: " + name;
      ++executors;
    }
    if (executors != kExecutors) wrong_ = std::to_string(executors) + " executors run";
  }

  env_sim::World world_;
  base::Rng chance_;
  env::NullLog log_;
  const es::SparkBuild build_{"/opt/spark", kRelease, CatalogOf(kRelease)};
  env_sim::SimQuorum quorum_;
  Running running_;
  std::map<std::string, Master> masters_;
  std::map<std::string, std::unique_ptr<sw::Supervisor>> supervisors_;
  std::map<std::string, std::unique_ptr<sw::SparkWorker>> workers_;
  std::unique_ptr<ClientDriver> driver_;
  int submitted_ = 0;
  std::set<std::string> acknowledged_;
  std::set<std::string> ended_;
  std::string wrong_;
};

constexpr uint64_t kSeeds = 60;

TEST(StandaloneFaults, NothingRunsTwiceAndNothingAcknowledgedIsLost) {
  int64_t leaders = 0;
  size_t acknowledged = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    FaultyCluster run(seed, {});
    ASSERT_EQ(run.Go(), "") << "seed " << seed;
    leaders += run.leaders();
    acknowledged += run.acknowledged();
  }
  EXPECT_GT(leaders, 200);
  EXPECT_GT(acknowledged, 300u);
}

std::string FirstFault(env_sim::QuorumBugs bugs) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (const std::string wrong = FaultyCluster(seed, bugs).Go(); !wrong.empty()) return wrong;
  }
  return "";
}

TEST(StandaloneFaults, AMissingFenceIsFound) {
  EXPECT_EQ(FirstFault({.no_fence = true}), "a deposed leader has written");
}

TEST(StandaloneFaults, ALateStepDownIsFound) { EXPECT_EQ(FirstFault({.late_step_down = true}), "two masters act"); }

}  // namespace
}  // namespace fairlead::oracle
