#include "nm/nm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/stored.h"
#include "base/test_seed.h"

namespace fairlead::nm {
namespace {

using namespace model::nm;  // NOLINT: the tests speak the core's events
using base::Duration;
using base::Instant;
using base::WallTime;
using testing::HasSubstr;

model::ApplicationAttemptId Attempt(int32_t app) { return {{1000, app}, 1}; }
model::ContainerId Id(int64_t n, int32_t app = 1) { return {Attempt(app), n}; }

ContainerSpec Spec(model::ContainerId id) {
  ContainerSpec spec;
  spec.id = id;
  spec.user = "ann";
  spec.resources = model::Resources::Of(1024, 1);
  spec.priority = 3;
  spec.token_created = {1'000'000};
  spec.token_expires = {9'000'000};
  spec.rm_identifier = 77;
  return spec;
}
LocalResource File(const std::string& url, const std::string& link) {
  LocalResource r;
  r.link = link;
  r.url = url;
  return r;
}

/// A core with a hand on its time; effects of the last Step by kind.
class Node {
 public:
  explicit Node(Config config = Defaults()) : core_(std::move(config)) {}
  static Config Defaults() {
    Config config;
    config.node_address = "h:1";
    config.capacity = model::Resources::Of(8192, 8);
    config.services = {"spark_shuffle"};
    return config;
  }

  void Step(std::vector<Event> events) {
    out_.clear();
    core_.Step(now_, wall_, events, out_);
    ASSERT_EQ(core_.CheckInvariants(), "");
    // Commits succeed at once unless the test holds them.
    std::vector<Event> committed;
    for (const Effect& effect : out_) {
      const auto* persist = std::get_if<Persist>(&effect);
      if (persist && persist->txn != 0 && !hold_commits_) committed.push_back(Persisted{persist->txn, true, {}});
      if (persist) Apply(*persist);
    }
    if (committed.empty()) return;
    std::vector<Effect> before = std::move(out_);
    Step(std::move(committed));
    before.insert(before.end(), out_.begin(), out_.end());
    out_ = std::move(before);
  }
  void Advance(Duration by) {
    now_ = now_ + by;
    wall_.ms += by.millis();
  }
  void Register() {
    Step({Started{}});
    EXPECT_EQ(Count<model::nm::Register>(), 1);
    Step({Registered{NodeAction::kNormal, 77, {}, false, {}}});
    EXPECT_EQ(Count<Heartbeat>(), 1) << "the first heartbeat follows the registration";
    Answer();
  }
  void Answer(HeartbeatAnswered answer = {}) {
    answer.response_id = ++response_;
    answer.next_interval_ms = 1000;
    Step({answer});
  }
  template <class T>
  int Count() const {
    int n = 0;
    for (const Effect& effect : out_) n += std::holds_alternative<T>(effect);
    return n;
  }
  template <class T>
  const T& Last() const {
    for (auto it = out_.rbegin(); it != out_.rend(); ++it) {
      if (const T* found = std::get_if<T>(&*it)) return *found;
    }
    ADD_FAILURE() << "no effect " << T::kName;
    static const T kNone{};
    return kNone;
  }
  void Start(ContainerSpec spec) { Step({StartContainers{++call_, spec.id.attempt, {std::move(spec)}}}); }
  /// Starts a container without resources and lets it run.
  void Run(model::ContainerId id) {
    Start(Spec(id));
    ASSERT_EQ(Count<Launch>(), 1);
    Step({ContainerRunning{id, 4242}});
    if (Count<Heartbeat>()) Answer();
  }
  ContainerReport Report(model::ContainerId id) const {
    const auto status = core_.Status(id.attempt, id);
    if (status) return *status;
    return {};
  }
  void Apply(const Persist& persist) {
    for (const StoreRow& row : persist.rows) {
      if (row.remove) {
        rows_.erase({row.table, row.key});
      } else {
        rows_[{row.table, row.key}] = row.value;
      }
    }
  }
  /// What a new process would load.
  Started Stored() const {
    Started started;
    for (const auto& [key, value] : rows_) {
      const auto read = [&value](auto& records) {
        records.push_back(*base::DecodeStored<typename std::decay_t<decltype(records)>::value_type>(value));
      };
      if (key.first == "nm_apps") read(started.apps);
      if (key.first == "nm_containers") read(started.containers);
      if (key.first == "nm_resources") read(started.resources);
      if (key.first == "nm_spent_tokens") read(started.spent_tokens);
    }
    return started;
  }

