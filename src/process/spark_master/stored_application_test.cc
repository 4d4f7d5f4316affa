#include "process/spark_master/stored_application.h"

#include <gtest/gtest.h>

namespace fairlead::process::spark_master {
namespace {

TEST(StoredApplication, AnExecutorsIdIsANumber) {
  EXPECT_EQ(NumberOfExecutor("0"), 0);
  EXPECT_EQ(NumberOfExecutor("2147483647"), INT32_MAX);
  for (const char* id : {"", "x", "-1", "1x", " 1", "+1", "2147483648", "99999999999999999999"}) {
    EXPECT_EQ(NumberOfExecutor(id), std::nullopt) << id;
  }
}

TEST(StoredApplication, NumbersThatNobodyGaveAreRefused) {
  StoredApplication stored;
  stored.executors.resize(1);
  stored.executors[0].id = "7";
  stored.last_executor = 7;
  EXPECT_TRUE(CheckStored(stored).ok());
  stored.last_executor = INT32_MAX;
  EXPECT_EQ(CheckStored(stored).error().message, "its last executor has the number 2147483647");
  stored.last_executor = 7;
  stored.executors[0].id = "99999999999999999999";
  EXPECT_EQ(CheckStored(stored).error().message, "'99999999999999999999' is no executor's number");
}

}  // namespace
}  // namespace fairlead::process::spark_master
