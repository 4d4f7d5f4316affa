// A Standalone Master and Workers of ours with recorded drivers and workers, in a simulated world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "endpoints/spark/master_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "env_sim/world.h"
#include "oracle/spark_peer.h"
#include "oracle/spark_rpc_recording.h"
#include "process/spark_master/master_json.h"
#include "process/spark_master/rest_submission.h"
#include "process/spark_master/standalone_master.h"
#include "process/spark_worker/spark_worker.h"
#include "process/spark_worker/supervisor.h"
#include "wire/java_stream/writer.h"

namespace fairlead::oracle {
namespace {

namespace es = endpoints::spark;
namespace js = wire::java_stream;
namespace sm = process::spark_master;
namespace sw = process::spark_worker;
namespace st = wire::spark_transport;
using nlohmann::json;
using ::testing::HasSubstr;

/// A process that runs until a test, or a signal, ends it.
class Sleeper final : public env_sim::SimProcess {
 public:
  explicit Sleeper(std::function<void(env::ExitStatus)> exit) : exit_(std::move(exit)) {}
  void OnSignal(int signal) override { End({0, signal}); }
  void End(env::ExitStatus status) {
    if (auto exit = std::exchange(exit_, nullptr)) exit(status);
  }

 private:
  std::function<void(env::ExitStatus)> exit_;
};

class SparkStandalone : public ::testing::TestWithParam<std::string> {
 protected:
  SparkStandalone() : build_{"/opt/spark", GetParam(), CatalogOf(GetParam())} {
    env_sim::Machine& machine = world_.AddMachine("master");
    sm::StandaloneSettings settings;
    settings.worker_timeout = base::Duration::Seconds(8);
    settings.retained_applications = 2;
    settings.retained_drivers = 1;
    sm::SparkMasterSettings master;
    master.listen = {"master", 7077};
    master.host = "master";
    master.builds = {build_};
    master_ = std::make_unique<sm::StandaloneMaster>(machine.loop(), machine.net(), log_,
                                                     sm::StandaloneMaster::Options{std::move(master), settings, {}});
    EXPECT_TRUE(master_->LeadAlone(nullptr, {}).ok());
    world_.AddMachine("driver");
  }

  bool Await(const std::function<bool()>& done, base::Duration patience = base::Duration::Seconds(30)) {
    return world_.RunUntil(world_.now() + patience, done);
  }

  std::unique_ptr<Peer> Connect(const env::Endpoint& to = {"master", 7077}) {
    std::unique_ptr<Peer> peer;
    world_.machine("driver").net().Connect(
        to, base::Duration::Seconds(5),
        [&](base::Result<std::unique_ptr<env::Stream>> stream) { peer = std::make_unique<Peer>(std::move(*stream)); });
    EXPECT_TRUE(Await([&] { return peer != nullptr; }));
    return peer;
  }

  /// The recorded driver, which wants two executors of one core.
  std::unique_ptr<Peer> Driver() {
    const auto messages = ReadSparkMessages(kSparkFolder, GetParam());
    auto driver = Connect();
    driver->Write(messages->at(0).frame + messages->at(2).frame);
    EXPECT_TRUE(Await([&] { return Got(*driver, "RegisteredApplication"); }));
    return driver;
  }

  static bool Got(const Peer& peer, const std::string& name) {
    return peer.Find(std::string(kDeployMessages) + name) != nullptr;
  }
  static size_t Count(const Peer& peer, const std::string& name) {
    return static_cast<size_t>(
        std::ranges::count(peer.received(), std::string(kDeployMessages) + name, &Peer::Received::class_name));
  }
  /// The state in the last ExecutorUpdated.
  static int64_t LastState(const Peer& peer) {
    const auto* update = peer.Find(std::string(kDeployMessages) + "ExecutorUpdated");
    if (update == nullptr) return -1;
    const auto graph = js::ReadStream(update->content, es::kSparkMessage);
    return *graph->FieldOf(graph->RefOf(graph->Root(), "state"), "i", 'I');
  }

