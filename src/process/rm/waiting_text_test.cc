#include "process/rm/waiting_text.h"

#include <gtest/gtest.h>

namespace fairlead::process::rm {
namespace {

using model::rm::AttemptState;
using model::scheduler::Pending;
using Reason = model::scheduler::PendingReason;

fairlead::rm::App AppThatWaits(AttemptState state) {
  fairlead::rm::App app;
  app.submission.id = {1000, 1};
  app.submission.user = "alice";
  app.submission.queue = "root.z";
  app.attempts[1].id = {app.submission.id, 1};
  app.attempts[1].state = state;
  return app;
}

std::string Text(Reason reason, std::string_view scheduler = "FairScheduler") {
  Pending pending;
  pending.ask.capability = model::Resources::Of(1024, 1);
  pending.reason = reason;
  pending.detail = "numbers";
  pending.remedy = "remedy";
  return WaitingText(AppThatWaits(AttemptState::kScheduled), {pending}, "", scheduler,
                     base::WallTime{1'795'878'348'000});
}

TEST(WaitingText, HadoopsSentenceIsFollowedByNumbersAndRemedy) {
  EXPECT_EQ(
      Text(Reason::kMaxRunningApps),
      "[Sat Nov 28 15:05:48 +0000 2026] Application is added to the scheduler and is not yet activated. The queue "
      "\"root.z\" has reached the maximum limit of runnable applications. Details : numbers; remedy");
  EXPECT_NE(Text(Reason::kUserLimit).find("The user \"alice\" has reached the maximum limit of runnable applications."),
            std::string::npos);
  EXPECT_NE(Text(Reason::kQueueMaximum)
                .find(" (Resource request: <memory:1024, vCores:1> exceeds current queue or its parents maximum"),
            std::string::npos);
  EXPECT_EQ(
      Text(Reason::kMasterShare, "CapacityScheduler"),
      "[Sat Nov 28 15:05:48 +0000 2026] Application is added to the scheduler and is not yet activated. Queue's AM "
      "resource limit exceeded. Details : numbers; remedy");
  EXPECT_NE(Text(Reason::kClusterFull, "CapacityScheduler").find("Application is Activated, waiting for resources"),
            std::string::npos);
}

TEST(WaitingText, OnlyWhileThereIsNoMaster) {
  EXPECT_EQ(
      WaitingText(AppThatWaits(AttemptState::kAllocated), {}, "", "FairScheduler", {}),
      "[Thu Jan 01 00:00:00 +0000 1970] Scheduler has assigned a container for AM, waiting for AM container to be "
      "launched");
  EXPECT_TRUE(WaitingText(AppThatWaits(AttemptState::kAllocated), {}, "its node is away", "FairScheduler", {})
                  .ends_with("waiting for AM container to be launched; its node is away"));
  EXPECT_EQ(WaitingText(AppThatWaits(AttemptState::kRunning), {}, "", "FairScheduler", {}), "");
  EXPECT_EQ(WaitingText({}, {}, "", "FairScheduler", {}), "");
}

TEST(WaitingTexts, AFloodOfQuestionsCostsABoundedNumberOfPassesASecond) {
  WaitingTexts texts;
  int made = 0;
  const auto ask = [&](uint32_t app, base::Instant now) {
    return texts.Of({app}, now, [&] { return "text " + std::to_string(++made); });
  };
  EXPECT_EQ(ask(0, {}), "text 1");
  EXPECT_EQ(ask(0, base::Instant{999'999'999}), "text 1");
  EXPECT_EQ(ask(0, base::Instant{1'000'000'000}), "text 2");
  for (uint32_t app = 1; app <= 200; ++app) ask(app, base::Instant{1'500'000'000});
  EXPECT_EQ(made, 1 + WaitingTexts::kAsked);
  EXPECT_EQ(ask(200, base::Instant{1'500'000'000}), "");  // not its turn yet
  EXPECT_EQ(ask(200, base::Instant{2'000'000'000}), "text " + std::to_string(2 + WaitingTexts::kAsked));
}

}  // namespace
}  // namespace fairlead::process::rm
