#include "scenario/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> RunText(const std::string& text) {
  return Script(*profiles::Find("fairlead"), [](const std::string&) {}).Run("f.scn", text);
}

TEST(ScriptTest, WhatHoldsIsSilent) {
  EXPECT_THAT(
      RunText("nodes 1 x 4 GiB 4 cores\n\n# a comment\napp A in root.a\nA asks 3 x 1 GiB 1 core\nexpect A runs 3"),
      IsEmpty());
}

TEST(ScriptTest, WhatDoesNotHoldIsNamedWithItsLineAndTheRestStillRuns) {
  EXPECT_THAT(
      RunText("nodes 1 x 4 GiB 4 cores\napp A in root.a\nA asks 5 x 1 GiB 1 core\n"
              "expect A runs 5\nexpect A waits because GANG\nexpect A runs at least 4\nexpect n1 is reserved for A\n"
              "expect A uses 4 GiB 3 cores"),
      ElementsAre("f.scn:4: [fairlead] expect A runs 5: got 4",
                  "f.scn:5: [fairlead] expect A waits because GANG: got CLUSTER_FULL",
                  "f.scn:7: [fairlead] expect n1 is reserved for A: got nobody",
                  "f.scn:8: [fairlead] expect A uses 4 GiB 3 cores: got 4 GiB 4 cores"));
}

TEST(ScriptTest, ALineThatCannotBeReadEndsTheRun) {
  EXPECT_THAT(RunText("nodes three\nexpect n1 runs 0"),
              ElementsAre("f.scn:1: [fairlead] wanted how many nodes, found \"three\""));
  EXPECT_THAT(RunText("app A in root.a\nA asks 2 x 1 GiB 1 core on moon"),
              ElementsAre(HasSubstr("f.scn:2: [fairlead] ")));
  EXPECT_THAT(RunText("app A in root.a\nA asks 2 x 1 GiB 1 core 7"), ElementsAre(HasSubstr("found \"7\"")));
  EXPECT_THAT(RunText("dance"), ElementsAre(HasSubstr("f.scn:1: [fairlead] wanted set, queue, user")));
  EXPECT_THAT(RunText("nodes 1 x 4 GiB 4 cores\nset a b"), ElementsAre(HasSubstr("before the first node")));
  EXPECT_THAT(RunText("app A in root.a\nA ends 1"), ElementsAre(HasSubstr("fewer containers")));
  EXPECT_THAT(RunText("queue root.a policy roulette\nnodes 1 x 1 GiB 1 core"), ElementsAre(HasSubstr("root.a")));
}

TEST(ScriptTest, AScenarioThatExpectsNothingFails) {
  EXPECT_THAT(RunText("nodes 1 x 4 GiB 4 cores"), ElementsAre(HasSubstr("nothing is expected")));
}

TEST(ScriptTest, ProfilesAreThoseOfTheLineOrAll) {
  EXPECT_THAT(*ProfilesOf("# x\nprofiles tdw fairlead\n"), ElementsAre("tdw", "fairlead"));
  EXPECT_EQ(*ProfilesOf("nodes 1 x 1 GiB"), profiles::Names());
  EXPECT_THAT(ProfilesOf("profiles capacity").error().message, HasSubstr("capacity"));
}

}  // namespace
}  // namespace fairlead::scenario