  /// A worker of ours on a machine of its own.
  sw::SparkWorker& StartWorker(const std::string& host, int32_t cores) {
    env_sim::Machine& machine = world_.AddMachine(host);
    machine.SetProcessFactory([this](const env::SpawnRequest& request, std::function<void(env::ExitStatus)> exit) {
      spawned_.push_back(request);
      auto process = std::make_unique<Sleeper>(std::move(exit));
      processes_.push_back(process.get());
      return process;
    });
    sw::SparkWorkerSettings settings;
    settings.listen = {host, 35000};
    settings.host = host;
    settings.masters = {{"master", 7077}};
    settings.cores = cores;
    settings.memory_mib = 4096;
    settings.work_directory = "/work";
    settings.heartbeat = base::Duration::Seconds(2);
    settings.launch.spark_home = "/opt/spark";
    settings.launch.java = "/opt/java/bin/java";
    settings.launch.class_path = {"/opt/spark/conf/", "/opt/spark/jars/*"};
    supervisors_.push_back(
        *sw::Supervisor::Start({machine.loop(), machine.net(), machine.processes(), log_}, host, {}, [] {}));
    return StartWorker(std::move(settings), *supervisors_.back());
  }
  /// One that takes up what its supervisor has.
  sw::SparkWorker& StartWorker(sw::SparkWorkerSettings settings, sw::Supervisor& supervisor) {
    env_sim::Machine& machine = world_.machine(settings.host);
    settings.launch.worker_url = "spark://Worker@" + settings.host + ":" + std::to_string(supervisor.watched_port());
    settings.id = supervisor.identity().id;
    settings.runs = supervisor.Runs();
    supervisor.Attach();
    auto worker = sw::SparkWorker::Start({machine.loop(), machine.net(), supervisor, machine.disk(), log_}, build_,
                                         settings, [this](const std::string& why) { given_up_ = why; });
    EXPECT_TRUE(worker.ok());
    workers_.push_back(std::move(*worker));
    supervisor.SetIdentity({workers_.back()->link().id(), 35000});
    return *workers_.back();
  }

  /// kill -9: its supervisor is still there.
  void KillWorker() {
    workers_.clear();
    supervisors_[0]->Detach();
  }

  json Page() { return json::parse(sm::MasterJson(master_->cluster(), "", true)); }
  bool AwaitWorkers(int64_t count) {
    return Await([&] { return Page()["aliveworkers"] == count; });
  }

  /// A REST request's answer.
  process::http::Response Rest(const std::string& method, const std::string& path, const std::string& body = "") {
    sm::RestSubmission rest(*master_, build_, 6066, [](const std::string& name) {
      return name == "SITE" ? std::optional<std::string>("north") : std::nullopt;
    });
    process::http::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    std::optional<process::http::Response> answer;
    rest.Handle(request, [&](process::http::Response response) { answer = std::move(response); });
    EXPECT_TRUE(Await([&] { return answer.has_value(); }));
    return *answer;
  }
  std::string Submit(bool supervise, const std::string& jar = "file:/job.jar") {
    EXPECT_TRUE(world_.machine("node").disk().WriteFileAtomically("/job.jar", "jar").ok());
    const json request = {
        {"action", "CreateSubmissionRequest"},
        {"appResource", jar},
        {"mainClass", "org.example.Job"},
        {"appArgs", {"one", "two words"}},
        {"clientSparkVersion", GetParam()},
        {"environmentVariables", {{"SPARK_LOCAL_IP", "10.0.0.1"}, {"KEY", "value"}, {"PLACE", "{{SITE}}"}}},
        {"sparkProperties",
         {{"spark.app.name", "job"},
          {"spark.master", "spark://master:6066"},
          {"spark.driver.memory", "1g"},
          {"spark.driver.supervise", supervise ? "true" : "false"}}}};
    const auto answer = Rest("POST", "/v1/submissions/create", request.dump());
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body).value("submissionId", "");
  }
  json Status(const std::string& id) { return json::parse(Rest("GET", "/v1/submissions/status/" + id).body); }
  bool AwaitDriver(const std::string& id, const std::string& state) {
    return Await([&] { return Status(id).value("driverState", "") == state; });
  }

