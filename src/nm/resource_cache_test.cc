#include "nm/resource_cache.h"

#include <gtest/gtest.h>

namespace fairlead::nm {
namespace {

using model::nm::LocalResource;
using model::nm::Visibility;

model::ContainerId Id(int64_t n, int32_t app = 1) { return {{{1000, app}, 1}, n}; }
LocalResource Res(const std::string& url, Visibility visibility) {
  LocalResource r;
  r.link = "x";
  r.url = url;
  r.timestamp_ms = 5;
  r.visibility = visibility;
  return r;
}

TEST(ResourceCache, SharesByVisibility) {
  ResourceCache cache;
  const auto a = cache.Acquire(Res("file:/a", Visibility::kPublic), "u1", {1000, 1}, Id(1));
  EXPECT_TRUE(a.is_new);
  EXPECT_FALSE(cache.Acquire(Res("file:/a", Visibility::kPublic), "u2", {1000, 2}, Id(1, 2)).is_new);
  const auto p = cache.Acquire(Res("file:/a", Visibility::kPrivate), "u1", {1000, 1}, Id(1));
  EXPECT_TRUE(p.is_new);
  EXPECT_FALSE(cache.Acquire(Res("file:/a", Visibility::kPrivate), "u1", {1000, 2}, Id(1, 2)).is_new);
  EXPECT_TRUE(cache.Acquire(Res("file:/a", Visibility::kPrivate), "u2", {1000, 2}, Id(1, 2)).is_new);
  EXPECT_TRUE(cache.Acquire(Res("file:/a", Visibility::kApplication), "u1", {1000, 1}, Id(1)).is_new);
  EXPECT_TRUE(cache.Acquire(Res("file:/a", Visibility::kApplication), "u1", {1000, 2}, Id(1, 2)).is_new);
  LocalResource newer = Res("file:/a", Visibility::kPublic);
  newer.timestamp_ms = 6;
  EXPECT_TRUE(cache.Acquire(newer, "u1", {1000, 1}, Id(1)).is_new);
  EXPECT_EQ(cache.CheckInvariants(), "");
}

TEST(ResourceCache, FailureIsForgottenAndTriedAgain) {
  ResourceCache cache;
  const auto first = cache.Acquire(Res("file:/a", Visibility::kPublic), "u", {1000, 1}, Id(1));
  cache.Acquire(Res("file:/a", Visibility::kPublic), "u", {1000, 1}, Id(2));
  cache.Acquire(Res("file:/a", Visibility::kPublic), "u", {1000, 1}, Id(2));  // two links of one container
  EXPECT_EQ(cache.Failed(first.number), (std::vector<model::ContainerId>{Id(1), Id(2)}));
  EXPECT_TRUE(cache.Failed(first.number).empty());
  EXPECT_FALSE(cache.Arrived(first.number, "/p", 1, {}));
  EXPECT_TRUE(cache.Acquire(Res("file:/a", Visibility::kPublic), "u", {1000, 1}, Id(3)).is_new);
  EXPECT_EQ(cache.CheckInvariants(), "");
}

TEST(ResourceCache, OldestUnusedGoFirst) {
  ResourceCache cache;
  const auto add = [&](const std::string& url, int64_t bytes, int64_t used_at, bool release) {
    const auto request = cache.Acquire(Res(url, Visibility::kPublic), "u", {1000, 1}, Id(1));
    EXPECT_TRUE(cache.Arrived(request.number, "/cache" + url, bytes, {used_at}));
    if (release) cache.Release(request.number, Id(1), {used_at});
    return request.number;
  };
  add("/late", 10, 30, true);
  add("/early", 10, 10, true);
  add("/used", 10, 1, false);
  EXPECT_TRUE(cache.Shrink(30).empty());
  const auto gone = cache.Shrink(25);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].path, "/cache/early");
  EXPECT_EQ(cache.Shrink(0).size(), 1u) << "what is in use stays";
  EXPECT_EQ(cache.bytes(), 10);
}

TEST(ResourceCache, RestoredEntriesAreReadyAndNumbersGoOn) {
  ResourceCache cache;
  model::nm::ResourceRecord record;
  record.number = 7;
  record.resource = Res("file:/a", Visibility::kPublic);
  record.resource.link.clear();
  record.path = "/cache/7/a";
  cache.Restore(record);
  const auto again = cache.Acquire(Res("file:/a", Visibility::kPublic), "u", {1000, 1}, Id(1));
  EXPECT_TRUE(again.ready);
  EXPECT_EQ(again.number, 7u);
  EXPECT_EQ(cache.Acquire(Res("file:/b", Visibility::kPublic), "u", {1000, 1}, Id(1)).number, 8u);
}

TEST(ResourceCache, AnApplicationTakesItsResourcesAlong) {
  ResourceCache cache;
  cache.Acquire(Res("file:/a", Visibility::kApplication), "u", {1000, 1}, Id(1));
  cache.Acquire(Res("file:/a", Visibility::kApplication), "u", {1000, 2}, Id(1, 2));
  cache.Acquire(Res("file:/a", Visibility::kPublic), "u", {1000, 1}, Id(1));
  EXPECT_EQ(cache.DropApp({1000, 1}).size(), 1u);
  EXPECT_EQ(cache.entries().size(), 2u);
  EXPECT_EQ(cache.CheckInvariants(), "");
}

}  // namespace
}  // namespace fairlead::nm
