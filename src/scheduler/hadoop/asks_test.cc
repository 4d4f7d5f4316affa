#include "scheduler/hadoop/asks.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::hadoop {
namespace {

using model::Locality;
using model::Resources;

class AsksTest : public ::testing::Test {
 protected:
  ~AsksTest() override { EXPECT_EQ(asks_.Check(), ""); }

  Asks::Line Line(int32_t priority, const std::string& name, int32_t count, int64_t memory = 1024) {
    return {names_.Acquire(name), {priority, -1}, {count, true, Resources::Of(memory, 1)}};
  }
  void Update(std::vector<Asks::Line> lines, bool give_back = false) {
    asks_.Update(std::move(lines), give_back, names_, 7);
  }
  int32_t CountOf(int32_t priority, const std::string& name) const {
    const KeyLines* lines = asks_.Find({priority, -1});
    const Request* request = lines == nullptr ? nullptr : lines->Of(names_.Find(name), names_);
    return request == nullptr ? 0 : request->count;
  }
  std::vector<int32_t> Active() const {
    std::vector<int32_t> priorities;
    for (const Asks::ActiveKey& one : asks_.active()) priorities.push_back(one.key.priority);
    return priorities;
  }

  Names names_;
  NameId host_ = names_.Acquire("host");
  NameId rack_ = names_.Acquire("/rack");
  Asks asks_;
};

TEST_F(AsksTest, ALineReplacesTheOneOfItsKeyAndName) {
  Update({Line(1, "*", 5), Line(1, "host", 2)});
  Update({Line(1, "*", 3)});
  EXPECT_EQ(CountOf(1, "*"), 3);
  EXPECT_EQ(CountOf(1, "host"), 2);
  EXPECT_EQ(asks_.lines(), 2U);
}

TEST_F(AsksTest, OfLinesOfOneNameInOneCallTheLastCounts) {
  Update({Line(1, "*", 5), Line(1, "*", 9)});
  EXPECT_EQ(CountOf(1, "*"), 9);
}

TEST_F(AsksTest, KeysAreActiveWhileTheirAnyLineCountsMostUrgentFirst) {
  Update({Line(3, "*", 1), Line(1, "*", 1), Line(2, "host", 1)});
  EXPECT_EQ(Active(), (std::vector<int32_t>{1, 3}));
  Update({Line(2, "*", 4), Line(1, "*", 0)});
  EXPECT_EQ(Active(), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(asks_.Find({1, -1}), nullptr) << "nothing is asked for under this key any more";
}

TEST_F(AsksTest, AGrantTakesOneOfEachLineItServes) {
  Update({Line(1, "*", 2), Line(1, "/rack", 2), Line(1, "host", 1)});
  const Taken taken = asks_.Take({1, -1}, Locality::kNodeLocal, host_, rack_, names_);
  ASSERT_EQ(taken.size, 3U);
  EXPECT_EQ(taken.lines[0].name, host_);
  EXPECT_EQ(CountOf(1, "host"), 0);
  EXPECT_EQ(CountOf(1, "/rack"), 1);
  EXPECT_EQ(CountOf(1, "*"), 1);
  EXPECT_EQ(asks_.Take({1, -1}, Locality::kOffSwitch, host_, rack_, names_).size, 1U);
  EXPECT_TRUE(Active().empty());
  EXPECT_EQ(CountOf(1, "/rack"), 1) << "a line stays although nothing is asked for anywhere";
}

TEST_F(AsksTest, WhatAGrantTookIsAskedForAgainWhenItIsGivenBack) {
  Update({Line(1, "*", 1), Line(1, "/rack", 1)});
  asks_.Take({1, -1}, Locality::kRackLocal, host_, rack_, names_);
  EXPECT_TRUE(asks_.empty());
  Update({Line(1, "*", 1), Line(1, "/rack", 1)}, true);
  Update({Line(1, "*", 1)}, true);
  EXPECT_EQ(CountOf(1, "*"), 2);
  EXPECT_EQ(CountOf(1, "/rack"), 1);
}

TEST_F(AsksTest, BoundsHoldForEveryLineAndAreExactAgainOnceNoneIsLeft) {
  Update({Line(1, "*", 1, 2048), Line(2, "*", 1, 512)});
  EXPECT_EQ(asks_.least(), Resources::Of(512, 1));
  EXPECT_EQ(asks_.most(), Resources::Of(2048, 1));
  Update({Line(1, "*", 0), Line(2, "*", 0)});
  Update({Line(1, "*", 1, 1024)});
  EXPECT_EQ(asks_.least(), asks_.most());
}

TEST_F(AsksTest, NamesAreKeptByTheLinesAndGoWithThem) {
  Update({Line(1, "*", 1), Line(1, "far", 1)});
  names_.Release(names_.Find("far"));
  EXPECT_TRUE(names_.Find("far").valid());
  asks_.Clear(names_);
  EXPECT_FALSE(names_.Find("far").valid());
  EXPECT_TRUE(asks_.empty());
}

}  // namespace
}  // namespace fairlead::scheduler::hadoop