  env_sim::World world_{1};
  env::NullLog log_;
  es::SparkBuild build_;
  std::unique_ptr<sm::StandaloneMaster> master_;
  std::vector<env::SpawnRequest> spawned_;
  std::vector<Sleeper*> processes_;
  std::string given_up_;
  std::vector<std::unique_ptr<sw::Supervisor>> supervisors_;
  std::vector<std::unique_ptr<sw::SparkWorker>> workers_;
};

INSTANTIATE_TEST_SUITE_P(Releases, SparkStandalone, ::testing::Values("3.5.5", "4.3.0"));

TEST_P(SparkStandalone, AnApplicationGetsItsExecutorsAndTheyEndWithIt) {
  StartWorker("node", 4);
  ASSERT_TRUE(AwaitWorkers(1));
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return Count(*driver, "ExecutorUpdated") == 2; }));
  EXPECT_EQ(Count(*driver, "ExecutorAdded"), 2u);
  EXPECT_EQ(LastState(*driver), static_cast<int64_t>(es::ExecutorState::kRunning));
  ASSERT_EQ(spawned_.size(), 2u);
  const env::SpawnRequest& executor = spawned_.at(0);
  EXPECT_EQ(executor.argv.at(0), "/opt/java/bin/java");
  EXPECT_EQ(executor.argv.at(2), "/opt/spark/conf/:/opt/spark/jars/*");
  EXPECT_EQ(executor.argv.at(3), "-Xmx512M");
  EXPECT_THAT(executor.argv,
              ::testing::IsSupersetOf<std::string>({"--executor-id", "0", "--hostname", "node", "--worker-url",
                                                    workers_[0]->settings().launch.worker_url}));
  EXPECT_EQ(executor.environment.at("SPARK_USER"), "root");
  EXPECT_THAT(executor.environment.at("SPARK_EXECUTOR_DIRS"), HasSubstr("/executor-"));
  EXPECT_EQ(Page()["coresused"], 2);
  EXPECT_EQ(master_->cluster().core().CheckInvariants(), "");
  driver->Close();
  ASSERT_TRUE(Await([&] { return workers_[0]->executors().empty(); }));
  EXPECT_EQ(Page()["coresused"], 0);
  EXPECT_EQ(Page()["completedapps"][0]["state"], "FINISHED");
}

TEST_P(SparkStandalone, AnExecutorThatEndsIsReplaced) {
  StartWorker("node", 4);
  ASSERT_TRUE(AwaitWorkers(1));
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return spawned_.size() == 2; }));
  processes_.at(1)->End({0, SIGKILL});
  ASSERT_TRUE(Await([&] { return spawned_.size() == 3; }));
  EXPECT_THAT(spawned_.at(2).argv, ::testing::Contains("2"));
  EXPECT_TRUE(Await([&] { return Count(*driver, "ExecutorAdded") == 3; }));
}

TEST_P(SparkStandalone, OfALostWorkerTheDriverHearsAndOthersTakeItsPlace) {
  StartWorker("node", 2);
  StartWorker("other", 2);
  ASSERT_TRUE(AwaitWorkers(2));
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return spawned_.size() == 2; }));
  ASSERT_EQ(workers_[0]->executors().size(), 1u) << "spread out";
  workers_.erase(workers_.begin());
  world_.machine("node").Crash();
  ASSERT_TRUE(Await([&] { return Got(*driver, "WorkerRemoved"); }));
  ASSERT_TRUE(Await([&] { return workers_[0]->executors().size() == 2; }));
  EXPECT_EQ(Page()["aliveworkers"], 1);
  EXPECT_EQ(Page()["workers"].size(), 2u) << "a lost one is shown";
  EXPECT_TRUE(Await([&] { return Page()["workers"].size() == 1; }, base::Duration::Seconds(8 * 17))) << "for some time";
}

TEST_P(SparkStandalone, ASilentWorkerIsLostAndRegistersAgain) {
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  // The recorded worker registers and then says nothing.
  const auto messages = ReadSparkMessages(kSparkFolder, GetParam());
  std::string registration, heartbeat;
  for (const SparkMessage& message : *messages) {
    if (message.type.ends_with("$RegisterWorker")) registration = message.frame;
    if (message.type.ends_with("$Heartbeat") && !message.frame.empty()) heartbeat = message.frame;
  }
  auto silent = Connect();
  silent->Write(registration);
  ASSERT_TRUE(Await([&] { return Got(*silent, "RegisteredWorker"); }));
  ASSERT_TRUE(AwaitWorkers(2));
  ASSERT_TRUE(Await([&] { return Page()["aliveworkers"] == 1; }, base::Duration::Seconds(12)));
  EXPECT_TRUE(Await([&] { return workers_[0]->link().master_url() == "spark://master:7077"; }))
      << "the other one stays";
  silent->Write(heartbeat);
  ASSERT_TRUE(Await([&] { return Got(*silent, "ReconnectWorker"); }));
  silent->Write(registration);
  ASSERT_TRUE(AwaitWorkers(2));
}

