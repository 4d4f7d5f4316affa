#include "process/driver/shuffle_merges.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/bytes.h"
#include "env_sim/sim_disk.h"
#include "env_sim/world.h"
#include "process/driver/no_plans_for_test.h"
#include "process/executor/shuffle_pusher.h"
#include "process/shuffle/service.h"
#include "wire/spark_shuffle/layout.h"

// A job of maps and reducers whose blocks two shuffle services merge.

namespace fairlead::process::driver {
namespace {

namespace mt = model::tasks;
namespace we = wire::engine;
namespace layout = wire::spark_shuffle;
using base::Duration;
using executor::ShuffleClient;
using executor::ShufflePusher;

constexpr int32_t kMaps = 6;
constexpr int32_t kReduces = 5;
constexpr int32_t kShuffle = 3;
constexpr const char* kApp = "app";
constexpr const char* kMergeDirectory = "merge_manager_1";

std::string BlockOf(int32_t map, int32_t reduce) {
  if (map == 1 && reduce == 2) return "";  // an empty one
  return std::string(static_cast<size_t>(10 + map), static_cast<char>('a' + reduce)) + std::to_string(map);
}

/// A shuffle service that merges, and its machine.
struct Node {
  Node(env_sim::World& world, const std::string& host) : machine(world.AddMachine(host)) {
    config.listen = {host, 7337};
    config.core.local_roots = {"/data"};
    config.merges = true;
    for (int i = 0; i < layout::kSubDirsPerLocalDir; ++i) {
      char sub[40];
      std::snprintf(sub, sizeof sub, "/data/%s/%02x", kMergeDirectory, static_cast<unsigned>(i));
      EXPECT_TRUE(machine.disk().MakeDirectories(sub).ok());
    }
    auto& files = dynamic_cast<env_sim::SimDisk&>(machine.disk());
    service = std::make_unique<shuffle::Service>(machine.loop(), machine.disk(), &machine.store(), log, config, &files);
    EXPECT_TRUE(service->Recover().ok());
    worker = std::make_unique<shuffle::IoWorker>(machine.loop(), machine.net(), machine.disk(), nullptr, log, config,
                                                 *service);
    service->AddWorker(*worker);
    EXPECT_TRUE(worker->Listen(config.listen).ok());
  }
  void Crash() {
    worker.reset();
    service.reset();
    machine.Crash();
  }
  env_sim::Machine& machine;
  env::NullLog log;
  shuffle::Config config;
  std::unique_ptr<shuffle::Service> service;
  std::unique_ptr<shuffle::IoWorker> worker;
};

/// An executor that runs what the test says, and pushes.
struct PushingExecutor : ExecutorLink {
  PushingExecutor(env_sim::World& world, JobDriver& to, const std::string& name, const env::Endpoint& node_service)
      : driver(to),
        id(name),
        service(node_service),
        machine(world.AddMachine("executor-" + name)),
        client(machine.loop(), machine.net(), kApp, {}),
        pusher(machine.loop(), machine.disk(), client, {Directory()}, {}, Hooks()) {
    client.KeepMergedIn(kMergeDirectory, 1);
    client.Register(service, id, {Directory()}, [this](const base::Status& status) {
      EXPECT_TRUE(status.ok()) << status.error().message;
      client.AskWhetherItMerges(service, [this](bool merges) { service_merges = merges; });
    });
  }
  void Send(const we::Message& message) override {
    if (const auto* launch = std::get_if<we::Launch>(&message)) {
      for (const we::TaskLaunch& task : launch->tasks) tasks.push_back(task);
    } else if (const auto* order = std::get_if<we::PushShuffle>(&message)) {
      ordered = true;
      if (pushes) pusher.Begin(*order);
    } else if (const auto* answer = std::get_if<we::MapOutputs>(&message)) {
      outputs.push_back(*answer);
    }
  }
  std::string Directory() const { return "/data/executor-" + id; }
  ShufflePusher::Hooks Hooks() {
    ShufflePusher::Hooks hooks;
    hooks.done = [this](const we::MapPushed& pushed) { driver.OnMessage(index, pushed); };
    return hooks;
  }
  /// The first task of a map stage.
  void RunMap() {
    const we::TaskLaunch task = tasks.front();
    tasks.pop_front();
    std::string data, index_file, sizes;
    base::ByteWriter offsets(index_file);
    offsets.I64(0);
    for (int32_t reduce = 0; reduce < kReduces; ++reduce) {
      const std::string block = BlockOf(task.partition, reduce);
      data += block;
      offsets.I64(static_cast<int64_t>(data.size()));
      sizes.push_back(static_cast<char>(tasks::EncodeSize(static_cast<int64_t>(block.size()))));
    }
    Put(layout::ShuffleDataName(kShuffle, task.task), data);
    Put(layout::ShuffleIndexName(kShuffle, task.task), index_file);
    pusher.Wrote(kShuffle, task.partition, task.task);
    we::TaskDone done;
    done.task = task.task;
    done.sizes = sizes;
    driver.OnMessage(index, done);
  }
  void Put(const std::string& name, const std::string& bytes) {
    const std::string path = layout::BlockPath({Directory()}, name);
    EXPECT_TRUE(machine.disk().MakeDirectories(path.substr(0, path.rfind('/'))).ok());
    EXPECT_TRUE(machine.disk().WriteFileAtomically(path, bytes).ok());
  }

