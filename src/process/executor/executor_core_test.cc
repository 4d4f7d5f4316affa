#include "process/executor/executor_core.h"

#include <gtest/gtest.h>

// What an executor decides, message by message.

namespace fairlead::process::executor {
namespace {

namespace we = wire::engine;

class ExecutorCoreTest : public testing::Test {
 protected:
  ExecutorCore::Outcome Tell(we::Message message) { return core_.OnMessage(std::move(message)); }
  template <class M>
  size_t Sent() const {
    size_t n = 0;
    for (const we::Message& message : sent_) n += std::holds_alternative<M>(message);
    return n;
  }
  template <class M>
  const M& Last() const {
    for (auto it = sent_.rbegin(); it != sent_.rend(); ++it) {
      if (const M* const found = std::get_if<M>(&*it)) return *found;
    }
    throw std::logic_error("no such message was sent");
  }
  void Plan(int32_t stage, int64_t epoch, std::vector<int32_t> kept = {}) {
    Tell(we::StagePlanned{stage, 0, "plan " + std::to_string(stage), epoch, std::move(kept)});
  }
  static std::shared_ptr<const void> Bytes(const char* text) { return std::make_shared<const std::string>(text); }
  bool Keep(int32_t dataset, int32_t partition, int64_t size, const std::string& path = "") {
    if (!core_.kept().Book(dataset, size, gone_)) return false;
    core_.kept().Keep({dataset, partition}, {Bytes("x"), size, path, 0, 0}, gone_);
    return true;
  }