TEST_P(SparkStandalone, WhoKnowsAWorkersIdGetsNothingOfIt) {
  sw::SparkWorker& worker = StartWorker("node", 4);
  ASSERT_TRUE(AwaitWorkers(1));
  es::RegisterWorker claim;
  claim.id = worker.link().id();
  claim.host = "node";
  claim.port = 35000;
  claim.worker = {{"node", 35000}, "Worker"};
  claim.cores = 4;
  claim.memory_mib = 4096;
  claim.web_url = "http://node:8081";
  claim.master = {"master", 7077};
  std::string frame;
  st::AppendOneWayMessage(frame, es::EncodeRpcMessage({es::RpcAddress{"node", 35000}, es::RpcAddress{"master", 7077},
                                                       "Master", es::Encode(build_, claim)}));
  auto stranger = Connect();
  stranger->Write(frame);
  ASSERT_TRUE(Await([&] { return Got(*stranger, "RegisteredWorker"); }));
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return Count(*driver, "ExecutorUpdated") == 2; }));
  EXPECT_FALSE(Got(*stranger, "LaunchExecutor"));
  EXPECT_EQ(master_->cluster().refusals().of(process::spark_rpc::Refusal::kPlace), 1u);
  // Nor while it is away, since it comes from elsewhere.
  KillWorker();
  ASSERT_FALSE(Await([&] { return Page()["aliveworkers"] == 0; }, base::Duration::Seconds(2)));
  auto other = Connect();
  other->Write(frame);
  ASSERT_TRUE(Await([&] { return Got(*other, "RegisteredWorker"); }));
  other->Close();
  EXPECT_FALSE(Got(*driver, "WorkerRemoved"));
}

TEST_P(SparkStandalone, AWorkerThatRegistersTwiceSpeaksByItsLastConnectionWhenTheFirstIsSilent) {
  const auto messages = ReadSparkMessages(kSparkFolder, GetParam());
  std::string registration;
  for (const SparkMessage& message : *messages) {
    if (message.type.ends_with("$RegisterWorker")) registration = message.frame;
  }
  auto first = Connect();
  first->Write(registration);
  ASSERT_TRUE(AwaitWorkers(1));
  auto second = Connect();
  second->Write(registration);
  ASSERT_TRUE(Await([&] { return Got(*second, "RegisteredWorker"); }));
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return Got(*second, "LaunchExecutor"); }));
  EXPECT_FALSE(Got(*first, "LaunchExecutor"));
  first->Close();
  EXPECT_FALSE(Await([&] { return Page()["aliveworkers"] != 1; }, base::Duration::Seconds(5)));
  second->Close();
  ASSERT_TRUE(AwaitWorkers(0));
}

