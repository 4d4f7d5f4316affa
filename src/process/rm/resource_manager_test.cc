#include "process/rm/resource_manager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/stored.h"
#include "env_sim/world.h"
#include "process/rm/draining.h"
#include "process/rm/learning.h"
#include "process/rm/stored_state.h"
#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::rm {
namespace {

ResourceManagerOptions Options(std::vector<int64_t>& epochs) {
  ResourceManagerOptions options;
  options.ports.client = {"rm", 8032};
  options.ports.scheduler = {"rm", 8030};
  options.ports.tracker = {"rm", 8031};
  options.ports.admin = {"rm", 8033};
  options.groups_of = [](const std::string& user) { return std::vector<std::string>{user}; };
  options.rack_of = [](const std::string&) { return "/default-rack"; };
  options.make_scheduler = [&epochs](int64_t epoch) -> base::Result<std::unique_ptr<scheduler::Scheduler>> {
    epochs.push_back(epoch);
    scheduler::FairleadConfig config;
    config.epoch = epoch;
    return scheduler::MakeFairlead(config);
  };
  return options;
}

/// A store that takes nothing any more.
class LostStore final : public env::Store {
 public:
  LostStore(env::Loop& loop, env::CommitFailure kind) : loop_(loop), kind_(kind) {}
  void Commit(std::vector<env::Row>, std::function<void(env::CommitStatus)> done) override {
    ++commits;
    loop_.Post([done = std::move(done), kind = kind_] { done(env::CommitError{kind, "epoch 7 leads"}); });
  }
  base::Result<std::vector<env::Row>> Load(const std::string&) override { return std::vector<env::Row>{}; }
  std::string Name() const override { return "lost"; }
  int commits = 0;

