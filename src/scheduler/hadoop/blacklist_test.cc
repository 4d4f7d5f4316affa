#include "scheduler/hadoop/blacklist.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::hadoop {
namespace {

using Of = Blacklist::Of;

class BlacklistTest : public ::testing::Test {
 protected:
  Names names_;
  NameId host_ = names_.Acquire("host");
  NameId rack_ = names_.Acquire("/rack");
  NameId other_ = names_.Acquire("other");
  Blacklist list_;
};

TEST_F(BlacklistTest, ExcludesAHostByItsNameOrItsRack) {
  list_.Update(Of::kMaster, {"host"}, {}, names_);
  EXPECT_TRUE(list_.Has(Of::kMaster, host_, rack_));
  EXPECT_FALSE(list_.Has(Of::kMaster, other_, rack_));
  list_.Update(Of::kMaster, {"/rack"}, {"host", "never named"}, names_);
  EXPECT_TRUE(list_.Has(Of::kMaster, other_, rack_));
  list_.Update(Of::kMaster, {}, {"/rack"}, names_);
  EXPECT_FALSE(list_.Has(Of::kMaster, host_, rack_));
}

TEST_F(BlacklistTest, TheSystemsListIsNotTheMasters) {
  list_.Update(Of::kSystem, {"host"}, {}, names_);
  EXPECT_TRUE(list_.Has(Of::kSystem, host_, rack_));
  EXPECT_FALSE(list_.Has(Of::kMaster, host_, rack_));
  EXPECT_FALSE(list_.TakeChanged()) << "only the master's own list counts in its headroom";
  list_.Update(Of::kMaster, {"host", "host"}, {}, names_);
  EXPECT_TRUE(list_.TakeChanged());
  EXPECT_FALSE(list_.TakeChanged());
  list_.Update(Of::kMaster, {"host"}, {"other"}, names_);
  EXPECT_FALSE(list_.TakeChanged()) << "nothing that was not so before";
}

TEST_F(BlacklistTest, TheNextAttemptTakesTheMastersListOver) {
  list_.Update(Of::kSystem, {"other"}, {}, names_);
  list_.Update(Of::kMaster, {"host"}, {}, names_);
  Blacklist next;
  next.TakeOver(list_);
  EXPECT_TRUE(next.Has(Of::kMaster, host_, rack_));
  EXPECT_FALSE(next.Has(Of::kSystem, other_, rack_));
  EXPECT_FALSE(list_.Has(Of::kMaster, host_, rack_));
}

TEST_F(BlacklistTest, KeepsTheNamesInIt) {
  list_.Update(Of::kMaster, {"far"}, {}, names_);
  EXPECT_TRUE(names_.Find("far").valid());
  list_.Clear(names_);
  EXPECT_FALSE(names_.Find("far").valid());
}

}  // namespace
}  // namespace fairlead::scheduler::hadoop