  Nm core_;
  std::vector<Effect> out_;
  std::map<std::pair<std::string, std::string>, std::string> rows_;
  Instant now_{1};
  WallTime wall_{2'000'000};
  int32_t response_ = 0;
  CallToken call_ = 0;
  bool hold_commits_ = false;
};

TEST(Nm, RefusesContainersBeforeRegistration) {
  Node node;
  node.Step({Started{}});
  node.Start(Spec(Id(1)));
  EXPECT_EQ(node.Last<CallRefused>().exception, "NMNotYetReadyException");
}

TEST(Nm, AcknowledgesAStartOnlyWhenItIsStored) {
  Node node;
  node.Register();
  node.hold_commits_ = true;
  node.Start(Spec(Id(1)));
  EXPECT_EQ(node.Count<CallAnswer>(), 0);
  EXPECT_EQ(node.Count<Launch>(), 0);
  const uint64_t txn = node.Last<Persist>().txn;
  node.Step({Persisted{txn, true, {}}});
  EXPECT_EQ(node.Last<CallAnswer>().succeeded, std::vector{Id(1)});
  EXPECT_EQ(node.Count<Launch>(), 1);
  node.Start(Spec(Id(2)));
  node.Step({Persisted{node.Last<Persist>().txn, false, "disk full"}});
  EXPECT_THAT(node.Last<CallAnswer>().failed.at(0).message, HasSubstr("disk full"));
  EXPECT_EQ(node.core_.GetView().containers.size(), 1u);
}

TEST(Nm, RunsAndEndsAContainer) {
  Node node;
  node.Register();
  node.Start(Spec(Id(1)));
  EXPECT_EQ(node.Last<CallAnswer>().succeeded.size(), 1u);
  node.Step({ContainerRunning{Id(1), 10}});
  ASSERT_EQ(node.Count<Heartbeat>(), 1) << "a start is told at once";
  EXPECT_FALSE(node.Last<Heartbeat>().containers.at(0).complete);
  node.Answer();
  node.Step({ContainerExited{Id(1), 0, EndCause::kExit, {}, 0}});
  ASSERT_EQ(node.Count<Heartbeat>(), 1) << "an end is told at once";
  EXPECT_TRUE(node.Last<Heartbeat>().containers.at(0).complete);
  EXPECT_EQ(node.Last<Heartbeat>().containers.at(0).exit_status, 0);
  EXPECT_EQ(node.Count<CleanContainer>(), 1);
  node.Answer();
  node.Advance(Duration::Seconds(1));
  node.Step({Tick{}});
  EXPECT_TRUE(node.Last<Heartbeat>().containers.empty()) << "told once";
  HeartbeatAnswered answer;
  answer.forget = {Id(1)};
  node.Answer(answer);
  EXPECT_TRUE(node.core_.GetView().containers.empty());
  EXPECT_THAT(node.core_.Status(Attempt(1), Id(1)).error().message, HasSubstr("recently stopped"));
}

TEST(Nm, NewsDuringAHeartbeatFollowsIt) {
  Node node;
  node.Register();
  node.Start(Spec(Id(1)));
  node.Start(Spec(Id(2)));
  node.Step({ContainerRunning{Id(1), 10}});
  EXPECT_EQ(node.Count<Heartbeat>(), 1);
  node.Step({ContainerRunning{Id(2), 11}});
  EXPECT_EQ(node.Count<Heartbeat>(), 0) << "one call at a time";
  node.Answer();
  EXPECT_EQ(node.Count<Heartbeat>(), 1);
}

TEST(Nm, RefusalsAsHadoop) {
  Node node;
  node.Register();
  ContainerSpec spec = Spec(Id(1));
  node.Step({StartContainers{1, Attempt(2), {spec}}});
  EXPECT_THAT(node.Last<CallAnswer>().failed.at(0).message, HasSubstr("was used for starting container"));
  spec.token_expires = {1};
  node.Start(spec);
  EXPECT_THAT(node.Last<CallAnswer>().failed.at(0).message, HasSubstr("This token is expired"));
  spec = Spec(Id(1));
  spec.rm_identifier = 76;
  node.Start(spec);
  EXPECT_EQ(node.Last<CallAnswer>().failed.at(0).exception, "InvalidContainerException");
  spec = Spec(Id(1));
  spec.service_data = {{"nothing", ""}};
  node.Start(spec);
  EXPECT_EQ(node.Last<CallAnswer>().failed.at(0).message, "The auxService:nothing does not exist");
  node.Run(Id(1));
  node.Start(Spec(Id(1)));
  EXPECT_THAT(node.Last<CallAnswer>().failed.at(0).message, HasSubstr("Attempt to relaunch the same container"));
  node.Step({StopContainers{9, Attempt(2), {Id(1)}}});
  EXPECT_THAT(node.Last<CallAnswer>().failed.at(0).message, HasSubstr("attempted to stop non-application container"));
  node.Step({StopContainers{9, Attempt(1), {Id(5)}}});
  EXPECT_THAT(node.Last<CallAnswer>().failed.at(0).message, HasSubstr("is not handled by this NodeManager"));
}

TEST(Nm, StopTerminatesThenKills) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Step({StopContainers{9, Attempt(1), {Id(1)}}});
  EXPECT_EQ(node.Last<Signal>().kind, SignalKind::kTerminate);
  EXPECT_EQ(node.core_.NextDeadline(), node.now_ + Duration::Millis(250));
  node.Advance(Duration::Millis(249));
  node.Step({Tick{}});
  EXPECT_EQ(node.Count<Signal>(), 0);
  node.Advance(Duration::Millis(1));
  node.Step({Tick{}});
  EXPECT_EQ(node.Last<Signal>().kind, SignalKind::kKill);
  node.Step({ContainerExited{Id(1), 137, EndCause::kExit, "Container exited with a non-zero exit code 137. ", 0}});
  EXPECT_EQ(node.Report(Id(1)).exit_status, model::kExitKilledByMaster);
  EXPECT_THAT(node.Report(Id(1)).diagnostics, HasSubstr("Container killed by the ApplicationMaster.\n"));
  node.Step({StopContainers{9, Attempt(1), {Id(1)}}});
  EXPECT_EQ(node.Last<CallAnswer>().succeeded.size(), 1u) << "stopping an ended container succeeds";
}

TEST(Nm, AProcessThatEndsInItsOwnWayKeepsItsCode) {
  Node node;
  node.Register();
  node.Run(Id(1));
  HeartbeatAnswered answer;
  answer.cleanup = {Id(1)};
  node.Advance(Duration::Seconds(1));
  node.Step({Tick{}});
  node.Answer(answer);
  EXPECT_EQ(node.Last<Signal>().kind, SignalKind::kTerminate);
  node.Step({ContainerExited{Id(1), 7, EndCause::kExit, "x", 0}});
  EXPECT_EQ(node.Report(Id(1)).exit_status, 7);
  EXPECT_THAT(node.Report(Id(1)).diagnostics, HasSubstr("Container Killed by ResourceManager"));
}

TEST(Nm, KillsFromOutsideAreTold) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Step({ContainerExited{Id(1), 137, EndCause::kExit, "Container exited with a non-zero exit code 137. ", 0}});
  EXPECT_EQ(node.Report(Id(1)).exit_status, 137);
  EXPECT_THAT(node.Report(Id(1)).diagnostics, HasSubstr("Killed by external signal"));
  EXPECT_THAT(node.Report(Id(1)).diagnostics, HasSubstr("Exit code 137 stands for signal 9 (SIGKILL)."));
  node.Run(Id(2));
  node.Step({ContainerExited{Id(2), 139, EndCause::kExit, "x", 0}});
  EXPECT_THAT(node.Report(Id(2)).diagnostics, HasSubstr("Exit code 139 stands for signal 11 (SIGSEGV)."));
  node.Run(Id(3));
  node.Step({ContainerExited{Id(3), 200, EndCause::kExit, "x", 0}});
  EXPECT_THAT(node.Report(Id(3)).diagnostics, Not(HasSubstr("stands for")));
}