 private:
  env::Loop& loop_;
  env::CommitFailure kind_;
};

TEST(ResourceManager, AFencedOrGoneStoreEndsItAndIsNotTriedAgain) {
  for (const env::CommitFailure kind : {env::CommitFailure::kFenced, env::CommitFailure::kGone}) {
    env_sim::World world(1);
    env_sim::Machine& machine = world.AddMachine("rm");
    LostStore store(machine.loop(), kind);
    std::vector<int64_t> epochs;
    ResourceManagerOptions options = Options(epochs);
    std::vector<std::string> lost;
    options.on_store_lost = [&](const std::string& why) { lost.push_back(why); };
    auto started = ResourceManager::Start(machine.loop(), machine.net(), &store, std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message;
    world.RunUntil(world.now() + base::Duration::Seconds(30), [] { return false; });
    EXPECT_EQ(store.commits, 1);
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_NE(lost[0].find("epoch 7 leads"), std::string::npos);
    EXPECT_EQ(lost[0].starts_with("Another resource manager owns"), kind == env::CommitFailure::kFenced);
  }
}

/// A machine, and managers that run on it one after the other.
struct Site {
  env_sim::World world{1};
  env_sim::Machine& machine = world.AddMachine("rm");
  std::vector<int64_t> epochs;
  std::unique_ptr<ResourceManager> rm;

  void Run(int64_t seconds) {
    world.RunUntil(world.now() + base::Duration::Seconds(seconds), [] { return false; });
  }
  base::Result<std::unique_ptr<ResourceManager>> TryStart(ResourceManagerOptions options) {
    rm.reset();
    return ResourceManager::Start(machine.loop(), machine.net(), &machine.store(), std::move(options));
  }
  void Start(ResourceManagerOptions options) {
    auto started = TryStart(std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message;
    rm = std::move(*started);
  }
  void Start() { Start(Options(epochs)); }
  void Crash() {
    machine.Crash();
    rm.reset();
    machine.Restart();
  }
  void Store(std::vector<env::Row> rows) {
    machine.store().Commit(std::move(rows), [](const env::CommitStatus&) {});
    Run(1);
  }
  std::vector<env::Row> StoredApps() { return machine.store().Load("rm/app").value(); }
  size_t KnownApps() const {
    size_t count = 0;
    rm->core().ForEachApp([&](const fairlead::rm::App&) { ++count; });
    return count;
  }
  /// Acknowledged.
  void SubmitOne() {
    bool answered = false;
    rm->batches().Ask(model::rm::NewApplication{}, [&](const model::rm::OuterEffect& effect) {
      model::rm::Submit submit;
      submit.submission.id = std::get<model::rm::NewApplicationAnswer>(effect).app;
      submit.submission.user = "alice";
      submit.submission.queue = "default";
      model::Ask& ask = submit.submission.master_asks.emplace_back();
      ask.name = "*";
      ask.capability = model::Resources::Of(256, 1);
      ask.count = 1;
      rm->batches().Ask(std::move(submit), [&](const model::rm::OuterEffect& answer) {
        answered = std::holds_alternative<model::rm::CallDone>(answer);
      });
    });
    Run(2);
    EXPECT_TRUE(answered);
  }
};

TEST(ResourceManager, RowsOfALaterReleaseAreRefusedByName) {
  for (const char* table : {"rm/app", "rm/attempt", "rm/draining", "rm/drain-order", "rm/key", "rm/epoch",
                            "rm/learned-use", "rm/run-times", "rm/maintenance"}) {
    Site site;
    site.Store({{table, "some key", "7"}});
    const auto started = site.TryStart(Options(site.epochs));
    ASSERT_FALSE(started.ok()) << table;
    EXPECT_NE(started.error().message.find("Row some key of table " + std::string(table)), std::string::npos)
        << started.error().message;
  }
}

// An operator who turns recovery off and on again finds nothing that was forgotten meanwhile.
TEST(ResourceManager, WithoutRecoveryNothingIsStoredAndNothingComesBack) {
  Site site;
  std::vector<std::string> warnings;
  const auto run = [&](bool recovery, size_t stored, size_t known) {
    ResourceManagerOptions options = Options(site.epochs);
    options.recovery = recovery;
    options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
    site.Start(std::move(options));
    EXPECT_EQ(site.KnownApps(), known);
    site.SubmitOne();
    EXPECT_EQ(site.StoredApps().size(), stored);
    site.Crash();
  };
  run(true, 1, 0);
  run(true, 2, 1);
  EXPECT_TRUE(warnings.empty());
  run(false, 0, 0);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("2 applications of an earlier run are forgotten")) << warnings[0];
  run(true, 1, 0);
  EXPECT_EQ(std::set<int64_t>(site.epochs.begin(), site.epochs.end()).size(), site.epochs.size());
}

TEST(ResourceManager, AStateThatIsHalfRestoredIsRefused) {
  Site site;
  site.Store({{kRestoringTable, "", "begun"}});
  const auto started = site.TryStart(Options(site.epochs));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message, kInterruptedRestore);
}

TEST(ResourceManager, ARowThatCannotBeReadIsLeftOutAndKept) {
  const std::string garbage = "\x01\xff\xff";
  for (const char* table :
       {"rm/app", "rm/attempt", "rm/draining", "rm/drain-order", "rm/learned-use", "rm/run-times", "rm/maintenance"}) {
    Site site;
    site.Start();
    site.SubmitOne();
    site.SubmitOne();
    site.rm.reset();
    // An attempt's row belongs to its application: half of one is not taken.
    const std::string app = site.StoredApps().front().key;
    const std::string key = std::string(table) == "rm/attempt" ? "appattempt" + app.substr(11) + "_000001" : app;
    site.Store({{table, key, garbage}});
    for (int life = 0; life < 2; ++life) {
      std::vector<std::string> warnings;
      ResourceManagerOptions options = Options(site.epochs);
      options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
      site.Start(std::move(options));
      const bool of_app = std::string(table) == "rm/app" || std::string(table) == "rm/attempt";
      EXPECT_EQ(site.KnownApps(), of_app ? 1U : 2U) << table;
      ASSERT_FALSE(warnings.empty());
      EXPECT_EQ(warnings.size(), site.rm->unread().size());
      EXPECT_NE(warnings[0].find("row " + key + " of table " + table), std::string::npos) << warnings[0];
      site.Run(2);
      const auto rows = site.machine.store().Load(table).value();
      EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const env::Row& row) { return row.value == garbage; }));
    }
  }
}

