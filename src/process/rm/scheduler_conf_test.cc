#include "process/rm/scheduler_conf.h"

#include <gtest/gtest.h>

#include "base/stored.h"
#include "config/capacity_file.h"
#include "env_sim/world.h"
#include "process/rm/resource_manager.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

namespace fairlead::process::rm {
namespace {

constexpr char kRoot[] = "yarn.scheduler.capacity.root.";

config::Properties Shares(const std::map<std::string, std::string>& shares) {
  config::Properties keys;
  std::string& names = keys[std::string(kRoot) + "queues"];
  for (const auto& [queue, share] : shares) {
    names += (names.empty() ? "" : ",") + queue;
    keys[kRoot + queue + ".capacity"] = share;
  }
  return keys;
}

config::CapacityChange SetShares(const std::map<std::string, std::string>& shares) {
  config::CapacityChange change;
  for (const auto& [queue, share] : shares) change.update.push_back({"root." + queue, {{"capacity", share}}});
  return change;
}

config::CapacityChange Add(const std::string& queue) {
  config::CapacityChange change;
  change.add.push_back({"root." + queue, {{"capacity", "0"}}});
  return change;
}

const config::Properties kFile = Shares({{"a", "50"}, {"b", "50"}});

/// A scheduler and a store that answer when they are told to.
class SchedulerConfTest : public testing::Test {
 protected:
  void Make(SchedulerConfRecord start, bool kept = true) {
    SchedulerConfOptions options;
    options.start = std::move(start);
    options.kept = kept;
    options.read_file = [] { return base::Result<config::Properties>(kFile); };
    conf_ = std::make_unique<SchedulerConf>(
        std::move(options),
        [this](const config::Properties& keys, SchedulerConf::Done done) {
          used_ = keys;
          answer_ = std::move(done);
        },
        [this](const std::vector<env::Row>& rows, std::function<void()> stored) {
          rows_ = rows;
          stored_ = std::move(stored);
        });
  }
  void Change(config::CapacityChange change) {
    conf_->Change(std::move(change),
                  [this](const base::Status& done) { done_.push_back(done.ok() ? "done" : done.error().message); });
  }
  void Answer(const base::Status& status) { std::exchange(answer_, nullptr)(status); }
  void Stored() { std::exchange(stored_, nullptr)(); }
  SchedulerConfRecord Row() const {
    EXPECT_EQ(rows_.size(), 1u);
    EXPECT_EQ(rows_[0].table, kSchedulerConfTable);
    return *base::DecodeStored<SchedulerConfRecord>(rows_[0].value.value());
  }