TEST_P(SparkStandalone, WhatDoesNotBelongHereHarmsNobody) {
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  const auto messages = ReadSparkMessages(kSparkFolder, GetParam());
  for (const SparkMessage& message : *messages) {
    if (!message.type.ends_with("$RegisterWorker")) continue;
    auto graph = js::ReadStream(message.stream, es::kSparkMessage);
    using Lie = std::pair<const char*, int64_t>;
    for (const auto& [field, value] :
         {Lie{"cores", 0}, Lie{"cores", -1}, Lie{"cores", INT32_MAX}, Lie{"memory", 0}, Lie{"memory", -1}}) {
      js::Graph lie = *graph;
      lie.SetField(lie.Root(), field, value, false);
      std::string frame;
      st::AppendOneWayMessage(frame, es::EncodeRpcMessage({es::RpcAddress{"x", 1}, es::RpcAddress{"master", 7077},
                                                           "Master", js::WriteStream(lie)}));
      auto liar = Connect();
      liar->Write(frame);
      EXPECT_TRUE(Await([&] { return liar->closed(); })) << field << " " << value;
    }
    auto half = Connect();
    half->Write(message.frame.substr(0, message.frame.size() / 2));
    half->Close();
    std::string other_build = message.frame;
    const std::string name = std::string(kDeployMessages) + "RegisterWorker";
    other_build[other_build.find(name) + name.size()] ^= 1;  // in the serialVersionUID
    auto stranger = Connect();
    stranger->Write(other_build);
    EXPECT_TRUE(Await([&] { return stranger->closed(); }));
  }
  // One that speaks for another's executor is not heard.
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return Count(*driver, "ExecutorUpdated") == 2; }));
  const std::string app = master_->cluster().records().applications()[0].id;
  const es::ExecutorStateChanged lie{app, 0, es::ExecutorState::kExited, std::nullopt, 1};
  std::string frame;
  st::AppendRpcRequest(frame, 5,
                       es::EncodeRpcMessage({es::RpcAddress{"x", 1}, es::RpcAddress{"master", 7077}, "Master",
                                             es::Encode(build_, lie)}));
  auto impostor = Connect();
  impostor->Write(frame);
  ASSERT_TRUE(Await([&] { return !impostor->received().empty(); }));
  EXPECT_EQ(Page()["coresused"], 2);
  EXPECT_EQ(Count(*driver, "ExecutorUpdated"), 2u);
}

TEST_P(SparkStandalone, ADriverIsSubmittedSeenAndKilledByRest) {
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  const std::string id = Submit(false);
  ASSERT_TRUE(AwaitDriver(id, "RUNNING"));
  ASSERT_TRUE(Await([&] { return spawned_.size() == 1; }));
  const env::SpawnRequest& driver = spawned_.at(0);
  const std::string jar = workers_[0]->settings().work_directory + "/" + id + "/job.jar";
  EXPECT_THAT(
      driver.argv,
      ::testing::IsSupersetOf<std::string>(
          {"-Dspark.master=spark://master:7077", "-Dspark.app.name=job", "org.apache.spark.deploy.worker.DriverWrapper",
           workers_[0]->settings().launch.worker_url, jar, "org.example.Job", "two words", "-Xmx1024M"}));
  EXPECT_EQ(*world_.machine("node").disk().ReadFile(jar), "jar") << "copied";
  EXPECT_EQ(driver.environment.count("SPARK_LOCAL_IP"), 0u);
  EXPECT_EQ(driver.environment.at("KEY"), "value");
  EXPECT_EQ(driver.environment.at("PLACE"), GetParam().starts_with("4") ? "north" : "{{SITE}}") << "of the master";
  EXPECT_EQ(Status(id).value("workerId", ""), workers_[0]->link().id());
  EXPECT_EQ(Page()["activedrivers"][0]["mainclass"], "org.example.Job");
  const auto killed = json::parse(Rest("POST", "/v1/submissions/kill/" + id).body);
  EXPECT_EQ(killed["message"], "Kill request for " + id + " submitted");
  ASSERT_TRUE(AwaitDriver(id, "KILLED"));
  EXPECT_EQ(json::parse(Rest("POST", "/v1/submissions/kill/" + id).body)["success"], false);
  EXPECT_EQ(Status("driver-1")["success"], false);
  EXPECT_EQ(Page()["coresused"], 0);
}

TEST_P(SparkStandalone, WhatHasEndedAndIsNotShownLeavesNothingBehind) {
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  const sm::StandaloneCluster& cluster = master_->cluster();
  for (int i = 0; i < 5; ++i) {
    auto driver = Driver();
    ASSERT_TRUE(Await([&] { return Count(*driver, "ExecutorUpdated") == 2; }));
    driver->Close();
    ASSERT_TRUE(Await([&] { return cluster.core().waiting_apps().empty(); }));
  }
  EXPECT_EQ(Page()["completedapps"].size(), 2u);
  EXPECT_TRUE(Await([&] { return cluster.records().applications().size() == 2 && cluster.core().apps().size() == 2; }));
  std::string last;
  for (int i = 0; i < 3; ++i) {
    last = Submit(false);
    ASSERT_TRUE(AwaitDriver(last, "RUNNING"));
    Rest("POST", "/v1/submissions/kill/" + last);
    ASSERT_TRUE(AwaitDriver(last, "KILLED"));
  }
  EXPECT_TRUE(Await([&] { return cluster.records().drivers().size() == 1 && cluster.core().drivers().size() == 1; }));
  EXPECT_EQ(Page()["completeddrivers"][0]["id"], last);
  if (GetParam().starts_with("4")) {
    Rest("POST", "/v1/submissions/clear");
    EXPECT_EQ(Status(last)["success"], false);
    EXPECT_TRUE(Await([&] { return cluster.records().drivers().empty() && cluster.core().apps().empty(); }));
  }
  EXPECT_EQ(cluster.core().CheckInvariants(), "");
}