// An earlier release took it: it is no reason to forget what runs.
TEST(ResourceManager, AStoredApplicationBeyondTodaysBoundsIsServedWithTheOthers) {
  Site site;
  site.Start();
  site.SubmitOne();
  site.SubmitOne();
  site.rm.reset();
  const env::Row row = site.StoredApps().front();
  auto record = base::DecodeStored<model::rm::AppRecord>(*row.value);
  ASSERT_TRUE(record.ok());
  record->submission.name = record->submission.context = std::string(2 << 20, 'a');
  site.Store({{row.table, row.key, base::EncodeStored(*record)}});
  site.Start();
  EXPECT_EQ(site.KnownApps(), 2U);
  EXPECT_TRUE(site.rm->unread().empty());
  EXPECT_EQ(site.rm->core().FindApp(record->submission.id)->submission.name.size(), size_t{2} << 20);
}

// Ids of containers carry the epoch, so two runs with the same one would give the same ids to different containers.
TEST(ResourceManager, DecidesNothingBeforeItsEpochIsStored) {
  Site site;
  for (int64_t life = 0; life < 3; ++life) {
    site.world.faults().store_failure = 1;
    site.Start();
    EXPECT_EQ(site.epochs.back(), life);
    model::rm::RegisterNode node;
    node.address = {"n", 1};
    node.capacity = model::Resources::Of(8192, 8);
    bool answered = false;
    site.rm->batches().Ask(node, [&](const model::rm::OuterEffect&) { answered = true; });
    site.Run(3);
    EXPECT_FALSE(answered);
    site.world.faults().store_failure = 0;
    site.Run(2);
    EXPECT_TRUE(answered);
    site.Crash();
  }
}

TEST(ResourceManager, ADrainedHostStaysDrainedInTheNextRun) {
  Site site;
  model::rm::RegisterNode node;
  node.address = {"n", 1};
  node.capacity = model::Resources::Of(8192, 8);
  base::WallTime ordered;
  for (const auto& [life, state] :
       {std::pair{0, model::rm::NodeState::kRunning}, std::pair{1, model::rm::NodeState::kDecommissioning},
        std::pair{2, model::rm::NodeState::kRunning}}) {
    site.Start();
    site.rm->batches().Ask(node, [](const model::rm::OuterEffect&) {});
    site.Run(2);
    ASSERT_NE(site.rm->core().FindNode(node.address), nullptr);
    EXPECT_EQ(site.rm->core().FindNode(node.address)->state, state) << life;
    bool done = false;
    if (life == 1) {
      ASSERT_TRUE(site.rm->draining().hosts().contains("n"));
      EXPECT_EQ(site.rm->draining().hosts().at("n").order.by, "operator from 10.0.0.1");
      EXPECT_EQ(site.rm->draining().hosts().at("n").order.since_ms, ordered.ms);
    }
    ordered = site.machine.loop().Wall();
    site.rm->draining().Drain("n", life == 0 ? std::optional<int64_t>(-1) : std::nullopt, "operator from 10.0.0.1",
                              [&](const base::Status& status) { done = status.ok(); });
    site.Run(2);
    EXPECT_TRUE(done);
    EXPECT_EQ(site.rm->core().FindNode(node.address)->state,
              life == 0 ? model::rm::NodeState::kDecommissioning : model::rm::NodeState::kRunning);
    site.Crash();
  }
}

