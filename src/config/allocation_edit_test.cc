#include "config/allocation_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/allocation_file.h"

namespace fairlead::config {
namespace {

using testing::HasSubstr;

constexpr char kFile[] = R"(<?xml version="1.0"?>
<!-- ours -->
<allocations>
  <queue name="prod">
    <weight>2</weight> <!-- agreed in May -->
    <queue name="etl"/>
  </queue>
  <userMaxAppsDefault>5</userMaxAppsDefault>
</allocations>
)";

std::string Edited(std::string_view queue, std::vector<std::pair<std::string, std::string>> settings,
                   std::string_view text = kFile) {
  const auto edited = EditAllocationFile(text, queue, settings);
  EXPECT_TRUE(edited.ok());
  return edited.ok() ? *edited : "";
}

TEST(AllocationEdit, ChangesOneElementAndNothingElse) {
  const std::string edited = Edited("root.prod", {{"weight", "3"}});
  EXPECT_EQ(LinesThatDiffer(kFile, edited),
            "-     <weight>2</weight> <!-- agreed in May -->\n+     <weight>3</weight> <!-- agreed in May -->\n");
  EXPECT_EQ(Edited("prod", {{"weight", "3"}}), edited);
  EXPECT_EQ(LinesThatDiffer(kFile, Edited("prod", {{"weight", "2"}})), "");
}

TEST(AllocationEdit, MakesWhatIsNotThere) {
  EXPECT_EQ(LinesThatDiffer(kFile, Edited("root.dev.a", {{"maxRunningApps", "4"}})),
            "+   <queue name=\"dev\">\n+     <queue name=\"a\">\n+       <maxRunningApps>4</maxRunningApps>\n"
            "+     </queue>\n+   </queue>\n");
  EXPECT_THAT(Edited("root.prod.etl", {{"weight", "1.5"}}), HasSubstr("<weight>1.5</weight>"));
}

TEST(AllocationEdit, AnEmptyTextTakesTheElementOut) {
  const auto file = ParseAllocationFile(Edited("root.prod", {{"weight", ""}}));
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(file->tree.queues.at(0).weight.has_value());
  EXPECT_EQ(Edited("root.prod", {{"nosuch", ""}}), kFile);
}

TEST(AllocationEdit, FindsQueuesInsideAWrittenRoot) {
  constexpr char kRooted[] = "<allocations><queue name=\"root\"><queue name=\"a\"/></queue></allocations>";
  const auto file = ParseAllocationFile(Edited("a", {{"weight", "7"}}, kRooted));
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->tree.queues.size(), 2U);
  EXPECT_EQ(file->tree.queues[1].name, "root.a");
  EXPECT_EQ(file->tree.queues[1].weight, 7);
}

TEST(AllocationEdit, AFileWithoutQueuesGetsOne) {
  EXPECT_EQ(Edited("a", {{"weight", "2"}}, "<allocations/>\n"),
            "<allocations>\n  <queue name=\"a\">\n    <weight>2</weight>\n  </queue>\n</allocations>\n");
}

TEST(AllocationEdit, TextsAreNoMarkup) {
  EXPECT_THAT(Edited("root.prod", {{"weight", "<&>"}}), HasSubstr("<weight>&lt;&amp;&gt;</weight>"));
}

TEST(AllocationEdit, RefusesOtherFilesAndNames) {
  EXPECT_FALSE(EditAllocationFile("<a", "root.a", {}).ok());
  EXPECT_FALSE(EditAllocationFile("<config/>", "root.a", {}).ok());
  EXPECT_FALSE(EditAllocationFile(kFile, "root..a", {}).ok());
  EXPECT_FALSE(EditAllocationFile(kFile, "root.a", {{"", "1"}}).ok());
}

}  // namespace
}  // namespace fairlead::config