TEST_P(SparkStandalone, ExecutorsOfAnEndedApplicationAreToldOfWithoutTheirWorker) {
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  const sm::StandaloneCluster& cluster = master_->cluster();
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return Count(*driver, "ExecutorUpdated") == 2; }));
  driver->Close();
  ASSERT_TRUE(Await([&] { return cluster.core().waiting_apps().empty(); }));
  workers_.clear();
  world_.machine("node").Crash();
  ASSERT_TRUE(Await([&] { return cluster.core().workers().empty(); }, base::Duration::Seconds(8 * 18)));
  const json executors = json::parse(sm::ExecutorsJson(cluster, Page()["completedapps"][0]["id"]));
  ASSERT_EQ(executors.size(), 2u);
  for (const json& one : executors) EXPECT_EQ(one["message"], "its application has ended");
}

TEST_P(SparkStandalone, WorkersThatWereRefusedOrAreLostForLongLeaveNothingBehind) {
  const auto& workers = master_->cluster().workers();
  const auto& known = master_->cluster().core().workers();
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  const std::string driver = Submit(false);
  ASSERT_TRUE(AwaitDriver(driver, "RUNNING"));
  StartWorker("other", 2);
  ASSERT_TRUE(AwaitWorkers(2));
  // Another worker at the same address is refused, again and again.
  for (int i = 0; i < 5; ++i) {
    es::RegisterWorker registration;
    registration.id = "worker-twin-" + std::to_string(i);
    registration.host = "node";
    registration.port = 35000;
    registration.worker = {{"node", 35000}, "Worker"};
    registration.cores = 2;
    registration.memory_mib = 1024;
    registration.web_url = "http://node:8081";
    registration.master = {"master", 7077};
    std::string frame;
    st::AppendOneWayMessage(frame, es::EncodeRpcMessage({es::RpcAddress{"node", 35000}, es::RpcAddress{"master", 7077},
                                                         "Master", es::Encode(build_, registration)}));
    auto twin = Connect();
    twin->Write(frame);
    ASSERT_TRUE(Await([&] { return Got(*twin, "RegisterWorkerFailed"); }));
  }
  EXPECT_TRUE(Await([&] { return workers.all().size() == 2 && known.size() == 2; }));
  const std::string lost = workers_[0]->link().id();
  workers_.erase(workers_.begin());
  ASSERT_TRUE(AwaitWorkers(1));
  EXPECT_EQ(Page()["workers"].size(), 2u) << "for a while";
  const base::Duration shown = base::Duration::Seconds(8) * 17;
  EXPECT_TRUE(Await([&] { return Page()["workers"].size() == 1; }, shown));
  world_.RunUntil(world_.now() + base::Duration::Seconds(2), [] { return false; });
  EXPECT_EQ(Status(driver)["workerId"], lost) << "one that a driver names stays";
  ASSERT_TRUE(AwaitDriver(Submit(false, "file:/none.jar"), "ERROR"));
  EXPECT_EQ(Status(driver)["success"], false);
  EXPECT_TRUE(Await([&] { return workers.all().size() == 1 && known.size() == 1; }));
  auto application = Driver();
  EXPECT_TRUE(Await([&] { return Count(*application, "ExecutorUpdated") == 2; }));
  EXPECT_EQ(master_->cluster().core().CheckInvariants(), "");
}