TEST(ResourceManager, MaintenanceComesAtItsTimeWhateverEndsTheManager) {
  Site site;
  model::rm::RegisterNode node;
  node.address = {"n", 1};
  node.capacity = model::Resources::Of(8192, 8);
  std::vector<std::string> told;
  int64_t unreadable_until_ms = 0;
  const auto start = [&] {
    ResourceManagerOptions options = Options(site.epochs);
    options.on_action = [&](const std::string& what) { told.push_back(what); };
    options.host_lists = [&]() -> base::Result<model::rm::RefreshNodes> {
      if (site.machine.loop().Wall().ms < unreadable_until_ms) return base::Error{"the exclude file cannot be read"};
      return model::rm::RefreshNodes{};
    };
    site.Start(std::move(options));
    site.rm->batches().Ask(node, [](const model::rm::OuterEffect&) {});
  };
  const auto crash = [&] {
    site.Crash();
    start();
  };
  const int64_t begin = site.machine.loop().Wall().ms;
  const auto state_at = [&](int64_t second) {
    site.world.RunUntil(
        site.world.now() + base::Duration::Millis(begin + second * 1000 - site.machine.loop().Wall().ms),
        [] { return false; });
    return site.rm->core().FindNode(node.address)->state;
  };
  const auto maintenance = [&]() -> Maintenance& { return site.rm->draining().maintenance(); };
  using model::rm::NodeState;
  start();
  ASSERT_EQ(state_at(2), NodeState::kRunning);
  base::Status added;
  bool done = false;
  maintenance().Add("n", {begin + 60'000, begin + 180'000, "operator", "10.0.0.1"}, [&](const base::Status& status) {
    added = status;
    done = true;
  });
  EXPECT_EQ(state_at(10), NodeState::kRunning);
  ASSERT_TRUE(done && added.ok());
  crash();
  EXPECT_EQ(state_at(50), NodeState::kRunning);
  EXPECT_EQ(state_at(65), NodeState::kDecommissioning);
  crash();
  EXPECT_EQ(state_at(120), NodeState::kDecommissioning);
  EXPECT_EQ(state_at(185), NodeState::kRunning);
  EXPECT_TRUE(maintenance().hosts().empty());
  EXPECT_TRUE(site.machine.store().Load(Maintenance::kTable).value().empty());
  EXPECT_EQ(told,
            (std::vector<std::string>{"the maintenance of host n begins, as ordered by operator from 10.0.0.1",
                                      "the maintenance of host n is over, as ordered by operator from 10.0.0.1"}));
  // One that is cancelled while it runs gives its node back at once.
  maintenance().Add("n", {begin + 185'000, begin + 900'000, "operator", ""}, [](const base::Status&) {});
  EXPECT_EQ(state_at(187), NodeState::kDecommissioning);
  maintenance().Add("n", {begin + 899'000, begin + 950'000, "", ""},
                    [&](const base::Status& status) { added = status; });
  EXPECT_EQ(added.error().message, "n has a maintenance window then already; cancel that first");
  maintenance().Cancel("n", [](const base::Status&) {});
  EXPECT_EQ(state_at(189), NodeState::kRunning);
  // Lists that cannot be read when a window begins are read a minute later.
  maintenance().Add("n", {begin + 200'000, begin + 400'000, "operator", ""}, [](const base::Status&) {});
  EXPECT_EQ(state_at(195), NodeState::kRunning);
  unreadable_until_ms = begin + 210'000;
  EXPECT_EQ(state_at(215), NodeState::kRunning);
  EXPECT_EQ(state_at(265), NodeState::kDecommissioning);
  maintenance().Cancel("n", [](const base::Status&) {});
  EXPECT_EQ(state_at(267), NodeState::kRunning);
  for (const auto& [from, until] :
       {std::pair{begin, begin + 1000}, std::pair{begin, begin + 900'000}, std::pair{begin + 900'000, begin + 900'000},
        std::pair{begin + 900'000, begin + 31 * int64_t{86'400'000}}, std::pair{INT64_MAX / 4, INT64_MAX / 4 + 1}}) {
    maintenance().Add("n", {from, until, "", ""}, [&](const base::Status& status) { added = status; });
    EXPECT_FALSE(added.ok()) << from << " " << until;
  }
}

TEST(ResourceManager, WhatAnEarlierRunLearnedOfRunTimesIsKnown) {
  Site site;
  model::LearnedRuns row;
  row.row = 7;
  row.user = "alice";
  row.name = "report-";
  row.priority = 1;
  row.size = model::Resources::Of(1024, 1);
  row.runs_ms = {60'000, 61'000, 62'000};
  model::LearnedRuns wrong = row;
  wrong.row = 1 << 20;
  wrong.user = "bob";
  site.Store({{Learning::kTable, "7", base::EncodeStored(row)}, {Learning::kTable, "8", base::EncodeStored(wrong)}});
  site.Start();
  const auto learned = site.rm->learning().Share();
  EXPECT_EQ(learned->Rows(), std::vector<model::LearnedRuns>{row});
  const auto* found = learned->Find({"alice", "report-", 1, row.size.amount});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->Quantile({}, 1000), base::Duration::Seconds(62));
}

TEST(ResourceManager, ChartsGoOnInTheNextRun) {
  Site site;
  std::string kept;
  for (const size_t samples : {7U, 14U}) {
    ResourceManagerOptions options = Options(site.epochs);
    options.charts.last = kept;
    options.charts.keep = [&](const std::string& bytes) { kept = bytes; };
    site.Start(std::move(options));
    site.Run(65);
    EXPECT_EQ(site.rm->charts().Since(1).size(), samples);
    site.rm.reset();
  }
}

}  // namespace
}  // namespace fairlead::process::rm
