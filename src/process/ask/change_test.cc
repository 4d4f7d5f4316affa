#include "process/ask/change.h"

#include <gtest/gtest.h>

namespace fairlead::process::ask {
namespace {

template <class T>
T Parsed(std::string_view text) {
  const auto change = ParseChange(text);
  EXPECT_TRUE(change.ok()) << text << ": " << (change.ok() ? "" : change.error().message);
  return change.ok() ? std::get<T>(*change) : T{};
}

TEST(ParseChange, ReadsEachKind) {
  const auto queue = Parsed<SetQueue>("queue root.prod.weight=5");
  EXPECT_EQ(queue.queue, "root.prod");
  EXPECT_EQ(queue.setting, "weight");
  EXPECT_EQ(queue.value, "5");
  EXPECT_EQ(Parsed<SetQueue>("queue root.dev.maxResources=4096 mb, 2 vcores").value, "4096 mb, 2 vcores");
  EXPECT_EQ(Parsed<LoseNode>("lose-node n1:8041").node, "n1:8041");
  EXPECT_EQ(Parsed<LoseRack>("lose-rack /r1").rack, "/r1");
  EXPECT_EQ(Parsed<AddNodes>("add-nodes 10").count, 10);
  EXPECT_EQ(Parsed<AddNodes>("add-nodes 10=n1:8041").like, "n1:8041");
  EXPECT_EQ(Parsed<DrainNode>("drain n1").node, "n1");
  const auto submit = Parsed<Submit>("submit 100x2GiB,1x10m@root.prod");
  EXPECT_EQ(submit.count, 100);
  EXPECT_EQ(submit.size, model::Resources::Of(2048, 1));
  EXPECT_EQ(submit.run, base::Duration::Seconds(600));
  EXPECT_EQ(submit.queue, "root.prod");
  EXPECT_EQ(Parsed<KillApp>("kill application_1_0002").app, (model::ApplicationId{1, 2}));
  EXPECT_EQ(Parsed<MoveApp>("move application_1_0002=root.dev").queue, "root.dev");
  EXPECT_EQ(Parsed<MoveApp>("move application_1_0002 root.dev").queue, "root.dev");
}

TEST(ParseChange, SaysWhatIsWrong) {
  for (const char* text :
       {"", "queue", "queue weight", "queue .weight=1", "queue root.=1", "lose-node", "add-nodes -1",
        "add-nodes 1000000000", "add-nodes 99999999999999999999", "submit 0x2GiB,1x10m@q", "submit 1x2GiB,1x10m",
        "submit 1000001x2GiB,1x10m@q", "submit 1x2GiB,1x10@q", "submit 1x2GiB,1x99999999999d@q", "submit x,x@",
        "kill 17", "move application_1_0002", "explode everything"}) {
    const auto change = ParseChange(text);
    ASSERT_FALSE(change.ok()) << text;
    const std::string& said = change.error().message;
    EXPECT_TRUE(said.find("write ") != said.npos || said.find("expected ") != said.npos) << said;
  }
  EXPECT_FALSE(ParseChange("drain " + std::string(2000, 'n')).ok());
}

TEST(ParseTime, KnowsFourUnits) {
  EXPECT_EQ(*ParseTime("90s"), base::Duration::Seconds(90));
  EXPECT_EQ(*ParseTime("2h"), base::Duration::Seconds(7200));
  EXPECT_EQ(*ParseTime("30d"), kLongestRun);
  for (const char* text : {"", "s", "0s", "-1s", "31d", "5 m", "5min", "9223372036854775807d"}) {
    EXPECT_FALSE(ParseTime(text).ok()) << text;
  }
}

}  // namespace
}  // namespace fairlead::process::ask
