#include "process/nm/state_writer.h"

#include <gtest/gtest.h>

#include <set>

#include "env_sim/world.h"

namespace fairlead::process::nm {
namespace {

/// A store that refuses the commits it is told to refuse, by their numbers from 1; what it takes is there at once, the
/// answers come in a later turn.
class ChoosyStore final : public env::Store {
 public:
  explicit ChoosyStore(env::Loop& loop) : loop_(loop) {}
  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override {
    env::CommitStatus status;
    if (refuse.contains(++commits)) {
      status = env::CommitError{refuse_as, "disk is full"};
    } else {
      for (const env::Row& row : rows) {
        if (row.value) {
          table[row.key] = *row.value;
        } else {
          table.erase(row.key);
        }
      }
    }
    loop_.Post([done = std::move(done), status] { done(status); });
  }
  base::Result<std::vector<env::Row>> Load(const std::string&) override { return std::vector<env::Row>{}; }
  std::string Name() const override { return "choosy"; }

  int commits = 0;
  env::CommitFailure refuse_as = env::CommitFailure::kRefused;
  std::set<int> refuse;
  std::map<std::string, std::string> table;

 private:
  env::Loop& loop_;
};

class StateWriterTest : public testing::Test {
 protected:
  using Table = std::map<std::string, std::string>;
  void Run(base::Duration time) {
    world_.RunUntil(world_.now() + time, [] { return false; });
  }
  static std::vector<env::Row> Row(const std::string& key, const std::string& value) { return {{"t", key, value}}; }
  std::function<void()> Say(const std::string& what) {
    return [this, what] { said_.push_back(what); };
  }

  env_sim::World world_{1};
  env::Loop& loop_ = world_.AddMachine("n").loop();
  env::NullLog log_;
  ChoosyStore store_{loop_};
  std::vector<std::string> said_;
  StateWriter writer_{loop_, store_, log_, [this](const std::string& why) { said_.push_back("lost: " + why); }};
};

TEST_F(StateWriterTest, RefusedRowsAreWrittenAgainBeforeAnybodyIsTold) {
  store_.refuse = {1, 2};
  writer_.Keep(Row("a", "1"), Say("a"));
  Run(base::Duration::Millis(500));
  EXPECT_TRUE(store_.table.empty());
  EXPECT_TRUE(said_.empty());
  Run(base::Duration::Seconds(3));
  EXPECT_EQ(store_.table, (Table{{"a", "1"}}));
  EXPECT_EQ(said_, std::vector<std::string>{"a"});
  EXPECT_EQ(store_.commits, 3);
}

TEST_F(StateWriterTest, ALaterCommitTakesRefusedRowsAlong) {
  store_.refuse = {1};
  writer_.Keep(Row("a", "1"), Say("a"));
  Run(base::Duration::Millis(10));
  writer_.Keep(Row("b", "2"), Say("b"));
  Run(base::Duration::Millis(10));
  EXPECT_EQ(store_.table, (Table{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(said_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(StateWriterTest, NobodyIsToldWhileAnEarlierRowIsMissing) {
  store_.refuse = {1};
  writer_.Keep(Row("a", "1"), Say("a"));
  writer_.Keep(Row("b", "2"), Say("b"));  // before the first is known to have been refused
  Run(base::Duration::Millis(10));
  EXPECT_EQ(store_.table, (Table{{"b", "2"}}));
  EXPECT_TRUE(said_.empty());
  Run(base::Duration::Seconds(2));
  EXPECT_EQ(store_.table, (Table{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(said_.size(), 2u);
}

TEST_F(StateWriterTest, AnOldRefusedRowDoesNotReplaceANewerOne) {
  store_.refuse = {1};
  writer_.Keep(Row("a", "old"), Say("old"));
  writer_.Keep({{"t", "a", std::nullopt}}, Say("new"));
  Run(base::Duration::Seconds(5));
  EXPECT_TRUE(store_.table.empty());
  EXPECT_EQ(said_.size(), 2u);
}

TEST_F(StateWriterTest, ATryThatIsRefusedIsGivenUp) {
  store_.refuse = {1, 3};
  writer_.Keep(Row("a", "1"), Say("a"));
  Run(base::Duration::Millis(10));
  env::CommitStatus result;
  writer_.Try({{"t", "a", "2"}, {"t", "b", "2"}}, [&](env::CommitStatus status) { result = status; });
  Run(base::Duration::Seconds(5));
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(store_.table, (Table{{"a", "1"}}));
  EXPECT_EQ(said_, std::vector<std::string>{"a"});
}

TEST_F(StateWriterTest, AStoreThatIsGoneIsToldOnceAndNotTriedAgain) {
  for (const env::CommitFailure kind : {env::CommitFailure::kGone, env::CommitFailure::kFenced}) {
    StateWriter writer(loop_, store_, log_, [this](const std::string& why) { said_.push_back("lost: " + why); });
    store_.refuse_as = kind;
    store_.refuse = {1, 2, 3, 4};
    store_.commits = 0;
    said_.clear();
    writer.Keep(Row("a", "1"), Say("a"));
    writer.Try(Row("b", "1"), [](const env::CommitStatus&) { FAIL() << "the agent ends instead"; });
    Run(base::Duration::Seconds(10));
    EXPECT_EQ(said_, std::vector<std::string>{"lost: disk is full"});
    EXPECT_EQ(store_.commits, 2);
  }
}

}  // namespace
}  // namespace fairlead::process::nm