  std::unique_ptr<SchedulerConf> conf_;
  config::Properties used_;
  SchedulerConf::Done answer_;
  std::vector<env::Row> rows_;
  std::function<void()> stored_;
  std::vector<std::string> done_;
};

TEST_F(SchedulerConfTest, AChangeIsUsedThenStoredThenAcknowledged) {
  Make({7, kFile});
  EXPECT_TRUE(conf_->AtStart().empty());
  Change(SetShares({{"a", "40"}, {"b", "60"}}));
  const config::Properties wanted = Shares({{"a", "40"}, {"b", "60"}});
  EXPECT_EQ(used_, wanted);
  EXPECT_TRUE(rows_.empty());
  Answer({});
  EXPECT_EQ(Row().version, 8);
  EXPECT_EQ(Row().keys, wanted);
  EXPECT_TRUE(done_.empty());
  Stored();
  EXPECT_EQ(done_, (std::vector<std::string>{"done"}));
  EXPECT_EQ(conf_->now().version, 8);
  EXPECT_EQ(conf_->now().keys, wanted);
}

TEST_F(SchedulerConfTest, WhatIsRefusedLeavesAllAsItWas) {
  Make({7, kFile});
  Change(Add("a"));
  EXPECT_FALSE(answer_);
  Change(SetShares({{"a", "40"}}));
  Answer(base::Error{"Illegal capacity sum"});
  EXPECT_EQ(done_, (std::vector<std::string>{"Can't add existing queue root.a", "Illegal capacity sum"}));
  EXPECT_EQ(conf_->now().version, 7);
  EXPECT_EQ(conf_->now().keys, kFile);
  EXPECT_TRUE(rows_.empty());
}

TEST_F(SchedulerConfTest, ChangesFollowEachOther) {
  Make({7, kFile});
  Change(Add("c"));
  Change(Add("c"));
  Change(Add("d"));
  Answer({});
  EXPECT_TRUE(done_.empty());
  Stored();
  EXPECT_EQ(done_, (std::vector<std::string>{"done", "Can't add existing queue root.c"}));
  EXPECT_EQ(used_.at(std::string(kRoot) + "queues"), "a,b,c,d");
  Answer({});
  Stored();
  EXPECT_EQ(conf_->now().version, 9);
  EXPECT_EQ(done_.size(), 3u);
}

TEST_F(SchedulerConfTest, TheFilesKeysAreStoredAtTheFirstStartAndComeBack) {
  Make({0, kFile});
  rows_ = conf_->AtStart();
  EXPECT_EQ(Row().version, 1);
  EXPECT_EQ(Row().keys, kFile);
  Change(Add("c"));
  Answer({});
  Stored();
  conf_->Format([this](const base::Status& done) { done_.push_back(done.ok() ? "formatted" : done.error().message); });
  EXPECT_EQ(used_, kFile);
  Answer({});
  Stored();
  EXPECT_EQ(done_.back(), "formatted");
  EXPECT_EQ(Row().keys, kFile);
}

TEST_F(SchedulerConfTest, InMemoryNothingIsStored) {
  Make({0, kFile}, false);
  EXPECT_TRUE(conf_->AtStart().empty());
  Change(Add("c"));
  Answer({});
  EXPECT_TRUE(rows_.empty());
  EXPECT_EQ(done_, (std::vector<std::string>{"done"}));
  EXPECT_EQ(conf_->now().version, 2);
}

/// A manager of a CapacityScheduler, as a start makes it.
class ManagerWithConf {
 public:
  ManagerWithConf() : machine_(world_.AddMachine("rm")) { Start(); }
  ResourceManager& rm() { return *rm_; }
  void Start() {
    rm_.reset();
    ResourceManagerOptions options;
    options.ports = {{"rm", 8032}, {"rm", 8030}, {"rm", 8031}, {"rm", 8033}};
    options.groups_of = [](const std::string&) { return std::vector<std::string>(); };
    options.rack_of = [](const std::string&) { return "/default-rack"; };
    SchedulerConfOptions& conf = options.scheduler_conf.emplace();
    conf.read_file = [] { return base::Result<config::Properties>(kFile); };
    conf.parse = [](const config::Properties& keys, std::vector<std::string>& warnings) {
      return config::CapacityTreeOf(keys, "a store", config::HadoopConf(), warnings);
    };
    auto stored = LoadSchedulerConf(machine_.store());
    EXPECT_TRUE(stored.ok());
    if (stored.ok() && *stored) {
      conf.start = **stored;
    } else {
      conf.start.keys = kFile;
    }
    std::vector<std::string> warnings;
    options.core.queues = conf.parse(conf.start.keys, warnings);
    options.make_scheduler =
        [queues = *options.core.queues.capacity](int64_t epoch) -> base::Result<std::unique_ptr<scheduler::Scheduler>> {
      scheduler::yarn_capacity::YarnCapacityConfig config;
      config.epoch = epoch;
      auto made = scheduler::yarn_capacity::MakeYarnCapacity(config, queues);
      if (!made.ok()) return made.error();
      return std::unique_ptr<scheduler::Scheduler>(std::move(*made));
    };
    auto started = ResourceManager::Start(machine_.loop(), machine_.net(), &machine_.store(), std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message;
    rm_ = std::move(*started);
    Run();
  }
  /// Empty: it is done.
  std::string Change(const config::CapacityChange& change) {
    std::string told = "no answer";
    rm_->scheduler_conf()->Change(change,
                                  [&](const base::Status& done) { told = done.ok() ? "" : done.error().message; });
    Run();
    return told;
  }
  float ShareOf(const std::string& queue) const {
    for (const scheduler::QueueView& view : rm_->scheduler().GetQueues().queues) {
      if (view.name == queue) return view.capacity->partitions.at("").share;
    }
    return -1;
  }

 private:
  void Run() {
    world_.RunUntil(world_.now() + base::Duration::Seconds(2), [] { return false; });
  }
  env_sim::World world_{1};
  env_sim::Machine& machine_;
  std::unique_ptr<ResourceManager> rm_;
};

TEST(ResourceManagerConf, AChangeOutlivesTheManager) {
  ManagerWithConf manager;
  EXPECT_EQ(manager.Change(SetShares({{"a", "40"}, {"b", "60"}})), "");
  EXPECT_FLOAT_EQ(manager.ShareOf("root.b"), 0.6F);
  manager.Start();
  EXPECT_FLOAT_EQ(manager.ShareOf("root.b"), 0.6F);
  EXPECT_EQ(manager.rm().scheduler_conf()->now().version, 2);
  EXPECT_EQ(manager.rm().scheduler_conf()->now().keys, Shares({{"a", "40"}, {"b", "60"}}));
}

TEST(ResourceManagerConf, TheSchedulerRefusesInHadoopsWordsAndTheQueuesStay) {
  ManagerWithConf manager;
  EXPECT_NE(manager.Change(SetShares({{"a", "40"}})).find("Failed to re-init queues : Illegal capacity sum"),
            std::string::npos);
  config::CapacityChange removal = SetShares({{"b", "100"}});
  removal.remove.push_back("root.a");
  EXPECT_NE(manager.Change(removal).find("root.a cannot be deleted from the capacity scheduler configuration, as the "
                                         "queue is not yet in stopped state. Current State : RUNNING"),
            std::string::npos);
  EXPECT_FLOAT_EQ(manager.ShareOf("root.a"), 0.5F);
  manager.Start();
  EXPECT_EQ(manager.rm().scheduler_conf()->now().version, 1);
  EXPECT_FLOAT_EQ(manager.ShareOf("root.a"), 0.5F);
}

TEST(ResourceManagerConf, ATryChangesNothingAndARefreshIsRefused) {
  ManagerWithConf manager;
  EXPECT_TRUE(manager.rm().TryQueues(Shares({{"a", "10"}, {"b", "90"}})).ok());
  const base::Status refused = manager.rm().TryQueues(Shares({{"a", "10"}, {"b", "91"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("Illegal capacity sum"), std::string::npos);
  EXPECT_FLOAT_EQ(manager.ShareOf("root.a"), 0.5F);
  const auto refreshed = manager.rm().ReadQueues();
  ASSERT_FALSE(refreshed.ok());
  EXPECT_NE(refreshed.error().message.find("refreshQueues is not allowed"), std::string::npos);
}

TEST(ResourceManagerConf, ARowThatCannotBeReadIsNoReasonToTakeOtherQueues) {
  env_sim::World world(1);
  env_sim::Machine& machine = world.AddMachine("rm");
  machine.store().Commit({{kSchedulerConfTable, "all", "7"}}, [](const env::CommitStatus&) {});
  world.RunUntil(world.now() + base::Duration::Seconds(1), [] { return false; });
  const auto read = LoadSchedulerConf(machine.store());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("Row all of table rm/scheduler-conf"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::process::rm