  std::vector<we::Message> sent_;
  std::vector<std::string> gone_;
  ExecutorCore core_{[this](we::Message message) { sent_.push_back(std::move(message)); },
                     [](std::string plan) { return std::make_shared<std::string>(std::move(plan)); }, 100};
};

TEST_F(ExecutorCoreTest, TasksRunInTheirOrderWithThePlanOfTheirStage) {
  Plan(4, 0);
  EXPECT_EQ(Tell(we::Launch{4, 0, {{7, 0, 0}, {8, 1, 0}}}).work, 2u);
  const auto first = core_.Take();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->launch.task, 7);
  EXPECT_EQ(first->stage, 4);
  EXPECT_EQ(*std::static_pointer_cast<std::string>(first->program), "plan 4");
  EXPECT_TRUE(core_.Runs(7) && core_.HasWork());
  core_.Ended(7);
  EXPECT_FALSE(core_.Runs(7));
  EXPECT_EQ(core_.Take()->launch.task, 8);
  EXPECT_FALSE(core_.Take());
}

TEST_F(ExecutorCoreTest, ATaskOfAStageWithoutAPlanBreaks) {
  Plan(4, 0);
  Tell(we::StageGone{4, 0});
  EXPECT_EQ(Tell(we::Launch{4, 0, {{7, 0, 0}}}).work, 0u);
  EXPECT_EQ(Last<we::TaskBroke>().task, 7);
}

TEST_F(ExecutorCoreTest, AKillEndsWhatWaitsAndNamesWhatRuns) {
  Plan(4, 0);
  Tell(we::Launch{4, 0, {{7, 0, 0}, {8, 1, 0}}});
  core_.Take();
  EXPECT_EQ(Tell(we::Kill{7}).kill, 7);
  EXPECT_EQ(Sent<we::TaskBroke>(), 0u);
  EXPECT_FALSE(Tell(we::Kill{8}).kill);
  EXPECT_EQ(Last<we::TaskBroke>().task, 8);
  EXPECT_FALSE(core_.HasWork());
  EXPECT_FALSE(Tell(we::Kill{9}).kill) << "one that has ended, or is not known";
  EXPECT_EQ(Sent<we::TaskBroke>(), 1u);
}

TEST_F(ExecutorCoreTest, ATableIsAskedForOnceAndAnewWhenOutputsWereLost) {
  EXPECT_EQ(core_.FindOutputs(3), nullptr);
  EXPECT_EQ(core_.FindOutputs(3), nullptr);
  EXPECT_EQ(Sent<we::AskMapOutputs>(), 1u);
  std::string table;
  tasks::EncodeMapOutputs(tasks::MapOutputTable(1, 1), table);
  EXPECT_TRUE(Tell(we::MapOutputs{3, 5, table, {{2, "b", "h", 1}}, {}, {}}).answers);
  ASSERT_NE(core_.FindOutputs(3), nullptr);
  EXPECT_EQ(core_.FindOutputs(3)->places.at(2).executor_id, "b");
  Plan(1, 5);
  EXPECT_NE(core_.FindOutputs(3), nullptr);
  Plan(2, 6);
  EXPECT_EQ(core_.FindOutputs(3), nullptr) << "an older table than the stage's epoch";
  EXPECT_EQ(Sent<we::AskMapOutputs>(), 2u);
  Tell(we::MapOutputs{3, 6, "malformed", {}, {}, {}});
  ASSERT_NE(core_.FindOutputs(3), nullptr);
  EXPECT_EQ(core_.FindOutputs(3)->table, nullptr);
  core_.DropOutputs(3);
  EXPECT_EQ(core_.FindOutputs(3), nullptr);
}

TEST_F(ExecutorCoreTest, AnAnswerIsTakenByItsToken) {
  const uint64_t first = core_.AskCommit(7), second = core_.AskCommit(8);
  EXPECT_FALSE(core_.TakeCommit(first));
  Tell(we::CommitAnswer{second, false});
  Tell(we::CommitAnswer{first, true});
  EXPECT_EQ(core_.TakeCommit(first), true);
  EXPECT_FALSE(core_.TakeCommit(first)) << "taken already";
  core_.Abandon(second);
  EXPECT_FALSE(core_.TakeCommit(second));
  Tell(we::CommitAnswer{second, true});
  EXPECT_FALSE(core_.TakeCommit(second)) << "nobody waits for it";
}

TEST_F(ExecutorCoreTest, ASharedValueComesOnceAndIsForgotten) {
  EXPECT_EQ(core_.FindBroadcast(1), nullptr);
  Tell(we::Broadcast{1, true, "value"});
  EXPECT_EQ(*core_.FindBroadcast(1)->bytes, "value");
  EXPECT_EQ(Sent<we::AskBroadcast>(), 1u);
  EXPECT_EQ(Tell(we::Forget{{}, {}, {1}}).broadcasts_gone, std::vector<int64_t>{1});
  EXPECT_EQ(core_.FindBroadcast(1), nullptr);
  Tell(we::Broadcast{1, false, ""});
  EXPECT_EQ(core_.FindBroadcast(1)->bytes, nullptr);
}

TEST_F(ExecutorCoreTest, OthersAreAskedOnlyForDatasetsOfWhichPartitionsAreKept) {
  EXPECT_EQ(core_.AskKept(5, 0), 0u);
  Plan(1, 0, {5});
  const uint64_t token = core_.AskKept(5, 0);
  EXPECT_NE(token, 0u);
  Tell(we::KeptPlace{token, true, {}, 10, 20});
  EXPECT_EQ(core_.TakeKept(token)->checksum, 20u);
  Tell(we::Forget{{5}, {}, {}});
  EXPECT_EQ(core_.AskKept(5, 0), 0u);
}

TEST_F(ExecutorCoreTest, ForgottenShufflesGiveTheFilesOfTheirTasks) {
  core_.Wrote(3, 7);
  core_.Wrote(3, 8);
  core_.Wrote(4, 9);
  const auto outcome = Tell(we::Forget{{}, {3}, {}});
  EXPECT_EQ(outcome.outputs_gone, (std::vector<std::pair<int32_t, int64_t>>{{3, 7}, {3, 8}}));
  EXPECT_TRUE(Tell(we::Forget{{}, {3}, {}}).outputs_gone.empty());
}

TEST_F(ExecutorCoreTest, ThePartitionNotUsedForLongestMakesRoomAndTheDriverHears) {
  EXPECT_TRUE(Keep(1, 0, 40, "file-0"));
  EXPECT_TRUE(Keep(1, 1, 40));
  EXPECT_FALSE(Keep(1, 2, 40)) << "its own dataset makes no room";
  EXPECT_NE(core_.kept().Find({1, 1}), nullptr);
  EXPECT_NE(core_.kept().Find({1, 0}), nullptr);
  EXPECT_TRUE(Keep(2, 0, 30));
  EXPECT_EQ(core_.kept().Find({1, 1}), nullptr) << "used before the other";
  EXPECT_NE(core_.kept().Find({1, 0}), nullptr);
  EXPECT_TRUE(gone_.empty());
  EXPECT_TRUE(Keep(2, 1, 60));
  EXPECT_EQ(gone_, std::vector<std::string>{"file-0"});
  EXPECT_EQ(core_.kept().bytes(), 90);
  std::vector<std::string> news;
  for (const we::Message& message : sent_) {
    const auto& kept = std::get<we::BlockKept>(message);
    news.push_back((kept.present ? "+" : "-") + std::to_string(kept.dataset) + "." + std::to_string(kept.partition));
  }
  EXPECT_EQ(news, (std::vector<std::string>{"+1.0", "+1.1", "-1.1", "+2.0", "-1.0", "+2.1"}));
  EXPECT_EQ(core_.kept().CheckInvariants(), "");
  EXPECT_FALSE(Keep(3, 0, 101));
}

TEST_F(ExecutorCoreTest, AFileBelongsToTheBytesItWasWrittenFrom) {
  const auto bytes = Bytes("a");
  ASSERT_TRUE(core_.kept().Book(1, 10, gone_));
  core_.kept().Keep({1, 0}, {bytes, 10, "", 0, 0}, gone_);
  EXPECT_EQ(Tell(we::PublishKept{1, 0}).publish, (KeptPartitions::Key{1, 0}));
  EXPECT_TRUE(core_.kept().HasFile({1, 0}, bytes, "file", 5));
  EXPECT_EQ(core_.kept().Find({1, 0})->checksum, 5u);
  ASSERT_TRUE(Keep(1, 0, 20)) << "made a second time";
  EXPECT_EQ(gone_, std::vector<std::string>{"file"});
  EXPECT_FALSE(core_.kept().HasFile({1, 0}, bytes, "file", 5));
  EXPECT_EQ(core_.kept().bytes(), 20);
  const auto outcome = Tell(we::Forget{{1}, {}, {}});
  EXPECT_EQ(core_.kept().bytes(), 0);
  EXPECT_TRUE(outcome.files_gone.empty());
  EXPECT_EQ(core_.kept().CheckInvariants(), "");
}

}  // namespace
}  // namespace fairlead::process::executor
