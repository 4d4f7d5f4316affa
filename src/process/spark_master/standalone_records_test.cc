#include "process/spark_master/standalone_records.h"

#include <gtest/gtest.h>

namespace fairlead::process::spark_master {
namespace {

StandaloneSettings Settings() {
  StandaloneSettings settings;
  settings.retained_applications = settings.retained_drivers = 1;
  return settings;
}

TEST(StandaloneRecords, WhatHasGoneIsShownUpToALimitAndThenDropped) {
  StandaloneRecords records(Settings());
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(records.AddApplication("job", {1000}).second.id);
  records.ApplicationGone(0, {2000});
  EXPECT_EQ(records.ShownApplication(ids[0]), 0U);
  records.ApplicationGone(1, {3000});
  EXPECT_FALSE(records.ShownApplication(ids[0]).has_value()) << "the longest gone";
  EXPECT_EQ(records.Application(ids[0]), 0U) << "until it is dropped";
  EXPECT_EQ(records.ShownApplication(ids[1]), 1U);

  scheduler::standalone::Gone gone;
  records.CollectUnshown(gone);
  EXPECT_EQ(gone.apps, std::set<uint32_t>{0});
  records.Drop(gone);
  EXPECT_FALSE(records.Application(ids[0]).has_value());
  records.ClearCompleted();
  EXPECT_FALSE(records.ShownApplication(ids[1]).has_value());
  EXPECT_EQ(records.ShownApplication(ids[2]), 2U) << "it has not ended";
}

TEST(StandaloneRecords, ADriverThatHasGoneKeepsNothingOfHowItWasStarted) {
  StandaloneRecords records(Settings());
  auto submission = std::make_shared<Submission>();
  submission->description.command.arguments = {"url", "jar", "Main", "--password", "secret"};
  submission->description.command.environment["SECRET"] = "1";
  submission->from = "10.0.0.1";
  const std::string id = records.AddDriver(submission, {1000}).id;
  records.DriverGone(0, std::string(10'000, 'x'));
  const DriverRecord& gone = records.drivers()[0];
  EXPECT_EQ(gone.submission->description.command.arguments, (std::vector<std::string>{"url", "jar", "Main"}));
  EXPECT_TRUE(gone.submission->description.command.environment.empty());
  EXPECT_EQ(gone.submission->from, "10.0.0.1");
  EXPECT_EQ(gone.exception.size(), 4096U);
  EXPECT_EQ(records.ShownDriver(id), 0U);
  records.ClearCompleted();
  EXPECT_FALSE(records.ShownDriver(id).has_value());
}

TEST(StandaloneRecords, AnIdOfAnEarlierLifeIsNotGivenTwice) {
  StandaloneRecords records(Settings());
  const std::string id = StandaloneRecords(Settings()).AddApplication("job", {1000}).second.id;
  records.TakeApplication(id);
  EXPECT_NE(records.AddApplication("job", {1000}).second.id, id);
}

}  // namespace
}  // namespace fairlead::process::spark_master