TEST(Nm, LocalizesOnceForAllAndLaunches) {
  Node node;
  node.Register();
  ContainerSpec one = Spec(Id(1));
  one.local_resources = {File("file:/a", "a"), File("file:/b", "dir/b")};
  ContainerSpec two = Spec(Id(2));
  two.local_resources = {File("file:/a", "other")};
  node.Start(one);
  EXPECT_EQ(node.Count<Fetch>(), 2);
  node.Start(two);
  EXPECT_EQ(node.Count<Fetch>(), 0);
  node.Step({ResourceFetched{1, "/l/a", 5, {}}});
  ASSERT_EQ(node.Count<Launch>(), 1);
  EXPECT_EQ(node.Last<Launch>().spec.id, Id(2));
  EXPECT_EQ(node.Last<Launch>().links.at(0).link, "other");
  EXPECT_EQ(node.Last<Launch>().links.at(0).path, "/l/a");
  node.Advance(Duration::Millis(30));
  node.Step({ResourceFetched{2, "/l/b", 7, {}}});
  ASSERT_EQ(node.Count<Launch>(), 1);
  EXPECT_EQ(node.Last<Launch>().links.size(), 2u);
  EXPECT_EQ(node.Last<Launch>().localization_counters, "12,0,2,0,30");
}

TEST(Nm, FailedLocalizationEndsItsContainers) {
  Node node;
  node.Register();
  ContainerSpec spec = Spec(Id(1));
  spec.local_resources = {File("file:/a", "a"), File("file:/b", "b")};
  node.Start(spec);
  node.Step({ResourceFetched{1, {}, 0, "Resource file:/a changed on src filesystem"}});
  EXPECT_EQ(node.Report(Id(1)).exit_status, model::kExitInvalid);
  EXPECT_TRUE(node.Report(Id(1)).complete);
  EXPECT_THAT(node.Report(Id(1)).diagnostics, HasSubstr("changed on src filesystem"));
  node.Step({ResourceFetched{2, "/l/b", 7, {}}});
  EXPECT_EQ(node.Count<Launch>(), 0);
}

