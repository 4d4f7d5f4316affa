#include "nm/container.h"

#include <gtest/gtest.h>

namespace fairlead::nm {
namespace {

using namespace model::nm;  // NOLINT: the tests speak the core's events

TEST(News, IsSentUntilAnAnswerComesAndThenNeverAgain) {
  News news;
  EXPECT_FALSE(news.Send());
  news.Arise();
  EXPECT_FALSE(news.Answered()) << "it was in no call";
  EXPECT_TRUE(news.Send());
  EXPECT_TRUE(news.Send()) << "the first call failed";
  EXPECT_FALSE(news.Send(false));
  EXPECT_FALSE(news.Answered()) << "it was not in the last call";
  EXPECT_TRUE(news.Send());
  news.Arise();  // once more, while the call is under way
  EXPECT_FALSE(news.Answered());
  EXPECT_TRUE(news.Send());
  EXPECT_TRUE(news.Answered());
  EXPECT_TRUE(news.heard());
  EXPECT_FALSE(news.Send());
}

TEST(Container, CountsItsRelaunches) {
  Container one;
  one.record.spec.retry = {RetryPolicy::kSpecificErrors, {5}, 1, 0, -1};
  EXPECT_FALSE(one.TakeRelaunch(4, {}));
  EXPECT_FALSE(one.TakeRelaunch(0, {}));
  EXPECT_TRUE(one.TakeRelaunch(5, {}));
  EXPECT_FALSE(one.TakeRelaunch(5, {}));
  one.record.spec.retry = {RetryPolicy::kAllErrors, {}, 1, 0, 100};
  EXPECT_FALSE(one.TakeRelaunch(143, {})) << "by a signal";
  EXPECT_TRUE(one.TakeRelaunch(4, {1000}));
  EXPECT_FALSE(one.TakeRelaunch(4, {1100})) << "within the time for which one counts";
  EXPECT_TRUE(one.TakeRelaunch(4, {1101}));
}

TEST(Container, IsOverItsLimit) {
  Config config;
  Container one;
  one.record.spec.resources = model::Resources::Of(100, 1);
  one.usage.use.physical_bytes = int64_t{100} << 20;
  one.usage.use.virtual_bytes = int64_t{210} << 20;
  EXPECT_FALSE(one.OverLimit(config).has_value());
  ++one.usage.use.physical_bytes;
  EXPECT_EQ(one.OverLimit(config), model::kExitExceededPhysicalMemory);
  one.usage.enforced = true;
  EXPECT_FALSE(one.OverLimit(config).has_value()) << "the kernel holds it";
  ++one.usage.use.virtual_bytes;
  EXPECT_EQ(one.OverLimit(config), model::kExitExceededVirtualMemory);
  config.check_virtual = false;
  EXPECT_FALSE(one.OverLimit(config).has_value());
}

TEST(Container, KeepsTheEndOfItsDiagnostics) {
  Container one;
  one.Say("first", {0}, 1000);
  EXPECT_EQ(one.record.diagnostics, "[1970-01-01 00:00:00.000]first");
  one.Say("second", {-1}, 10);
  EXPECT_EQ(one.record.diagnostics, "999]second");
}

TEST(Container, SaysHowItsProcessEndedInPieces) {
  Container one;
  one.SayExit({.container = {}, .exit_code = 137, .diagnostics = "head\nContainer exited with 137"}, {0}, 1000);
  const std::string at = "[1970-01-01 00:00:00.000]";
  EXPECT_EQ(one.record.diagnostics, at + "Container killed on request. Exit code is 137\n" + at + "head\n" + at +
                                        "Container exited with 137\n");
  EXPECT_EQ(SignalOf(139), "signal 11 (SIGSEGV)");
  EXPECT_EQ(SignalOf(1), "");
}

}  // namespace
}  // namespace fairlead::nm
