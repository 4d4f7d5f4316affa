#include "nm/links.h"

#include <gtest/gtest.h>

namespace fairlead::nm {
namespace {

model::nm::LocalResource File(const std::string& url, const std::string& link) {
  model::nm::LocalResource resource;
  resource.link = link;
  resource.url = url;
  return resource;
}

struct LinksTest : testing::Test {
  LinksTest() { spec.id = {{{1000, 1}, 1}, 1}; }
  ResourceCache cache;
  model::nm::ContainerSpec spec;
  EffectSink out;
  Links links;
};

TEST_F(LinksTest, TwoLinksOfOneResourceComeTogetherAndAreFetchedOnce) {
  spec.local_resources = {File("file:/a", "x"), File("file:/a", "y")};
  links.Begin(cache, spec, {}, out);
  ASSERT_EQ(out.size(), 1u);
  const model::nm::ResourceNumber number = std::get<model::nm::Fetch>(out.front()).number;
  EXPECT_FALSE(links.complete());
  EXPECT_TRUE(links.Ready(cache).empty());
  ASSERT_TRUE(cache.Arrived(number, "/p", 9, {}));
  EXPECT_TRUE(links.Arrived(number, 9));
  EXPECT_FALSE(links.Arrived(number, 9));
  EXPECT_TRUE(links.complete());
  EXPECT_EQ(links.Ready(cache, number).size(), 2u);
  EXPECT_EQ(links.Counters(base::Instant{} + base::Duration::Millis(3)), "9,0,2,0,3");
  EXPECT_EQ(links.Unreferenced(cache, spec.id), 0u);
  links.Release(cache, spec.id, {});
  EXPECT_TRUE(cache.Find(number)->users.empty());
}

TEST_F(LinksTest, AFailedOneIsNamedUntilItIsAskedForAgain) {
  links.Add(cache, spec, {File("file:/a", "x")}, out);
  const model::nm::ResourceNumber number = std::get<model::nm::Fetch>(out.front()).number;
  cache.Failed(number);
  EXPECT_EQ(links.Failed(number, "gone"), std::set<std::string>{"x"});
  ASSERT_EQ(links.Status().size(), 1u);
  EXPECT_EQ(links.Status()[0].error, "gone");
  EXPECT_TRUE(links.Add(cache, spec, {File("file:/a", "x")}, out).empty());
  ASSERT_EQ(links.Status().size(), 1u);
  EXPECT_EQ(links.Status()[0].error, "");
}

}  // namespace
}  // namespace fairlead::nm
