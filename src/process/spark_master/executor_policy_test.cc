#include "process/spark_master/executor_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/spark_master/executor_command.h"

namespace fairlead::process::spark_master {
namespace {

namespace es = endpoints::spark;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

es::ApplicationDescription Described(std::optional<int32_t> cores_max, std::optional<int32_t> limit,
                                     int32_t cores = 2) {
  es::ApplicationDescription application;
  application.name = "job";
  application.cores_max = cores_max;
  application.initial_executor_limit = limit;
  application.profile.cores = cores;
  application.profile.memory_mib = 1024;
  return application;
}

application::ExecutorContainer Container(int id, int32_t kind = 0) {
  return {std::to_string(id), kind, "container_1_1_01_" + std::to_string(id), {"host-1", 8041}, "host-1:8042", true};
}

application::ExecutorEnd End(int id, int32_t status, const std::string& diagnostics = "") {
  return {Container(id), status, diagnostics, false};
}

/// The effects of one event, sorted into kinds.
struct Told {
  std::map<int32_t, int32_t> targets;
  std::vector<std::string> released;
  std::vector<std::string> given_up;
  std::vector<es::ExecutorUpdated> updates;
  size_t added = 0;
};

Told Sort(const ExecutorPolicy::Effects& effects) {
  Told told;
  for (const PolicyEffect& effect : effects) {
    if (const auto* target = std::get_if<SetTarget>(&effect)) told.targets[target->profile] = target->executors;
    if (const auto* release = std::get_if<Release>(&effect)) told.released.push_back(release->executor);
    if (const auto* give_up = std::get_if<GiveUp>(&effect)) told.given_up.push_back(give_up->reason);
    if (const auto* update = std::get_if<es::ExecutorUpdated>(&effect)) told.updates.push_back(*update);
    if (std::get_if<es::ExecutorAdded>(&effect) != nullptr) ++told.added;
  }
  return told;
}

struct World {
  explicit World(const es::ApplicationDescription& application, PolicySettings settings = {})
      : policy(settings, application) {
    ExecutorPolicy::Effects effects;
    policy.Begin(effects);
    begin = Sort(effects);
  }
  template <class Event>
  Told Do(Event event) {
    ExecutorPolicy::Effects effects;
    event(effects);
    return Sort(effects);
  }
  Told Grant(int id, int32_t kind = 0) {
    return Do([&](auto& effects) { policy.OnGranted(Container(id, kind), effects); });
  }
  Told Start(int id, int32_t kind = 0) {
    return Do([&](auto& effects) { policy.OnStarted(now, Container(id, kind), effects); });
  }
  Told Ended(const application::ExecutorEnd& end) {
    return Do([&](auto& effects) { policy.OnEnded(now, end, effects); });
  }
  Told Request(std::vector<std::pair<es::ResourceProfile, int32_t>> totals, bool answer = true) {
    return Do([&](auto& effects) { EXPECT_EQ(policy.OnRequest({"app", std::move(totals)}, effects), answer); });
  }
  ExecutorPolicy policy;
  Told begin;
  base::Instant now;
};

TEST(ExecutorPolicy, CoresMaxBoundsTheNumber) {
  EXPECT_EQ(World(Described(7, std::nullopt)).begin.targets.at(0), 3);
  EXPECT_EQ(World(Described(1, std::nullopt)).begin.targets.at(0), 0);
  EXPECT_EQ(World(Described(std::nullopt, std::nullopt)).begin.targets.at(0), 4);
  EXPECT_EQ(World(Described(std::nullopt, std::nullopt, 0)).begin.targets.at(0), 8) << "one core each";
  EXPECT_EQ(World(Described(100, 5)).begin.targets.at(0), 5);
}

TEST(ExecutorPolicy, RequestsSetTotals) {
  const auto application = Described(10, 0);
  World world(application);
  EXPECT_EQ(world.begin.targets.at(0), 0);
  EXPECT_EQ(world.Request({{application.profile, 3}}).targets.at(0), 3);
  EXPECT_EQ(world.Request({{application.profile, 300}}).targets.at(0), 5);
  EXPECT_EQ(world.Request({{application.profile, 1}}).targets.at(0), 1);
}

TEST(ExecutorPolicy, ProfilesShareTheCores) {
  const auto application = Described(10, 0);
  World world(application);
  es::ResourceProfile large = application.profile;
  large.id = 1;
  large.cores = 4;
  EXPECT_THAT(world.Request({{application.profile, 2}, {large, 3}}).targets,
              ElementsAre(testing::Pair(0, 2), testing::Pair(1, 1)));
  // What is there keeps its cores.
  world.Grant(1, 1);
  EXPECT_THAT(world.Request({{application.profile, 9}, {large, 3}}).targets,
              ElementsAre(testing::Pair(0, 3), testing::Pair(1, 1)));
  EXPECT_EQ(world.policy.CoresOf(1), 4);
  es::ResourceProfile gpu = large;
  gpu.id = 2;
  gpu.other = {"gpu"};
  EXPECT_THAT(world.Request({{gpu, 1}}, false).targets, IsEmpty());
}

TEST(ExecutorPolicy, TheDriverHearsOfEveryExecutor) {
  World world(Described(4, std::nullopt));
  EXPECT_EQ(world.Grant(1).added, 1u);
  EXPECT_EQ(world.Grant(1).added, 0u);
  const Told started = world.Start(1);
  ASSERT_EQ(started.updates.size(), 1u);
  EXPECT_EQ(started.updates[0].state, es::ExecutorState::kRunning);
  const Told ended = world.Ended(End(1, 3, "out of luck"));
  ASSERT_EQ(ended.updates.size(), 1u);
  EXPECT_EQ(ended.updates[0].state, es::ExecutorState::kExited);
  EXPECT_EQ(ended.updates[0].exit_status, 3);
  EXPECT_EQ(*ended.updates[0].message, "Command exited with code 3: out of luck");
  EXPECT_EQ(ended.targets.at(0), 2) << "replaced";
  EXPECT_THAT(world.Ended(End(1, 3)).updates, IsEmpty());
}

TEST(ExecutorPolicy, OnlyAGoneNodeIsNamed) {
  const es::ExecutorUpdated exited = EndOf(End(1, 137));
  EXPECT_EQ(exited.worker_host, std::nullopt);
  const es::ExecutorUpdated preempted = EndOf(End(1, -102, "preempted"));
  EXPECT_EQ(preempted.state, es::ExecutorState::kKilled);
  EXPECT_EQ(preempted.worker_host, std::nullopt);
  EXPECT_EQ(preempted.exit_status, 56) << "the exit that a driver does not count against the tasks";
  application::ExecutorEnd lost = End(1, -100, "Container released on a *lost* node");
  EXPECT_EQ(EndOf(lost).worker_host, std::nullopt) << "the node may be back";
  lost.node_lost = true;
  EXPECT_EQ(EndOf(lost).state, es::ExecutorState::kLost);
  EXPECT_EQ(EndOf(lost).worker_host, "host-1");
  EXPECT_EQ(EndOf(End(1, -104, "too much memory")).state, es::ExecutorState::kFailed);
}

TEST(ExecutorPolicy, KilledExecutorsAreGivenBackOnce) {
  World world(Described(4, std::nullopt));
  world.Grant(1);
  const es::KillExecutors kill{"app", {"1", "7"}};
  EXPECT_THAT(world.Do([&](auto& effects) { EXPECT_TRUE(world.policy.OnKill(kill, effects)); }).released,
              ElementsAre("1"));
  EXPECT_THAT(world.Do([&](auto& effects) { world.policy.OnKill(kill, effects); }).released, IsEmpty());
  const Told ended = world.Ended(End(1, -100));
  EXPECT_EQ(ended.updates.at(0).state, es::ExecutorState::kKilled);
  EXPECT_EQ(ended.updates.at(0).exit_status, std::nullopt);
}

TEST(ExecutorPolicy, TenFailuresInARowEndTheApplication) {
  World world(Described(4, std::nullopt));
  for (int id = 1; id <= 10; ++id) {
    world.Grant(id);
    world.Start(id);
    const Told told = world.Ended(End(id, 1, "no such class"));
    EXPECT_EQ(told.given_up.size(), id == 10 ? 1u : 0u) << id;
    if (id < 10) continue;
    EXPECT_THAT(told.given_up.at(0), HasSubstr("10 executors failed one after the other; the last: "));
  }
}

TEST(ExecutorPolicy, FailuresDoNotEndItWhileOneRuns) {
  World world(Described(8, std::nullopt));
  world.Grant(100);
  world.Start(100);
  for (int id = 1; id <= 30; ++id) {
    world.Grant(id);
    EXPECT_THAT(world.Ended(End(id, 1)).given_up, IsEmpty());
  }
  EXPECT_EQ(world.Ended(End(100, 1)).given_up.size(), 1u);
}

TEST(ExecutorPolicy, WhatTheClusterDoesIsNoFailure) {
  World world(Described(8, std::nullopt));
  for (int id = 1; id <= 30; ++id) {
    world.Grant(id);
    EXPECT_THAT(world.Ended(End(id, -102)).given_up, IsEmpty());
  }
  // One that has lived for a while begins the count again.
  for (int id = 31; id <= 60; ++id) {
    world.Grant(id);
    world.Start(id);
    if (id % 9 == 0) world.now = world.now + base::Duration::Seconds(61);
    EXPECT_THAT(world.Ended(End(id, 1)).given_up, IsEmpty());
  }
}

TEST(ExecutorPolicy, WhatAProfileDoesNotSayIsTheDefaultProfiles) {
  auto application = Described(10, 0);
  application.profile.overhead_mib = 500;
  World world(application);
  es::ResourceProfile tasks_only;  // a TaskResourceProfile
  tasks_only.id = 1;
  es::ResourceProfile cores_only = tasks_only;
  cores_only.id = 2;
  cores_only.cores = 3;
  EXPECT_THAT(world.Request({{tasks_only, 1}, {cores_only, 1}}).targets,
              ElementsAre(testing::Pair(0, 0), testing::Pair(1, 1), testing::Pair(2, 1)));
  EXPECT_EQ(ContainerSize(world.policy.ProfileOf(1)), model::Resources::Of(1524, 2));
  EXPECT_EQ(ContainerSize(world.policy.ProfileOf(2)), model::Resources::Of(1524, 3));
}

TEST(ExecutorPolicy, ContainersHaveRoomBesideTheHeap) {
  es::ResourceProfile profile;
  profile.cores = 2;
  profile.memory_mib = 1000;
  EXPECT_EQ(ContainerSize(profile), model::Resources::Of(1384, 2));
  profile.memory_mib = 10'000;
  profile.off_heap_mib = 50;
  profile.pyspark_mib = 25;
  EXPECT_EQ(ContainerSize(profile), model::Resources::Of(11'075, 2));
  profile.overhead_mib = 1;
  EXPECT_EQ(ContainerSize(profile), model::Resources::Of(10'076, 2));
}

TEST(ExecutorCommand, IsTheDriversWithoutAWorker) {
  es::ApplicationDescription application = Described(4, std::nullopt);
  application.command.main_class = "org.Main";
  application.command.arguments = {"--executor-id",
                                   "{{EXECUTOR_ID}}",
                                   "--hostname",
                                   "{{HOSTNAME}}",
                                   "--cores",
                                   "{{CORES}}",
                                   "--app-id",
                                   "{{APP_ID}}",
                                   "--worker-url",
                                   "{{WORKER_URL}}",
                                   "--resourceProfileId",
                                   "{{RESOURCE_PROFILE_ID}}"};
  application.command.environment = {{"A", "x$y\"z"}, {"not a name", "x"}, {"SPARK_HOME", "/elsewhere"}};
  application.command.java_options = {"-Da=it's $5", "-Xlog:gc:{{APP_ID}}-{{EXECUTOR_ID}}.log"};
  application.command.class_path = {"/extra"};
  const ExecutorCommand command{"application_1_0001", "kim", "/opt/spark", &application, &application.profile};
  const auto context = ExecutorLaunchContext(command, Container(3));
  EXPECT_EQ(context.command.at(0),
            "exec ${JAVA_HOME:+$JAVA_HOME/bin/}java -cp '/extra:/opt/spark/conf:/opt/spark/jars/*'"
            "'${HADOOP_CONF_DIR:+:$HADOOP_CONF_DIR}${SPARK_DIST_CLASSPATH:+:$SPARK_DIST_CLASSPATH}' '-Xmx1024M' "
            "'-Da=it'\\\\''s \\$5' '-Xlog:gc:application_1_0001-3.log' 'org.Main' '--executor-id' '3' '--hostname' "
            "'host-1' '--cores' '2' '--app-id' "
            "'application_1_0001' '--resourceProfileId' '0' 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr");
  std::map<std::string, std::string> environment;
  for (const auto& entry : context.environment) environment[std::string(entry.Key())] = entry.Value();
  EXPECT_EQ(environment["A"], "x\\$y\\\"z");
  EXPECT_EQ(environment["SPARK_HOME"], "/opt/spark");
  EXPECT_EQ(environment.count("not a name"), 0u);
  EXPECT_EQ(context.service_data.at(0).Key(), "spark_shuffle");
}

TEST(ExecutorCommand, TellsOfLogsByTheSchemeOfTheNodesPages) {
  es::ApplicationDescription application = Described(4, std::nullopt);
  application::ExecutorContainer executor = Container(3);
  executor.node_http_address = "host-1:8044";
  ExecutorCommand command{"application_1_0001", "kim", "/opt/spark", &application, &application.profile};
  const auto stdout_of = [&] {
    std::string found;
    for (const auto& entry : ExecutorLaunchContext(command, executor).environment) {
      if (entry.Key() == "SPARK_LOG_URL_STDOUT") found = entry.Value();
    }
    return found;
  };
  EXPECT_TRUE(stdout_of().starts_with("http://host-1:8044/node/containerlogs/")) << stdout_of();
  command.web_scheme = "https://";
  EXPECT_TRUE(stdout_of().starts_with("https://host-1:8044/node/containerlogs/")) << stdout_of();
}

TEST(ExecutorCommand, KnowsThePortOfTheNodesShuffleServiceUnlessTheDriverDoes) {
  es::ApplicationDescription application = Described(4, std::nullopt);
  const ExecutorCommand command{"application_1_0001", "kim", "/opt/spark", &application, &application.profile, 17337};
  const auto line = [&](bool service) {
    application::ExecutorContainer executor = Container(3);
    executor.shuffle_service = service;
    return std::string(ExecutorLaunchContext(command, executor).command.at(0));
  };
  EXPECT_NE(line(true).find(" '-Dspark.shuffle.service.port=17337' "), std::string::npos) << line(true);
  EXPECT_EQ(line(false).find("spark.shuffle.service.port"), std::string::npos) << line(false);
  application.command.java_options = {"-Dspark.shuffle.service.port=7447"};
  EXPECT_EQ(line(true).find("17337"), std::string::npos) << line(true);
}

}  // namespace
}  // namespace fairlead::process::spark_master