  JobDriver& driver;
  const std::string id;
  const env::Endpoint service;
  env_sim::Machine& machine;
  ShuffleClient client;
  ShufflePusher pusher;
  mt::ExecutorIndex index;
  bool service_merges = false;
  bool pushes = true;
  bool ordered = false;
  std::deque<we::TaskLaunch> tasks;
  std::vector<we::MapOutputs> outputs;
};

class ShuffleMergesTest : public testing::Test, private DriverListener {
 protected:
  void Begin(tasks::MergeWhen when, mt::Determinism determinism = mt::Determinism::kDeterminate) {
    tasks::Config config;
    config.external_shuffle_service = true;
    driver_ = std::make_unique<JobDriver>(machine_.loop(), config, plans_);
    MergeSettings settings;
    settings.when = when;
    settings.application_id = kApp;
    driver_->MergeShuffles(machine_.net(), settings);
    driver_->AddListener(this);
    for (int i = 0; i < 2; ++i) {
      Node& node = *nodes_[static_cast<size_t>(i)];
      executors_.push_back(std::make_unique<PushingExecutor>(world_, *driver_, std::to_string(i), node.config.listen));
    }
    Run(Duration::Millis(100));
    for (const auto& executor : executors_) Join(*executor, "node" + executor->id);
    Submit(determinism);
    Run(Duration::Millis(100));
  }
  void Join(PushingExecutor& executor, const std::string& host) {
    ExecutorInfo info{
        executor.id, host, "", kMaps, executor.service.host, executor.service.port, false, executor.service_merges};
    executor.index = driver_->AddExecutor(info, &executor);
  }
  void Submit(mt::Determinism determinism) {
    mt::SubmitJob job;
    job.job = 0;
    mt::Dataset maps;
    maps.id = 0;
    maps.partitions = kMaps;
    maps.determinism = determinism;
    mt::Dataset reduced;
    reduced.id = 1;
    reduced.partitions = kReduces;
    mt::Dependency dependency;
    dependency.kind = mt::Dependency::Kind::kShuffle;
    dependency.shuffle = kShuffle;
    reduced.dependencies = {dependency};
    reduced.dependencies[0].dataset = 0;
    job.datasets = {maps, reduced};
    job.target = 1;
    for (int32_t i = 0; i < kReduces; ++i) job.partitions.push_back(i);
    driver_->Submit(std::move(job), {[](int32_t, const std::string&) {}, [](const mt::JobEnded&) {}});
  }
  /// Every map, then reducers of both executors ask where their input is.
  void RunMaps() {
    for (const auto& executor : executors_) {
      for (size_t left = executor->tasks.size(); left > 0; --left) {
        executor->RunMap();
        Run(Duration::Micros(1));  // a step of the driver
      }
    }
    Ask();
  }
  void Ask() {
    for (const auto& executor : executors_) {
      if (!lost_.contains(executor.get())) driver_->OnMessage(executor->index, we::AskMapOutputs{kShuffle});
    }
  }
  void Lose(PushingExecutor& executor) {
    lost_.insert(&executor);
    driver_->RemoveExecutor(executor.index, mt::LossKind::kExitedNotByApp, false, "test");
  }
  void Run(Duration time) {
    world_.Script(world_.now() + time, [] {});  // time goes on even when nothing happens
    world_.RunUntil(world_.now() + time, [] { return false; });
  }
  void OnMerged(const MergeResult& result) override { results_.push_back(result); }
  size_t Answered() const { return executors_[0]->outputs.size() + executors_[1]->outputs.size(); }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("driver");
  NoPlans plans_;
  std::vector<std::unique_ptr<Node>> nodes_ = [this] {
    std::vector<std::unique_ptr<Node>> nodes;
    for (const char* host : {"node0", "node1"}) nodes.push_back(std::make_unique<Node>(world_, host));
    return nodes;
  }();
  std::unique_ptr<JobDriver> driver_;
  std::vector<std::unique_ptr<PushingExecutor>> executors_;
  std::set<const PushingExecutor*> lost_;
  std::vector<MergeResult> results_;
};

TEST_F(ShuffleMergesTest, ReducersWaitForTheMergeAndReadItWhereItLies) {
  Begin(tasks::MergeWhen::kAlways);
  RunMaps();
  EXPECT_EQ(Answered(), 0u) << "before the merge has ended";
  Run(Duration::Seconds(1));
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].blocks, kMaps * kReduces);
  EXPECT_EQ(results_[0].merged, kMaps * kReduces - 1) << "all but the empty one";
  ASSERT_EQ(Answered(), 2u);
  const we::MapOutputs& answer = executors_[0]->outputs[0];
  EXPECT_EQ(answer.merged, std::string(kReduces, '\1'));
  ASSERT_EQ(answer.merge.mergers.size(), 2u);
  for (int32_t reduce = 0; reduce < kReduces; ++reduce) {
    const std::string& host = answer.merge.mergers[tasks::MergerOf(reduce, kReduces, 2)].host;
    const auto places = driver_->core().PlacesOf(1, 0, reduce);
    ASSERT_EQ(places.size(), 1u);
    EXPECT_EQ(places[0].host, host);
    ShuffleClient& client = executors_[0]->client;
    const env::Endpoint service{host, 7337};
    std::vector<int32_t> maps;
    std::string chunk;
    client.AskMergedChunks(service, kShuffle, reduce, [&](base::Result<std::vector<layout::MapBitmap>> chunks) {
      ASSERT_TRUE(chunks.ok()) << chunks.error().message;
      ASSERT_EQ(chunks->size(), 1u);
      maps = chunks->front().Indices();
    });
    ShuffleClient::FetchCallbacks callbacks;
    callbacks.on_block = [&](size_t, std::string_view bytes) { chunk = bytes; };
    callbacks.on_end = [](const base::Status& status) { EXPECT_TRUE(status.ok()) << status.error().message; };
    client.FetchChunks(service, kShuffle, reduce, {0}, std::move(callbacks));
    Run(Duration::Seconds(1));
    EXPECT_EQ(maps.size(), reduce == 2 ? kMaps - 1 : kMaps);
    for (const int32_t map : maps) {
      const size_t at = chunk.find(BlockOf(map, reduce));
      ASSERT_NE(at, std::string::npos);
      chunk.erase(at, BlockOf(map, reduce).size());
    }
    EXPECT_EQ(chunk, "") << "bytes of no block";
  }
}

