// Recorded drivers, and strangers, before `fairlead spark-master` and a resource manager in a simulated world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "endpoints/spark/master_messages.h"
#include "endpoints/spark/scala_values.h"
#include "env_sim/world.h"
#include "model/ids.h"
#include "oracle/spark_peer.h"
#include "oracle/spark_rpc_recording.h"
#include "process/rm/resource_manager.h"
#include "process/spark_master/spark_master.h"
#include "process/spark_master/yarn_source.h"
#include "scheduler/fairlead/fairlead.h"
#include "wire/java_stream/reader.h"
#include "wire/java_stream/writer.h"
#include "wire/yarn/protocols.h"

namespace fairlead::oracle {
namespace {

namespace es = endpoints::spark;
namespace js = wire::java_stream;
namespace st = wire::spark_transport;
namespace rm = process::rm;
namespace wy = wire::yarn;
using process::spark_master::SparkMaster;
using ::testing::HasSubstr;

class SparkDriver : public ::testing::Test {
 protected:
  SparkDriver() {
    rm::ResourceManagerOptions options;
    options.ports.client = {"rm", 8032};
    options.ports.scheduler = {"rm", 8030};
    options.ports.tracker = {"rm", 8031};
    options.ports.admin = {"rm", 8033};
    options.groups_of = [](const std::string& user) { return std::vector<std::string>{user}; };
    options.rack_of = [](const std::string&) { return "/default-rack"; };
    options.make_scheduler = [](int64_t epoch) -> base::Result<std::unique_ptr<scheduler::Scheduler>> {
      scheduler::FairleadConfig config;
      config.epoch = epoch;
      return scheduler::MakeFairlead(config);
    };
    env_sim::Machine& machine = world_.AddMachine("rm");
    manager_ = std::move(*rm::ResourceManager::Start(machine.loop(), machine.net(), &machine.store(), options));
    model::rm::RegisterNode node;
    node.address = {"node", 8041};
    node.capacity = model::Resources::Of(65536, 64);
    manager_->batches().Ask(node, [](const model::rm::OuterEffect&) {});

    process::spark_master::SparkMasterSettings settings;
    settings.listen = {"door", 7077};
    settings.host = "door";
    yarn_.resource_managers = {{"rm", 8032}};
    yarn_.schedulers = {{"rm", 8030}};
    settings.peers = {.connections_max = 100, .per_address_max = 100};
    for (const std::string& release : kSparkReleases) {
      if (release != "4.1.4") settings.builds.push_back({"/opt/spark-" + release, release, CatalogOf(release)});
    }
    settings_ = std::move(settings);
    world_.AddMachine("door");
    StartMaster();
    world_.AddMachine("driver");
    world_.AddMachine("node");
  }

  void StartMaster() {
    env_sim::Machine& door = world_.machine("door");
    source_ = std::make_unique<process::spark_master::YarnSource>(door.loop(), door.net(), &door.store(), log_, yarn_);
    auto started = SparkMaster::Start(door.loop(), door.net(), log_, settings_, *source_);
    ASSERT_TRUE(started.ok());
    master_ = std::move(*started);
  }
  /// As kill -9, and a new start.
  void RestartMaster() {
    world_.machine("door").Crash();
    master_.reset();
    world_.machine("door").Restart();
    StartMaster();
  }

  bool Await(const std::function<bool()>& done, base::Duration patience = base::Duration::Seconds(30)) {
    return world_.RunUntil(world_.now() + patience, done);
  }

  std::unique_ptr<Peer> Connect() {
    std::unique_ptr<Peer> peer;
    bool failed = false;
    world_.machine("driver").net().Connect({"door", 7077}, base::Duration::Seconds(5),
                                           [&](base::Result<std::unique_ptr<env::Stream>> stream) {
                                             failed = !stream.ok();
                                             if (stream.ok()) peer = std::make_unique<Peer>(std::move(*stream));
                                           });
    EXPECT_TRUE(Await([&] { return peer != nullptr || failed; }));
    return peer;
  }

  /// The recorded driver's bytes up to its registration.
  std::string Opening(const std::string& release) {
    const auto messages = ReadSparkMessages(kSparkFolder, release);
    return messages->at(0).frame + messages->at(2).frame;
  }