TEST_P(SparkStandalone, ASupervisedDriverIsStartedAgainHereAndElsewhere) {
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  const std::string id = Submit(true);
  ASSERT_TRUE(Await([&] { return spawned_.size() == 1; }));
  processes_.at(0)->End({1, 0});
  ASSERT_TRUE(Await([&] { return spawned_.size() == 2; })) << "by its worker";
  EXPECT_EQ(Status(id)["driverState"], "RUNNING");
  StartWorker("other", 2);
  ASSERT_TRUE(AwaitWorkers(2));
  EXPECT_TRUE(world_.machine("other").disk().WriteFileAtomically("/job.jar", "jar").ok());
  workers_.erase(workers_.begin());
  world_.machine("node").Crash();
  ASSERT_TRUE(Await([&] { return spawned_.size() == 3; })) << "by the master, with a new id";
  EXPECT_EQ(Status(id)["driverState"], "RELAUNCHING");
  ASSERT_TRUE(Await([&] { return Page()["activedrivers"].size() == 1; }));
  EXPECT_NE(Page()["activedrivers"][0]["id"], id);
}

TEST_P(SparkStandalone, WhyADriverCouldNotBeStartedIsSaid) {
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  const std::string id = Submit(false, "file:/none.jar");
  ASSERT_TRUE(AwaitDriver(id, "ERROR"));
  EXPECT_THAT(Status(id).value("message", ""), HasSubstr("Exception from the cluster:\njava.lang.Exception: "));
  EXPECT_THAT(Status(id).value("message", ""), HasSubstr("/none.jar"));
}

TEST_P(SparkStandalone, AWorkerThatReturnsInTimeIsTheSameWithAllThatRuns) {
  sw::SparkWorkerSettings settings = StartWorker("node", 4).settings();
  ASSERT_TRUE(AwaitWorkers(1));
  const std::string id = Submit(true);
  ASSERT_TRUE(AwaitDriver(id, "RUNNING"));
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return spawned_.size() == 3; }));
  const std::string worker = workers_[0]->link().id();
  KillWorker();
  ASSERT_FALSE(Await([&] { return Page()["aliveworkers"] == 0; }, base::Duration::Seconds(5))) << "it may come back";
  processes_.at(2)->End({7, 0});  // an executor, while nobody looks
  StartWorker(settings, *supervisors_[0]);
  EXPECT_EQ(workers_[0]->link().id(), worker);
  ASSERT_TRUE(Await([&] { return spawned_.size() == 4; })) << "what ended meanwhile is replaced";
  EXPECT_EQ(Status(id)["driverState"], "RUNNING");
  EXPECT_EQ(Page()["coresused"], 3);
  EXPECT_FALSE(Got(*driver, "WorkerRemoved"));
  EXPECT_EQ(master_->cluster().core().CheckInvariants(), "");
}

TEST_P(SparkStandalone, AWorkerThatStaysAwayIsLostAfterItsSupervisorHasEndedAll) {
  StartWorker("node", 4);
  ASSERT_TRUE(AwaitWorkers(1));
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return spawned_.size() == 2; }));
  KillWorker();
  ASSERT_TRUE(Await([&] { return supervisors_[0]->Runs().empty(); }, base::Duration::Seconds(11)));
  EXPECT_EQ(Page()["aliveworkers"], 1);
  ASSERT_TRUE(Await([&] { return Got(*driver, "WorkerRemoved"); }, base::Duration::Seconds(4)));
  EXPECT_EQ(Page()["aliveworkers"], 0);
}

TEST_P(SparkStandalone, AWorkerThatEndsInOrderIsLostAtOnce) {
  StartWorker("node", 4);
  ASSERT_TRUE(AwaitWorkers(1));
  bool ended = false;
  workers_[0]->EndAll([&] { ended = true; });
  ASSERT_TRUE(Await([&] { return ended; }, base::Duration::Seconds(2)));
  KillWorker();
  EXPECT_TRUE(Await([&] { return Page()["aliveworkers"] == 0; }, base::Duration::Seconds(1)));
}