TEST(Nm, FailedPublicResourceIsToldInTheLocalizersWords) {
  Node node;
  node.Register();
  ContainerSpec spec = Spec(Id(1));
  spec.local_resources = {File("file:/a", "a")};
  spec.local_resources[0].visibility = Visibility::kPublic;
  node.Start(spec);
  node.Step({ResourceFetched{1, {}, 0, "no\njava.io.IOException: no\n", "java.io.IOException: no"}});
  EXPECT_THAT(node.Report(Id(1)).diagnostics,
              testing::EndsWith("]Failed to download resource { { file:/a, 0, FILE, null },pending,"
                                "[(container_1000_0001_01_000001)],1,DOWNLOADING} java.io.IOException: no\n"));
}

TEST(Nm, LocalizesForARunningContainer) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.hold_commits_ = true;
  node.Step({LocalizeContainer{5, Attempt(1), Id(1), {File("file:/a", "a"), File("file:/b", "d/b")}}});
  EXPECT_EQ(node.Count<CallAnswer>() + node.Count<Fetch>(), 0) << "before it is stored";
  const uint64_t txn = node.Last<Persist>().txn;
  node.hold_commits_ = false;
  node.Step({Persisted{txn, true, {}}});
  EXPECT_EQ(node.Count<CallAnswer>(), 1);
  EXPECT_EQ(node.Count<Fetch>(), 2);
  node.Step({ResourceFetched{2, "/l/b", 7, {}}});
  EXPECT_EQ(node.Last<AddLinks>().links.at(0).link, "d/b");
  EXPECT_EQ(node.Last<AddLinks>().links.at(0).path, "/l/b");
  node.Step({ResourceFetched{1, {}, 0, "gone\njava.io.IOException: gone\n", "java.io.IOException: gone"}});
  EXPECT_EQ(node.Report(Id(1)).state, ContainerState::kRunning);
  EXPECT_THAT(node.Report(Id(1)).diagnostics, testing::EndsWith("]gone\njava.io.IOException: gone\n"));
  const auto links = node.core_.Localization(Attempt(1), Id(1));
  ASSERT_EQ(links->size(), 2u);
  EXPECT_TRUE(links->at(0).ready);
  EXPECT_EQ(links->at(1).link, "a");
  EXPECT_THAT(links->at(1).error, HasSubstr("gone"));
  // What is there needs no fetching, a known link stays what it is.
  node.Step({LocalizeContainer{6, Attempt(1), Id(1), {File("file:/b", "again"), File("file:/c", "d/b")}}});
  EXPECT_EQ(node.Count<Fetch>(), 0);
  ASSERT_EQ(node.Count<AddLinks>(), 1);
  EXPECT_EQ(node.Last<AddLinks>().links.size(), 2u) << "both links of the resource; the old one is left alone";

  Node after;
  after.Step({node.Stored()});
  after.Step({ContainerRunning{Id(1), 5}});
  EXPECT_EQ(after.Count<Fetch>(), 0);
  EXPECT_EQ(after.core_.Localization(Attempt(1), Id(1))->size(), 2u);
}

TEST(Nm, RefusesChangesOfWhatDoesNotRun) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Step({LocalizeContainer{5, Attempt(2), Id(1), {}}});
  EXPECT_THAT(node.Last<CallRefused>().message,
              HasSubstr("not authorized to perform [LOCALIZE] on Container [container_1000_0001_01_000001]!!"));
  node.Step({RestartContainer{5, Attempt(1), Id(7)}});
  EXPECT_EQ(node.Last<CallRefused>().message, "Specified container_1000_0001_01_000007 does not exist!");
  node.Step({ContainerExited{Id(1), 0, EndCause::kExit, {}, 0}});
  node.Step({RestartContainer{5, Attempt(1), Id(1)}});
  EXPECT_EQ(node.Last<CallRefused>().message,
            "Cannot perform RE_INIT on [container_1000_0001_01_000001]. Current state is [DONE, "
            "isReInitializing=false]. Container Execution Type is [GUARANTEED].");
}