  /// A registered driver, and the id of its application.
  std::pair<std::unique_ptr<Peer>, std::string> Register(const std::string& release) {
    auto peer = Connect();
    peer->Write(Opening(release));
    const std::string name = std::string(kDeployMessages) + "RegisteredApplication";
    EXPECT_TRUE(Await([&] { return peer->Find(name) != nullptr; }));
    if (peer->Find(name) == nullptr) return {std::move(peer), ""};
    const auto graph = js::ReadStream(peer->Find(name)->content, es::kSparkMessage);
    return {std::move(peer), *graph->Text(graph->RefOf(graph->Root(), "appId"))};
  }

  /// A recorded message of a driver, with the application's id in the place of its own.
  std::string Message(const std::string& release, const std::string& name, const std::string& application) {
    const auto messages = ReadSparkMessages(kSparkFolder, release);
    for (const SparkMessage& message : *messages) {
      if (message.name != release + ", " + name) continue;
      auto graph = js::ReadStream(message.stream, es::kSparkMessage);
      graph->SetField(graph->Root(), "appId", graph->Add(js::String{application}), true);
      return es::EncodeRpcMessage(
          {es::RpcAddress{"driver", 1}, es::RpcAddress{"door", 7077}, "Master", js::WriteStream(*graph)});
    }
    return {};
  }
  std::string OneWay(const std::string& body) {
    std::string frame;
    st::AppendOneWayMessage(frame, body);
    return frame;
  }
  /// Sends an ask and gives its answer, a Boolean's stream.
  std::string Ask(Peer& peer, const std::string& body) {
    std::string frame;
    st::AppendRpcRequest(frame, ++last_request_, body);
    peer.Write(frame);
    const auto answered = [&] { return !peer.received().empty() && peer.received().back().id == last_request_; };
    EXPECT_TRUE(Await(answered));
    return answered() ? peer.received().back().content : "";
  }

  wy::ApplicationReportProto Report(const std::string& id) {
    wy::GetApplicationReportRequestProto request;
    const auto parsed = model::ParseApplicationId(id);
    request.application_id.emplace().cluster_timestamp = parsed->cluster_timestamp;
    request.application_id->id = parsed->number;
    std::optional<wy::ApplicationReportProto> report;
    client_.Call<wy::GetApplicationReportResponseProto>(
        {{"rm", 8032}, std::string(wy::kApplicationClientProtocol), {"root", "", std::nullopt}}, "getApplicationReport",
        request, base::Duration::Seconds(5),
        [&](base::Result<wy::GetApplicationReportResponseProto, process::rpc::RpcError> answer) {
          report = answer.ok() ? answer->ApplicationReport() : wy::ApplicationReportProto();
        });
    EXPECT_TRUE(Await([&] { return report.has_value(); }));
    return *report;
  }
  bool AwaitState(const std::string& id, wy::YarnApplicationStateProto state) {
    const base::Instant until = world_.now() + base::Duration::Seconds(120);
    while (Report(id).YarnApplicationState() != state) {
      if (world_.now() > until) return false;
      Await([] { return false; }, base::Duration::Millis(200));
    }
    return true;
  }

  env_sim::World world_{1};
  env::NullLog log_;
  process::spark_master::SparkMasterSettings settings_;
  std::unique_ptr<rm::ResourceManager> manager_;
  process::spark_master::YarnSettings yarn_;
  std::unique_ptr<process::spark_master::YarnSource> source_;
  std::unique_ptr<SparkMaster> master_;
  process::rpc::RpcClient client_{world_.AddMachine("client").loop(), world_.machine("client").net()};
  int64_t last_request_ = 1'000'000;
};

TEST_F(SparkDriver, BecomesAnApplicationThatSucceeds) {
  for (const std::string release : {"3.5.5", "4.3.0"}) {
    auto [driver, id] = Register(release);
    EXPECT_EQ(driver->received().at(0).content, es::EncodeBoolean(true));
    ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kRunning));
    const auto report = Report(id);
    EXPECT_EQ(report.name, "Spark Pi");
    EXPECT_EQ(report.user, "root");
    EXPECT_EQ(report.application_type, "SPARK");
    EXPECT_TRUE(report.UnmanagedApplication());
    driver->Write(OneWay(Message(release, "UnregisterApplication", id)));
    ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kFinished));
    EXPECT_EQ(Report(id).FinalApplicationStatus(), wy::FinalApplicationStatusProto::kSucceeded);
    EXPECT_TRUE(Await([&] { return master_->applications() == 0; }));
  }
}