TEST(Merges, AServiceIsBelievedInWhatIsItsBusinessAlone) {
  const auto said = [](int32_t reduce, int32_t maps, int64_t bytes) {
    layout::MergeStatus status;
    status.reduce_id = reduce;
    status.bytes = bytes;
    for (int32_t map = 0; map < maps; ++map) status.maps.Add(map);
    return status;
  };
  std::string merged(4, '\0');
  MergeResult result;
  // The second of two services merges the partitions 2 and 3 of four.
  AddBelieved({said(2, 3, 10), said(2, 3, 10), said(0, 3, 10), said(-1, 1, 1), said(4, 1, 1), said(3, 9, 1),
               said(3, 1, -1), said(3, 1, INT64_MAX)},
              1, 2, 3, merged, result);
  EXPECT_EQ(merged, std::string("\0\0\1\0", 4));
  EXPECT_EQ(result.merged, 3);
  EXPECT_EQ(result.bytes, 10);
}

TEST_F(ShuffleMergesTest, RowsThatMayDifferWhenTheyAreMadeAgainAreNotPushed) {
  Begin(tasks::MergeWhen::kAlways, mt::Determinism::kIndeterminate);
  RunMaps();
  EXPECT_EQ(Answered(), 2u) << "at once";
  EXPECT_FALSE(executors_[0]->ordered);
  EXPECT_EQ(executors_[0]->outputs[0].merge.mergers.size(), 0u);
}