TEST(Nm, RestartsAContainersProcess) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Step({RestartContainer{5, Attempt(1), Id(1)}});
  EXPECT_EQ(node.Count<CallAnswer>(), 1);
  EXPECT_EQ(node.Last<Signal>().kind, SignalKind::kTerminate);
  EXPECT_EQ(node.Report(Id(1)).state, ContainerState::kReinitializing);

  Node after;
  after.Step({node.Stored()});
  EXPECT_EQ(after.Last<Signal>().kind, SignalKind::kTerminate) << "a restart under way goes on";
  for (Node* one : {&node, &after}) {
    one->Advance(Duration::Millis(250));
    one->Step({Tick{}});
    EXPECT_EQ(one->Last<Signal>().kind, SignalKind::kKill);
    one->Step({ContainerExited{Id(1), 137, EndCause::kExit, "killed", 0}});
    EXPECT_TRUE(one->Last<Launch>().relaunch);
    EXPECT_THAT(one->Report(Id(1)).diagnostics, HasSubstr("]Container killed on request. Exit code is 137\n"));
    one->Step({ContainerRunning{Id(1), 77}});
    EXPECT_EQ(one->Report(Id(1)).state, ContainerState::kRunning);
    EXPECT_FALSE(one->Report(Id(1)).complete);
    one->Step({ContainerExited{Id(1), 5, EndCause::kExit, "five", 0}});
    EXPECT_EQ(one->Report(Id(1)).exit_status, 5);
  }
}

TEST(Nm, KillDuringLocalization) {
  Node node;
  node.Register();
  ContainerSpec spec = Spec(Id(1));
  spec.local_resources = {File("file:/a", "a")};
  node.Start(spec);
  node.Step({StopContainers{9, Attempt(1), {Id(1)}}});
  EXPECT_TRUE(node.Report(Id(1)).complete);
  EXPECT_THAT(node.Report(Id(1)).diagnostics, HasSubstr("killed before being launched"));
  EXPECT_EQ(node.Count<Signal>(), 0);
  node.Step({ResourceFetched{1, "/l/a", 7, {}}});
  EXPECT_EQ(node.Count<Launch>(), 0);
}

TEST(Nm, WhatAContainerWasMeasuredToUseIsToldOnce) {
  Node node;
  node.Register();
  node.Run(Id(1));
  model::MeasuredUse use;
  use.milli_cores = 700;
  use.physical_bytes = 1 << 20;
  node.Step({Usage{{{Id(1), use, false}}, {}}});
  const auto told = [&] {
    node.Advance(Duration::Seconds(2));
    node.Step({Tick{}});
    EXPECT_EQ(node.Count<Heartbeat>(), 1);
    const model::MeasuredUse last = node.Last<Heartbeat>().containers.at(0).use;
    node.Answer();
    return last;
  };
  EXPECT_EQ(told(), use);
  EXPECT_FALSE(told().told()) << "nothing new";
}

TEST(Nm, MemoryLimitsByPolling) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Run(Id(2));
  node.Run(Id(3));
  const int64_t mib = 1 << 20;
  node.Step({Usage{{{Id(1), {0, 1300 * mib, 2000 * mib}, false},
                    {Id(2), {0, 10 * mib, 3000 * mib}, false},
                    {Id(3), {0, 1300 * mib, 2000 * mib}, true}},
                   {}}});
  EXPECT_EQ(node.Count<Signal>(), 2) << "the third is held by the kernel";
  node.Step({ContainerExited{Id(1), 143, EndCause::kExit, "", 0}, ContainerExited{Id(2), 143, EndCause::kExit, "", 0}});
  EXPECT_EQ(node.Report(Id(1)).exit_status, model::kExitExceededPhysicalMemory);
  EXPECT_EQ(node.Report(Id(2)).exit_status, model::kExitExceededVirtualMemory);
  // Spark reads this with the pattern "[0-9.]+ [KMG]B of [0-9.]+ [KMG]B physical memory used".
  EXPECT_THAT(node.Report(Id(1)).diagnostics,
              HasSubstr("1.3 GB of 1 GB physical memory used; 2.0 GB of 2.1 GB virtual"));
  node.Step({ContainerExited{Id(3), 137, EndCause::kMemoryLimit, "", 1024 * mib}});
  EXPECT_EQ(node.Report(Id(3)).exit_status, model::kExitExceededPhysicalMemory);
  EXPECT_THAT(
      node.Report(Id(3)).diagnostics,
      HasSubstr("] is running beyond the 'PHYSICAL' memory limit. Current usage: 1 GB of 1 GB physical memory"));
  EXPECT_THAT(node.Report(Id(3)).diagnostics, HasSubstr("[pid="));
  EXPECT_THAT(node.Report(Id(3)).diagnostics, Not(HasSubstr("pid=0")));
}