TEST_F(SparkDriver, ThatIsGoneFailsItsApplication) {
  for (const bool at_once : {true, false}) {
    auto [driver, id] = Register("3.5.5");
    ASSERT_TRUE(at_once || AwaitState(id, wy::YarnApplicationStateProto::kRunning));
    driver->Close();
    ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kFinished));
    EXPECT_EQ(Report(id).FinalApplicationStatus(), wy::FinalApplicationStatusProto::kFailed);
    EXPECT_THAT(std::string(Report(id).Diagnostics()), HasSubstr("the driver's connection ended"));
    EXPECT_TRUE(Await([&] { return master_->applications() == 0; }));
  }
}

TEST_F(SparkDriver, MayBeDoneAtOnce) {
  auto [driver, id] = Register("4.3.0");
  driver->Write(OneWay(Message("4.3.0", "UnregisterApplication", id)));
  ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kFinished));
  EXPECT_EQ(Report(id).FinalApplicationStatus(), wy::FinalApplicationStatusProto::kSucceeded);
}

TEST_F(SparkDriver, RegistersAgainWithTheSameAnswer) {
  auto [driver, id] = Register("3.5.5");
  const size_t before = driver->received().size();
  driver->Write(ReadSparkMessages(kSparkFolder, "3.5.5")->at(2).frame);
  EXPECT_TRUE(Await([&] { return driver->received().size() > before; }));
  EXPECT_EQ(driver->received().back().content,
            driver->Find(std::string(kDeployMessages) + "RegisteredApplication")->content);
  EXPECT_EQ(master_->applications(), 1u);
}

TEST_F(SparkDriver, IsEndedWhenNoExecutorStarts) {
  // The node has room, but nobody starts a container there.
  auto [driver, id] = Register("4.3.0");
  const std::string name = std::string(kDeployMessages) + "ApplicationRemoved";
  ASSERT_TRUE(Await([&] { return driver->Find(name) != nullptr; }, base::Duration::Seconds(600)));
  const auto graph = js::ReadStream(driver->Find(name)->content, es::kSparkMessage);
  EXPECT_THAT(*graph->Text(graph->RefOf(graph->Root(), "message")),
              HasSubstr("10 executors failed one after the other"));
  ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kFinished));
  EXPECT_EQ(Report(id).FinalApplicationStatus(), wy::FinalApplicationStatusProto::kFailed);
}

TEST_F(SparkDriver, IsEndedWhenItsApplicationIsKilled) {
  auto [driver, id] = Register("3.5.5");
  ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kRunning));
  wy::KillApplicationRequestProto request;
  const auto parsed = model::ParseApplicationId(id);
  request.application_id.emplace().cluster_timestamp = parsed->cluster_timestamp;
  request.application_id->id = parsed->number;
  client_.Call<wy::KillApplicationResponseProto>(
      {{"rm", 8032}, std::string(wy::kApplicationClientProtocol), {"root", "", std::nullopt}}, "forceKillApplication",
      request, base::Duration::Seconds(5),
      [](base::Result<wy::KillApplicationResponseProto, process::rpc::RpcError>) {});
  const std::string name = std::string(kDeployMessages) + "ApplicationRemoved";
  ASSERT_TRUE(Await([&] { return driver->Find(name) != nullptr; }));
  const auto graph = js::ReadStream(driver->Find(name)->content, es::kSparkMessage);
  EXPECT_THAT(*graph->Text(graph->RefOf(graph->Root(), "message")), HasSubstr("was killed by user root"));
  EXPECT_TRUE(Await([&] { return master_->applications() == 0; }));
}

