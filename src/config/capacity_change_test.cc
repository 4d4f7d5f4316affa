#include "config/capacity_change.h"

#include <gtest/gtest.h>

namespace fairlead::config {
namespace {

constexpr char kPrefix[] = "yarn.scheduler.capacity.";

Properties Keys(const std::map<std::string, std::string>& names) {
  Properties keys;
  for (const auto& [name, value] : names) keys[kPrefix + name] = value;
  return keys;
}

const Properties kKeys = Keys({{"root.queues", " a, b,,a "},
                               {"root.a.capacity", "50"},
                               {"root.b.capacity", "50"},
                               {"root.b.queues", "one"},
                               {"root.b.ordering-policy", "utilization"},
                               {"root.b.one.capacity", "100"},
                               {"root.b-one.x", "another queue"}});

CapacityChange Remove(std::vector<std::string> paths) {
  return {.remove = std::move(paths), .add = {}, .update = {}, .global = {}};
}
CapacityChange Add(std::vector<CapacityChange::Queue> queues) {
  return {.remove = {}, .add = std::move(queues), .update = {}, .global = {}};
}
CapacityChange Update(std::vector<CapacityChange::Queue> queues) {
  return {.remove = {}, .add = {}, .update = std::move(queues), .global = {}};
}

TEST(CapacityChange, ARemovedQueueTakesItsKeysAlong) {
  const auto keys = WithChange(kKeys, Remove({"root.b.one"}));
  ASSERT_TRUE(keys.ok());
  // The parent is a leaf now, and has no policy of parents.
  EXPECT_EQ(*keys, Keys({{"root.queues", " a, b,,a "},
                         {"root.a.capacity", "50"},
                         {"root.b.capacity", "50"},
                         {"root.b-one.x", "another queue"}}));
  EXPECT_EQ(*WithChange(*keys, Remove({"root.b"})),
            Keys({{"root.queues", "a"}, {"root.a.capacity", "50"}, {"root.b-one.x", "another queue"}}));
}

TEST(CapacityChange, AnAddedQueueFollowsThoseThatAreThere) {
  const auto keys = WithChange(
      kKeys,
      Add({{"root.c", {{"capacity", "0"}, {"state", ""}}}, {"root.a.new", {}}, {"root.c.d", {{"capacity", "100"}}}}));
  ASSERT_TRUE(keys.ok());
  Properties wanted = kKeys;
  wanted.merge(
      Keys({{"root.c.capacity", "0"}, {"root.a.queues", "new"}, {"root.c.queues", "d"}, {"root.c.d.capacity", "100"}}));
  wanted[std::string(kPrefix) + "root.queues"] = "a,b,c";
  EXPECT_EQ(*keys, wanted);
}

TEST(CapacityChange, ALeafThatBecomesAParentForgetsItsPolicy) {
  const Properties keys = Keys({{"root.queues", "a"}, {"root.a.ordering-policy", "fair"}});
  EXPECT_EQ(*WithChange(keys, Add({{"root.a.one", {}}})), Keys({{"root.queues", "a"}, {"root.a.queues", "one"}}));
}

TEST(CapacityChange, AnEmptyValueTakesAKeyOut) {
  const auto updated = WithChange(kKeys, Update({{"root.a", {{"capacity", ""}, {" state ", "STOPPED"}}}}));
  ASSERT_TRUE(updated.ok());
  EXPECT_FALSE(updated->contains("yarn.scheduler.capacity.root.a.capacity"));
  EXPECT_EQ(updated->size(), kKeys.size());
  const auto global = WithChange(
      kKeys,
      {.remove = {}, .add = {}, .update = {}, .global = {{" k ", "v"}, {std::string(kPrefix) + "root.queues", ""}}});
  EXPECT_EQ(global->at("k"), "v");
  EXPECT_EQ(global->size(), kKeys.size());
}

TEST(CapacityChange, RemovesBeforeItAdds) {
  const auto keys =
      WithChange(Keys({{"root.queues", "a"}, {"root.a.capacity", "100"}}), {.remove = {"root.a"},
                                                                            .add = {{"root.a", {{"state", "STOPPED"}}}},
                                                                            .update = {{"root.a", {{"capacity", "7"}}}},
                                                                            .global = {}});
  EXPECT_EQ(*keys, Keys({{"root.queues", "a"}, {"root.a.state", "STOPPED"}, {"root.a.capacity", "7"}}));
}

TEST(CapacityChange, AListThatAnAddedQueueBringsCounts) {
  EXPECT_EQ(*WithChange(Keys({{"root.queues", "a"}}), Add({{"root.b", {{"queues", "c, d"}}}, {"root.b.e", {}}})),
            Keys({{"root.queues", "a,b"}, {"root.b.queues", "c,d,e"}}));
  EXPECT_EQ(WithChange(kKeys, Add({{"root.b", {}}})).error().message, "Can't add existing queue root.b");
  // With the queue goes its list, also the one that this change has made.
  EXPECT_EQ(
      *WithChange(kKeys, {.remove = {"root.b.one", "root.b"}, .add = {{"root.b", {}}}, .update = {}, .global = {}}),
      Keys({{"root.queues", "a,b"}, {"root.a.capacity", "50"}, {"root.b-one.x", "another queue"}}));
}

TEST(CapacityChange, SaysWhatCannotBeDone) {
  const auto refusal = [](const CapacityChange& change) { return WithChange(kKeys, change).error().message; };
  EXPECT_EQ(refusal(Remove({"root"})), "Can't remove queue root");
  EXPECT_EQ(refusal(Remove({"root.b.two"})), "Queue root.b.two not found");
  EXPECT_EQ(refusal(Remove({"root.a", "root.a"})), "Queue root.a not found");
  EXPECT_EQ(refusal(Add({{"a", {}}})), "Can't add invalid queue a");
  EXPECT_EQ(refusal(Add({{"root.c", {}}, {"root.c", {}}})), "Can't add existing queue root.c");
  EXPECT_EQ(refusal(Update({{"root.a", {{"x", std::string(17 << 20, 'x')}}}})),
            "The configuration would have more than 16 MiB.");
}

}  // namespace
}  // namespace fairlead::config