TEST(Nm, FinishedApplicationIsCleanedUpAndForgotten) {
  Node node;
  node.Register();
  node.Run(Id(1));
  ContainerSpec spec = Spec(Id(2));
  spec.service_data = {{"spark_shuffle", "secret"}};
  node.Start(spec);
  EXPECT_EQ(node.Last<InitService>().service.data, "secret");
  node.Step({ContainerRunning{Id(2), 5}});
  HeartbeatAnswered answer;
  answer.finished_apps = {{1000, 1}};
  node.Answer(answer);
  EXPECT_EQ(node.Count<Signal>(), 2);
  node.Step({ContainerExited{Id(1), 143, EndCause::kExit, "", 0}});
  EXPECT_EQ(node.Count<CleanApp>(), 0);
  node.Step({ContainerExited{Id(2), 143, EndCause::kExit, "", 0}});
  EXPECT_EQ(node.Count<CleanApp>(), 1);
  EXPECT_EQ(node.Report(Id(2)).exit_status, model::kExitKilledAfterAppCompletion);
  node.Step({AppCleaned{{1000, 1}}});
  EXPECT_EQ(node.Last<HandleLogs>().containers.size(), 2u);
  node.Step({LogsHandled{{1000, 1}}});
  node.Answer();
  node.Answer();
  EXPECT_TRUE(node.core_.GetView().apps.empty());
  EXPECT_TRUE(node.core_.GetView().containers.empty());
  node.wall_.ms = Spec(Id(1)).token_expires.ms + 1;
  node.Advance(Duration::Seconds(600));
  node.Step({Tick{}});
  EXPECT_TRUE(node.rows_.empty()) << "nothing is left in the store once the tokens have expired";
}

TEST(Nm, LostAnswerIsAskedForAgain) {
  Node node;
  node.Register();
  node.Run(Id(1));
  const int32_t before = node.response_;
  node.Step({ContainerExited{Id(1), 0, EndCause::kExit, {}, 0}});
  ASSERT_EQ(node.Count<Heartbeat>(), 1);
  EXPECT_EQ(node.Last<Heartbeat>().response_id, before);
  node.Step({RmCallFailed{"reset"}});
  EXPECT_EQ(node.Count<Heartbeat>(), 0);
  node.Advance(Duration::Millis(100));
  node.Step({Tick{}});
  ASSERT_EQ(node.Count<Heartbeat>(), 1);
  EXPECT_EQ(node.Last<Heartbeat>().response_id, before);
  EXPECT_TRUE(node.Last<Heartbeat>().containers.at(0).complete) << "the end is told again";
  node.Step({RmCallFailed{"reset"}});
  EXPECT_EQ(node.core_.NextDeadline(), node.now_ + Duration::Millis(200));
}

TEST(Nm, ResyncReportsEverythingAgain) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Run(Id(2));
  node.Step({ContainerExited{Id(2), 3, EndCause::kExit, {}, 0}});
  node.Answer();
  node.Advance(Duration::Seconds(1));
  node.Step({Tick{}});
  HeartbeatAnswered resync;
  resync.action = NodeAction::kResync;
  node.Answer(resync);
  ASSERT_EQ(node.Count<Register>(), 1);
  ASSERT_EQ(node.Last<Register>().containers.size(), 2u);
  EXPECT_TRUE(node.Last<Register>().containers[1].complete);
  EXPECT_EQ(node.Last<Register>().apps.size(), 1u);
  node.Step({Registered{NodeAction::kNormal, 78, {}, false, {}}});
  ASSERT_EQ(node.Count<Heartbeat>(), 1);
  EXPECT_EQ(node.Last<Heartbeat>().response_id, 0);
  EXPECT_EQ(node.Last<Heartbeat>().containers.size(), 1u);
  EXPECT_EQ(node.core_.rm_identifier(), 78);
}

TEST(Nm, ShutdownByTheResourceManagerEndsAll) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Advance(Duration::Seconds(1));
  node.Step({Tick{}});
  HeartbeatAnswered answer;
  answer.action = NodeAction::kShutdown;
  answer.diagnostics = "excluded";
  node.Answer(answer);
  EXPECT_EQ(node.Count<Signal>(), 1);
  EXPECT_EQ(node.Count<Exit>(), 0);
  node.Step({ContainerExited{Id(1), 143, EndCause::kExit, {}, 0}});
  node.Step({AppCleaned{{1000, 1}}});
  EXPECT_EQ(node.Count<Exit>(), 0) << "the logs are on their way";
  node.Step({LogsHandled{{1000, 1}}});
  EXPECT_THAT(node.Last<Exit>().reason, HasSubstr("excluded"));
  EXPECT_EQ(node.Count<Unregister>(), 0);
}

TEST(Nm, ShutdownHasALimit) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Step({Shutdown{false}});
  EXPECT_EQ(node.Count<Exit>(), 0);
  node.Advance(Duration::Seconds(11));
  node.Step({Tick{}});
  EXPECT_EQ(node.Count<Exit>(), 1);
}