TEST_F(SparkDriver, AsksAreAnswered) {
  auto peer = Connect();
  for (const char* name : {"RequestExecutors one profile", "KillExecutors two"}) {
    EXPECT_EQ(Ask(*peer, Message("3.5.5", name, "application_1_0001")), es::EncodeBoolean(false)) << "unregistered";
  }
  auto [driver, id] = Register("3.5.5");
  EXPECT_EQ(Ask(*driver, Message("3.5.5", "RequestExecutors two profiles", id)), es::EncodeBoolean(true));
  EXPECT_EQ(Ask(*driver, Message("3.5.5", "KillExecutors two", id)), es::EncodeBoolean(true));
  EXPECT_EQ(Ask(*driver, Message("3.5.5", "KillExecutors two", "application_1_0001")), es::EncodeBoolean(false))
      << "of another application";
  EXPECT_THAT(Ask(*driver, Message("3.5.5", "RequestDriverStatus", id)), HasSubstr("does not take"));
}

TEST_F(SparkDriver, OfAnUnknownBuildIsRefused) {
  auto peer = Connect();
  peer->Write(Opening("4.1.4"));
  // A build is told by its RegisterApplication: one with equal numbers is as good as the same.
  const bool known = CatalogOf("4.1.4").at(std::string(kDeployMessages) + "RegisterApplication").suid ==
                     CatalogOf("4.3.0").at(std::string(kDeployMessages) + "RegisterApplication").suid;
  EXPECT_TRUE(known);
  EXPECT_TRUE(Await([&] { return master_->applications() == 1; }));

  auto stranger = Connect();
  std::string opening = Opening("3.5.5");
  const std::string name = std::string(kDeployMessages) + "RegisterApplication";
  opening[opening.find(name) + name.size()] ^= 1;  // in the serialVersionUID
  stranger->Write(opening);
  EXPECT_TRUE(Await([&] { return stranger->closed(); }));
  EXPECT_EQ(master_->applications(), 1u);
}

TEST_F(SparkDriver, GoesOnWhenItsMasterHasRestarted) {
  const std::string release = "4.3.0";
  auto [first, id] = Register(release);
  ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kRunning));
  const auto registration = es::DecodeDriverMessage(ReadSparkMessages(kSparkFolder, release)->at(2).stream);
  const es::RpcAddress address = std::get<es::RegisterApplication>(*registration).driver;
  std::unique_ptr<Peer> driver;
  auto listener =
      world_.AddMachine(address.host)
          .net()
          .Listen({address.host, static_cast<uint16_t>(address.port)},
                  [&](std::unique_ptr<env::Stream> stream) { driver = std::make_unique<Peer>(std::move(stream)); });
  ASSERT_TRUE(listener.ok());

  RestartMaster();
  ASSERT_TRUE(Await([&] { return driver != nullptr && !driver->received().empty(); }));
  EXPECT_EQ(driver->received().at(0).class_name, std::string(kDeployMessages) + "MasterChanged");
  const auto graph = js::ReadStream(driver->received().at(0).content, es::kSparkMessage);
  const js::Ref endpoint = graph->RefOf(graph->RefOf(graph->Root(), "master"), "endpointAddress");
  EXPECT_EQ(*graph->Text(graph->RefOf(endpoint, "toString")), "spark://Master@door:7077");
  driver->Write(OneWay(Message(release, "MasterChangeAcknowledged", id)));
  EXPECT_EQ(Ask(*driver, Message(release, "RequestExecutors one profile", id)), es::EncodeBoolean(true));
  EXPECT_EQ(Report(id).YarnApplicationState(), wy::YarnApplicationStateProto::kRunning);
  driver->Write(OneWay(Message(release, "UnregisterApplication", id)));
  ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kFinished));
  EXPECT_EQ(Report(id).FinalApplicationStatus(), wy::FinalApplicationStatusProto::kSucceeded);
  EXPECT_TRUE(Await([&] { return master_->applications() == 0; }));
  RestartMaster();
  EXPECT_EQ(master_->applications(), 0u);
}