TEST_F(ShuffleMergesTest, WhatDoesNotPayIsNotPushed) {
  Begin(tasks::MergeWhen::kWhenItPays);
  RunMaps();
  EXPECT_EQ(Answered(), 2u);
  EXPECT_FALSE(executors_[0]->ordered);
}

TEST_F(ShuffleMergesTest, AServiceThatIsGoneHasMergedNothing) {
  Begin(tasks::MergeWhen::kAlways);
  nodes_[1]->Crash();
  RunMaps();
  Run(Duration::Seconds(21));  // ten for pushes, ten for the answer
  ASSERT_EQ(Answered(), 2u);
  const we::MapOutputs& answer = executors_[0]->outputs[0];
  const int32_t of_the_first = (kReduces + 1) / 2;
  EXPECT_EQ(answer.merged, std::string(of_the_first, '\1') + std::string(kReduces - of_the_first, '\0'));
}

TEST_F(ShuffleMergesTest, PushesOfALostExecutorAreNotWaitedFor) {
  Begin(tasks::MergeWhen::kAlways);
  executors_[1]->pushes = false;
  RunMaps();
  Run(Duration::Seconds(2));
  EXPECT_EQ(Answered(), 0u);
  Lose(*executors_[1]);
  Run(Duration::Seconds(1));
  EXPECT_EQ(executors_[0]->outputs.size(), 1u);
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_GT(results_[0].merged, 0);
  EXPECT_LT(results_[0].merged, kMaps * kReduces - 1);
}

TEST_F(ShuffleMergesTest, ExecutorsThatDoNotPushAreWaitedForTenSeconds) {
  Begin(tasks::MergeWhen::kAlways);
  for (const auto& executor : executors_) executor->pushes = false;
  RunMaps();
  Run(Duration::Seconds(9));
  EXPECT_EQ(Answered(), 0u);
  Run(Duration::Seconds(2));
  ASSERT_EQ(Answered(), 2u);
  EXPECT_EQ(results_[0].merged, 0);
  EXPECT_TRUE(executors_[0]->outputs[0].merged.empty());
  EXPECT_TRUE(driver_->core().PlacesOf(1, 0, 0).empty() || driver_->core().Outputs(kShuffle)->maps() == kMaps);
}

TEST_F(ShuffleMergesTest, WhoComesLateIsToldToPush) {
  Begin(tasks::MergeWhen::kAlways);
  for (int i = 0; i < 3; ++i) {
    executors_[0]->RunMap();
    executors_[1]->RunMap();
    Run(Duration::Millis(10));
    if (i == 1) break;
  }
  ASSERT_TRUE(executors_[0]->ordered);
  PushingExecutor late(world_, *driver_, "2", nodes_[0]->config.listen);
  Run(Duration::Millis(100));
  Join(late, "node0");
  Run(Duration::Millis(100));
  EXPECT_TRUE(late.ordered);
}

TEST_F(ShuffleMergesTest, WhatIsForgottenIsRemovedFromItsServices) {
  Begin(tasks::MergeWhen::kAlways);
  RunMaps();
  Run(Duration::Seconds(1));
  const std::string path = layout::FilePath({std::string("/data/") + kMergeDirectory}, layout::kSubDirsPerLocalDir,
                                            fairlead::shuffle::MergedFileName(kApp, kShuffle, 0, 0) + ".data");
  ASSERT_TRUE(nodes_[0]->machine.disk().Stat(path).ok());
  driver_->Forget({0, 1}, {kShuffle});
  Run(Duration::Seconds(1));
  EXPECT_FALSE(nodes_[0]->machine.disk().Stat(path).ok());
}

}  // namespace
}  // namespace fairlead::process::driver
