#include "report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/words.h"

namespace fairlead::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

v1::AppFates App(const std::string& id, const std::string& queue, const std::string& user, v1::Fate before,
                 v1::Fate after) {
  return {id, "job", user, queue, before, after};
}

Comparison Of(std::vector<v1::AppFates> apps, std::optional<int64_t> ahead_ms = {}) {
  Comparison comparison{.ahead_ms = ahead_ms, .apps = std::move(apps)};
  comparison.queues = GroupsOf(comparison.apps, &v1::AppFates::queue, ahead_ms, false);
  comparison.users = GroupsOf(comparison.apps, &v1::AppFates::user, ahead_ms, true);
  return comparison;
}

const std::vector<v1::AppFates> kApps = {
    App("a1", "root.a", "ann", {.end_ms = 10'000}, {.end_ms = 60'000}),
    App("a2", "root.a", "ann", {.end_ms = 10'000}, {.end_ms = 10'999}),
    App("b1", "root.b", "bob", {.first_ms = 0, .last_ms = 9'000}, {.first_ms = 0, .last_ms = 4'000, .taken = 2})};

TEST(Comparison, SaysWhoIsServedLaterOrSooner) {
  EXPECT_THAT(Sentences(Of(kApps)),
              ElementsAre("1 application is served later, by 50 s at most.",
                          "a1 (job of ann, root.a) ends 50 s later, in 60 s.",
                          "1 application is served sooner, by 5 s at most.",
                          "b1 (job of bob, root.b) has what it waits for 5 s sooner, in 4 s.",
                          "Queue root.a is served later: 1 of 2 applications, by 50 s on the mean.",
                          "Queue root.b is served sooner: 1 application, by 5 s on the mean.",
                          "User ann is served later: 1 of 2 applications, by 50 s on the mean.",
                          "User bob is served sooner: 1 application, by 5 s on the mean.",
                          "Of b1 (job of bob, root.b) 2 containers more are taken back."));
}

TEST(Comparison, WhatLosesAsMuchAsItGainsIsServedNeitherLaterNorSooner) {
  const std::vector<std::string> told =
      Sentences(Of({App("a1", "root.a", "ann", {.end_ms = 10'000}, {.end_ms = 60'000}),
                    App("a2", "root.a", "bob", {.end_ms = 60'000}, {.end_ms = 10'000}),
                    App("b1", "root.b", "bob", {.end_ms = 10'000}, {.end_ms = 60'500}),
                    App("b2", "root.b", "bob", {.end_ms = 60'000}, {.end_ms = 10'000})}));
  EXPECT_THAT(told, testing::Contains("2 applications are served later, by 50 s at most."));
  EXPECT_THAT(told, Not(testing::Contains(HasSubstr("Queue "))));
  EXPECT_THAT(told, testing::Contains("User ann is served later: 1 application, by 50 s on the mean."));
}

TEST(Comparison, WhoIsNotNamedIsCounted) {
  Comparison comparison = Of({App("", "root.a", "ann", {.end_ms = 0}, {.end_ms = 2000})});
  EXPECT_THAT(Sentences(comparison), ElementsAre("1 application is served later, by 2 s at most.",
                                                 "Queue root.a is served later: 1 application, by 2 s on the mean."));
  EXPECT_THAT(comparison.users, IsEmpty());
  EXPECT_EQ(Tables(comparison, 9).size(), 1U) << "of queues";
}

TEST(Comparison, WhoIsServedNoMoreIsLaterByAllThatIsLeft) {
  const std::vector<v1::AppFates> apps = {App("a1", "root.a", "ann", {.end_ms = 60'000}, {})};
  EXPECT_THAT(Sentences(Of(apps, 7'200'000)),
              ElementsAre("Only without the change 1 application ends within 2 h: a1 (job of ann, root.a).",
                          "Queue root.a is served later: 1 application, by at least 1 h 59 min on the mean."));
  EXPECT_THAT(Sentences(Of(apps)), ElementsAre("Only without the change 1 application ends: a1 (job of ann, root.a)."));
}

TEST(Comparison, ThoseThatLoseMostComeFirst) {
  std::vector<v1::AppFates> apps;
  for (int i = 1; i <= 9; ++i)
    apps.push_back(App("", "root.q" + std::to_string(i), "ann", {.end_ms = 0}, {.end_ms = i * 5'000}));
  EXPECT_THAT(Sentences(Of(apps), {.named = 0, .groups = 2}),
              ElementsAre("9 applications are served later, by 45 s at most.",
                          "Queue root.q9 is served later: 1 application, by 45 s on the mean.",
                          "Queue root.q8 is served later: 1 application, by 40 s on the mean."));
  const std::vector<Table> tables = Tables(Of(apps), 4);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].rows.front().cells[0], "root.q9");
  EXPECT_EQ(tables[0].left_out, 5U);
}

TEST(Comparison, NamesLimitsUseAndWhatIsTakenBack) {
  Comparison comparison{.then = "after"};
  comparison.taken = {{"root.a", 1}, {"root.b", -4}};
  comparison.lost = 2;
  comparison.limits = {{"root.a", "QUEUE_MAXIMUM", 120'000}};
  comparison.limits_no_more = {{"root.b", "USER_LIMIT", 0}};
  comparison.used_before = 0.751;
  comparison.used_after = 0.9;
  EXPECT_THAT(Sentences(comparison),
              ElementsAre("From root.a 1 container more is taken back.", "2 containers more end before time.",
                          "In 2 min a limit begins to bind in root.a: what the queue, or one above it, may use.",
                          "A limit does not bind any more in root.b: what a user may run there, or use.",
                          "Of the memory 90 % are in use in the mean, instead of 75 %."));
  EXPECT_THAT(Sentences(Of({}, 60'000)), ElementsAre("Nothing is different within 60 s."));
}

TEST(Report, ThePageEscapesWhatStrangersWrite) {
  Report report{
      .title = "<t>", .about = {"<a>"}, .parts = {{"<p>", {"<s>"}}}, .tables = {{"<h>", {"<c>"}, {{{"<r>"}}}}}};
  report.tables[0].left_out = 3;
  report.figures = {Figure("<f>", "<svg></svg>")};
  const std::string page = Html(report);
  for (const char* text : {"t", "a", "p", "s", "h", "c", "r", "f"}) {
    EXPECT_THAT(page, HasSubstr("&lt;" + std::string(text) + "&gt;"));
  }
  EXPECT_THAT(page, Not(HasSubstr("<r>")));
  EXPECT_THAT(page, HasSubstr("and 3 more"));
  EXPECT_THAT(page, HasSubstr("<svg></svg>"));
}

TEST(Words, TimesAreRounded) {
  EXPECT_EQ(TimeText(base::Duration::Seconds(45)), "45 s");
  EXPECT_EQ(TimeText(base::Duration::Seconds(600)), "10 min");
  EXPECT_EQ(TimeText(base::Duration::Seconds(7200)), "2 h");
  EXPECT_EQ(TimeText(base::Duration::Seconds(7500)), "2 h 5 min");
  EXPECT_EQ(SpanText(4500), "4.5 s");
  EXPECT_EQ(FromTo({}, 70'000), "- -> 1 min 10 s");
  EXPECT_EQ(FromTo({}, {}), "-");
}

}  // namespace
}  // namespace fairlead::report