TEST_P(SparkStandalone, StrangersAtAWorkersPortTakeNoRoom) {
  StartWorker("node", 4);
  ASSERT_TRUE(AwaitWorkers(1));
  const auto strangers = [&](size_t count, const std::string& words) {
    std::vector<std::unique_ptr<Peer>> peers;
    for (size_t i = 0; i < count; ++i) {
      peers.push_back(Connect({"node", 35000}));
      peers.back()->Write(words);
    }
    return peers;
  };
  const auto closed = [](const auto& peers) { return std::ranges::count_if(peers, &Peer::closed); };
  // Half a message of 1000 KiB each, in all more than the port may hold; one more byte would be too long a message.
  const std::string half = std::string("\0\0\0\0\0\x0f\xa0\0\x03", 9) + std::string(900 << 10, 'x');
  const auto big = strangers(40, half);
  EXPECT_TRUE(Await([&] { return closed(big) >= 4; }, base::Duration::Seconds(5)));
  EXPECT_LT(closed(big), 10) << "the others have time";
  const auto silent = strangers(1'001, "");
  EXPECT_TRUE(Await([&] { return closed(big) + closed(silent) >= 41; }, base::Duration::Seconds(5)));
  EXPECT_TRUE(Await([&] { return closed(big) + closed(silent) == 1'041; }, base::Duration::Seconds(15)))
      << closed(big) << " " << closed(silent);
  EXPECT_EQ(Page()["aliveworkers"], 1);
  auto driver = Driver();
  EXPECT_TRUE(Await([&] { return Count(*driver, "ExecutorUpdated") == 2; }));
}

TEST_P(SparkStandalone, DashboardsFindSparksMetrics) {
  StartWorker("node", 2);
  ASSERT_TRUE(AwaitWorkers(1));
  auto driver = Driver();
  ASSERT_TRUE(Await([&] { return Count(*driver, "ExecutorUpdated") == 2; }));
  const auto body = [this](const char* path) { return sm::SparkMetrics(master_->cluster(), path)->body; };
  EXPECT_EQ(json::parse(body("/metrics/master/json/"))["gauges"]["master.workers"]["value"], 1);
  EXPECT_THAT(body("/metrics/master/prometheus/"),
              testing::HasSubstr("metrics_master_aliveWorkers_Number{type=\"gauges\"} 1\n"));
  const json gauges = json::parse(body("/metrics/applications/json"))["gauges"];
  ASSERT_EQ(gauges.size(), 2U) << gauges;
  EXPECT_TRUE(gauges.begin().key().starts_with("application.") && gauges.begin().key().ends_with(".cores"));
  EXPECT_EQ(gauges.begin().value()["value"], 2);
  EXPECT_THAT(body("/metrics/applications/prometheus"), testing::HasSubstr("_cores_Value{type=\"gauges\"} 2\n"));
  EXPECT_FALSE(sm::SparkMetrics(master_->cluster(), "/metrics/").has_value());
}

TEST_P(SparkStandalone, RestRefusesWhatIsNoSubmission) {
  const std::string create = "/v1/submissions/create";
  EXPECT_EQ(Rest("POST", create).status, 400);
  EXPECT_EQ(Rest("POST", create, "{}").status, 400);
  const auto unknown = Rest("POST", create, R"({"action":"Foo"})");
  EXPECT_EQ(unknown.status, 500);
  EXPECT_FALSE(json::accept(unknown.body)) << "Spark's servlet fails, and its container answers";
  EXPECT_EQ(Rest("POST", create, R"({"action":"CreateSubmissionRequest"})").status, 400);
  EXPECT_EQ(Rest("GET", create).status, 405);
  EXPECT_EQ(Rest("POST", "/v1/submissions/kill").status, 400);
  EXPECT_EQ(Rest("GET", "/v1/submissions/status").status, 400);
  const auto version = Rest("POST", "/v2/submissions/create");
  EXPECT_EQ(version.status, 468);
  EXPECT_EQ(json::parse(version.body)["highestProtocolVersion"], "v1");
  const bool spark4 = GetParam().starts_with("4");
  EXPECT_EQ(Rest("GET", "/v1/submissions/readyz").status, spark4 ? 200 : 400);
}

TEST_P(SparkStandalone, ThePageSaysWhyAnApplicationWaits) {
  auto driver = Driver();
  const std::string app = master_->cluster().records().applications()[0].id;
  EXPECT_EQ(json::parse(sm::WaitingJson(master_->cluster()))[app], "no worker is alive");
  StartWorker("node", 1);
  ASSERT_TRUE(AwaitWorkers(1));
  EXPECT_EQ(json::parse(sm::WaitingJson(master_->cluster()))[app], "no worker has 1 free core");
}

}  // namespace
}  // namespace fairlead::oracle