TEST(Nm, KilledWhileItsRowWasOnTheWay) {
  Node node;
  node.Register();
  node.hold_commits_ = true;
  node.Start(Spec(Id(1)));
  const uint64_t txn = node.Last<Persist>().txn;
  node.Step({StopContainers{9, Attempt(1), {Id(1)}}});
  EXPECT_TRUE(node.Report(Id(1)).complete);
  node.Step({Persisted{txn, true, {}}});
  EXPECT_EQ(node.Last<CallAnswer>().succeeded.size(), 1u);
  EXPECT_EQ(node.Count<Launch>(), 0);
}

TEST(Nm, KeptContainersSurviveShutdown) {
  Node node;
  node.Register();
  node.Run(Id(1));
  node.Step({Shutdown{true}});
  EXPECT_EQ(node.Count<Signal>(), 0);
  EXPECT_EQ(node.Count<Exit>(), 1);
}

TEST(Nm, RecoversFromItsRows) {
  Node before;
  before.Register();
  before.Run(Id(1));
  before.Run(Id(2));
  before.Run(Id(3));
  before.Step({StopContainers{9, Attempt(1), {Id(2)}}});
  before.Step({ContainerExited{Id(3), 9, EndCause::kExit, "why", 0}});
  ContainerSpec spec = Spec(Id(4));
  spec.local_resources = {File("file:/a", "a")};
  before.Start(spec);
  before.Step({ResourceFetched{1, "/l/a", 5, {}}});

  Node after;
  after.Step({before.Stored()});
  EXPECT_EQ(after.Count<Attach>(), 3);
  EXPECT_EQ(after.Last<Signal>().container, Id(2)) << "a kill under way goes on";
  ASSERT_EQ(after.Count<Register>(), 1);
  EXPECT_EQ(after.Last<Register>().containers.size(), 4u);
  after.Step({ContainerRunning{Id(1), 5}, ContainerExited{Id(2), 143, EndCause::kExit, {}, 0}, ContainerAbsent{Id(4)}});
  EXPECT_EQ(after.Count<Fetch>(), 0) << "the resource is still there";
  EXPECT_EQ(after.Last<Launch>().spec.id, Id(4));
  EXPECT_EQ(after.Report(Id(1)).state, ContainerState::kRunning);
  EXPECT_EQ(after.Report(Id(2)).exit_status, model::kExitKilledByMaster);
  EXPECT_EQ(after.Report(Id(3)).exit_status, 9);
}

TEST(Nm, TokenOfAForgottenContainerIsSpentAfterARestartToo) {
  Node before;
  before.Register();
  before.Run(Id(1));
  before.Step({ContainerExited{Id(1), 0, EndCause::kExit, {}, 0}});
  HeartbeatAnswered answer;
  answer.forget = {Id(1)};
  before.Answer(answer);
  EXPECT_TRUE(before.Stored().containers.empty());

  Node after;
  after.rows_ = before.rows_;
  after.Step({before.Stored()});
  after.Step({Registered{NodeAction::kNormal, 77, {}, false, {}}});
  after.Answer();
  after.Start(Spec(Id(1)));
  EXPECT_THAT(after.Last<CallAnswer>().failed.at(0).message, HasSubstr("Attempt to relaunch the same container"));
  EXPECT_EQ(after.Count<Launch>(), 0);
  EXPECT_EQ(after.Stored().spent_tokens.size(), 1u);
  after.wall_.ms = Spec(Id(1)).token_expires.ms + 1;
  after.Advance(Duration::Seconds(600));
  after.Step({Tick{}});
  EXPECT_TRUE(after.Stored().spent_tokens.empty());
}

TEST(Nm, RelaunchesByPolicy) {
  Node node;
  node.Register();
  ContainerSpec spec = Spec(Id(1));
  spec.retry.policy = RetryPolicy::kSpecificErrors;
  spec.retry.error_codes = {5};
  spec.retry.max_retries = 1;
  spec.retry.interval_ms = 100;
  node.Start(spec);
  node.Step({ContainerRunning{Id(1), 5}});
  node.Answer();
  node.Step({ContainerExited{Id(1), 5, EndCause::kExit, "five", 0}});
  EXPECT_EQ(node.Report(Id(1)).state, ContainerState::kRelaunching);
  node.Advance(Duration::Millis(100));
  node.Step({Tick{}});
  EXPECT_TRUE(node.Last<Launch>().relaunch);
  node.Step({ContainerRunning{Id(1), 6}, ContainerExited{Id(1), 5, EndCause::kExit, "five", 0}});
  EXPECT_EQ(node.Report(Id(1)).state, ContainerState::kDone);
  EXPECT_EQ(node.Report(Id(1)).exit_status, 5);
}