TEST_F(SparkDriver, IsNotForgottenWheneverItsMasterDies) {
  const std::string release = "3.5.5";
  const auto registration = es::DecodeDriverMessage(ReadSparkMessages(kSparkFolder, release)->at(2).stream);
  const es::RpcAddress address = std::get<es::RegisterApplication>(*registration).driver;
  std::unique_ptr<Peer> driver;
  auto listener =
      world_.AddMachine(address.host)
          .net()
          .Listen({address.host, static_cast<uint16_t>(address.port)},
                  [&](std::unique_ptr<env::Stream> stream) { driver = std::make_unique<Peer>(std::move(stream)); });
  for (int moment = 0; moment < 60; ++moment) {
    auto [first, id] = Register(release);
    Await([] { return false; }, base::Duration::Millis(5 * moment));
    driver.reset();
    RestartMaster();
    ASSERT_TRUE(Await([&] { return driver != nullptr && !driver->received().empty(); })) << moment;
    driver->Write(OneWay(Message(release, "UnregisterApplication", id)));
    ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kFinished)) << moment;
    EXPECT_EQ(Report(id).FinalApplicationStatus(), wy::FinalApplicationStatusProto::kSucceeded) << moment;
    ASSERT_TRUE(Await([&] { return master_->applications() == 0; })) << moment;
  }
}

TEST_F(SparkDriver, ThatIsGoneAfterARestartFailsItsApplication) {
  auto [driver, id] = Register("3.5.5");
  world_.AddMachine("127.0.0.1");  // where the recorded driver listened; nobody does
  RestartMaster();
  ASSERT_TRUE(AwaitState(id, wy::YarnApplicationStateProto::kFinished));
  EXPECT_EQ(Report(id).FinalApplicationStatus(), wy::FinalApplicationStatusProto::kFailed);
  EXPECT_THAT(std::string(Report(id).Diagnostics()), HasSubstr("since this master has restarted"));
}

TEST_F(SparkDriver, StrangersAreClosedAndHarmNobody) {
  auto [driver, id] = Register("3.5.5");
  std::string stream_request;
  st::AppendStreamRequest(stream_request, "/jars/x");
  std::string upload;
  st::AppendUploadStream(upload, 1, "", 1 << 30);
  const auto number = [](int64_t value) {
    std::string out;
    for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
    return out;
  };
  std::string deep = "\xAC\xED";
  deep += std::string("\0\5", 2);
  for (int i = 0; i < 5000; ++i) {
    deep += std::string("\x75\x72\0\2[[\0\0\0\0\0\0\0\0\2\0\0\x78\x70\0\0\0\1", 23);
  }
  const std::vector<std::string> inputs = {
      "GET / HTTP/1.1\r\n\r\n",
      std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9),
      number(-1),
      number(INT64_MAX),
      number(1 << 30) + std::string(2 << 20, 'x'),
      stream_request,
      upload,
      OneWay(""),
      OneWay("\xEA\0\0\0\1x"),
      OneWay(es::EncodeRpcMessage({{}, {}, "Master", "no object"})),
      OneWay(es::EncodeRpcMessage({{}, {}, "Master", deep})),
      ReadSparkMessages(kSparkFolder, "3.5.5")->at(3).frame.substr(0, 200) + std::string(2000, 'q'),
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto peer = Connect();
    peer->Write(inputs[i]);
    // What announces more than it sends waits for the rest and is closed in the end.
    EXPECT_TRUE(Await([&] { return peer->closed(); }, base::Duration::Seconds(70))) << "input " << i;
  }
  EXPECT_EQ(Ask(*driver, Message("3.5.5", "KillExecutors one", id)), es::EncodeBoolean(true));
}

TEST_F(SparkDriver, SilentConnectionsAreBoundedAndClosed) {
  std::vector<std::unique_ptr<Peer>> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(Connect());
  EXPECT_LE(master_->connections(), 101u);
  auto [driver, id] = Register("3.5.5");
  EXPECT_FALSE(id.empty());
  EXPECT_TRUE(Await([&] { return master_->connections() == 1; }, base::Duration::Seconds(65)));
  EXPECT_TRUE(Await(
      [&] { return std::all_of(silent.begin(), silent.end(), [](const auto& peer) { return peer->closed(); }); }));
  EXPECT_FALSE(driver->closed());
}

}  // namespace
}  // namespace fairlead::oracle