TEST(Nm, UpdatesAndSignals) {
  Node node;
  node.Register();
  node.Run(Id(1));
  ContainerSpec update = Spec(Id(1));
  update.version = 1;
  update.resources = model::Resources::Of(2048, 2);
  node.Step({UpdateContainers{4, Attempt(1), {update}}});
  EXPECT_EQ(node.Last<CallAnswer>().succeeded.size(), 1u);
  EXPECT_EQ(node.Last<Resize>().resources.memory_mib(), 2048);
  EXPECT_EQ(node.Last<Heartbeat>().increased.size(), 1u);
  node.Step({UpdateContainers{5, Attempt(1), {update}}});
  EXPECT_EQ(node.Last<CallAnswer>().failed.size(), 1u) << "the version did not grow";
  node.Step({SignalContainer{6, Attempt(1), Id(1), SignalCommand::kThreadDump}});
  EXPECT_EQ(node.Last<Signal>().kind, SignalKind::kThreadDump);
}

/// Random calls, answers, failures and ends; invariants hold after every step and the same seed gives the same hash.
uint64_t Soup(uint64_t seed) {
  base::Rng rng(seed);
  Node node;
  node.Register();
  std::set<model::ContainerId> launched;
  std::set<ResourceNumber> fetching;
  bool beat = false;
  bool registering = false;
  for (int step = 0; step < 400; ++step) {
    std::vector<Event> events;
    const model::ContainerId id = Id(rng.Between(1, 12), static_cast<int32_t>(rng.Between(1, 3)));
    switch (rng.Below(11)) {
      case 0: {
        ContainerSpec spec = Spec(id);
        spec.rm_identifier = node.core_.rm_identifier();
        if (rng.Chance(0.5)) spec.local_resources = {File("file:/" + std::to_string(rng.Below(4)), "f")};
        events.push_back(StartContainers{1, id.attempt, {spec}});
        break;
      }
      case 1:
        events.push_back(StopContainers{1, id.attempt, {id}});
        break;
      case 2:
        if (launched.contains(id)) events.push_back(ContainerRunning{id, 9});
        break;
      case 3:
      case 4:
        if (launched.erase(id)) {
          events.push_back(ContainerExited{id, static_cast<int32_t>(rng.Below(3)) * 70, EndCause::kExit, "", 0});
        }
        break;
      case 5:
        if (!fetching.empty()) {
          events.push_back(ResourceFetched{*fetching.begin(), "/p", 3, rng.Chance(0.2) ? "no" : ""});
          fetching.erase(fetching.begin());
        }
        break;
      case 6:
      case 7:
        if (beat) {
          HeartbeatAnswered answer;
          answer.response_id = ++node.response_;
          if (rng.Chance(0.3)) answer.forget = {id};
          if (rng.Chance(0.1)) answer.cleanup = {id};
          if (rng.Chance(0.05)) answer.finished_apps = {id.attempt.app};
          if (rng.Chance(0.03)) answer.action = NodeAction::kResync;
          events.push_back(rng.Chance(0.1) ? Event{RmCallFailed{"x"}} : Event{answer});
          beat = false;
        } else if (registering) {
          events.push_back(rng.Chance(0.2) ? Event{RmCallFailed{"x"}}
                                           : Event{Registered{NodeAction::kNormal, 77 + step, {}, false, {}}});
          registering = false;
        }
        break;
      case 8:
        events.push_back(LocalizeContainer{
            2, id.attempt, id, {File("file:/" + std::to_string(rng.Below(6)), "l" + std::to_string(rng.Below(4)))}});
        break;
      case 9:
        events.push_back(RestartContainer{3, id.attempt, id});
        break;
      default:
        node.Advance(Duration::Millis(rng.Between(1, 400)));
        events.push_back(Tick{});
    }
    for (int round = 0; round < 3 && !events.empty(); ++round) {
      node.Step(std::exchange(events, {}));
      for (const Effect& effect : node.out_) {
        if (const auto* launch = std::get_if<Launch>(&effect)) {
          EXPECT_TRUE(launched.insert(launch->spec.id).second) << "launched twice";
        }
        if (const auto* fetch = std::get_if<Fetch>(&effect)) fetching.insert(fetch->number);
        if (std::holds_alternative<Heartbeat>(effect)) beat = true;
        if (std::holds_alternative<Register>(effect)) registering = true;
        if (const auto* clean = std::get_if<CleanApp>(&effect)) events.push_back(AppCleaned{clean->app});
        if (const auto* logs = std::get_if<HandleLogs>(&effect)) events.push_back(LogsHandled{logs->app});
      }
    }
  }
  return node.core_.StateHash();
}

TEST(Nm, RandomRunsKeepTheirBooks) {
  for (uint64_t seed = base::TestSeed() + 1; seed <= base::TestSeed() + 30; ++seed) {
    EXPECT_EQ(Soup(seed), Soup(seed)) << "seed " << seed;
  }
  EXPECT_NE(Soup(1), Soup(2));
}

}  // namespace
}  // namespace fairlead::nm
