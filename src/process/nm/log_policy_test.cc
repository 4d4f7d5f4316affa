#include "process/nm/log_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "wire/yarn/records.h"

namespace fairlead::process::nm {
namespace {

const std::string kPackage = "org.apache.hadoop.yarn.server.nodemanager.containermanager.logaggregation.";

model::ContainerId Id(int64_t number, int32_t app = 7, int32_t attempt = 1) {
  return {{{1700000000000, app}, attempt}, number};
}

/// Which of these ends a policy takes: master 0, worker 0, 1, 137, 143, -105, -109.
std::string TakenBy(const std::string& policy) {
  const auto read = ReadLogPolicy(kPackage + policy + "LogAggregationPolicy", "");
  EXPECT_TRUE(read.ok()) << read.error().message;
  std::string out = read->Takes(Id(1), true, 0) ? "m" : "-";
  for (const int32_t exit : {0, 1, 137, 143, -105, -109}) out += read->Takes(Id(2), false, exit) ? "+" : "-";
  return out;
}

TEST(LogPolicy, WhatHadoopsPoliciesTake) {
  EXPECT_EQ(TakenBy("AllContainer"), "m++++++");
  EXPECT_EQ(TakenBy("AMOnly"), "m------");
  EXPECT_EQ(TakenBy("FailedOrKilledContainer"), "--+++++");
  EXPECT_EQ(TakenBy("FailedContainer"), "--+--++");
  EXPECT_EQ(TakenBy("AMOrFailedContainer"), "m-+--++");
  EXPECT_EQ(TakenBy("NoneContainer"), "-------");
  EXPECT_EQ(TakenBy("SampleContainer"), "m++++++");
  EXPECT_EQ(TakenBy("LimitSizeContainer"), "m+++++-");
  EXPECT_THAT(ReadLogPolicy("com.example.Mine", "").error().message,
              testing::HasSubstr("com.example.Mine is no log aggregation policy that is known here; write one of"));
}

TEST(LogPolicy, ASampleOfManyWorkersThatEndedWell) {
  const std::string sample = kPackage + "SampleContainerLogAggregationPolicy";
  const auto read = [&](const char* parameters) { return *ReadLogPolicy(sample, parameters); };
  const LogPolicy usual = read("");
  EXPECT_TRUE(usual.Takes(Id(21), false, 0)) << "the first twenty workers";
  // ContainerId.hashCode() of Hadoop 3.4.3, as float a multiple of 5 or not.
  const std::vector<std::pair<model::ContainerId, int32_t>> hashes = {
      {Id(50), -1300826987},    {Id(100, 7, 2), -1300825436}, {Id(1099511627877, 123), -1260487634},
      {Id(77, 4), -1301869163}, {Id(35, 12), -1299089097},
  };
  const LogPolicy none_before = read("MIN:0");
  for (const auto& [id, hash] : hashes) {
    const bool is_chosen = static_cast<int64_t>(static_cast<float>(hash)) % 5 == 0;
    EXPECT_EQ(none_before.Takes(id, false, 0), is_chosen) << hash;
    EXPECT_TRUE(none_before.Takes(id, false, 1));
  }
  EXPECT_TRUE(read(" SR:1.0 , MIN:0").Takes(Id(50), false, 0));
  EXPECT_FALSE(read("SR:0,MIN:0").Takes(Id(50), false, 0));
  EXPECT_EQ(read("SR:2,MIN:-1,x").sample_rate, usual.sample_rate) << "what is out of range leaves the default";
  EXPECT_EQ(read("SR:2,MIN:-1,x").sample_min, 20);
}

TEST(LogContext, WhatIsNotSaidIsNoCondition) {
  wire::yarn::LogAggregationContextProto proto;
  EXPECT_FALSE(ReadLogContext(proto.Encode()).rolls());
  proto.rolled_logs_include_pattern = "log\\..*";
  proto.exclude_pattern = "x";
  proto.log_aggregation_policy_parameters = "SR:1";
  const LogContext context = ReadLogContext(proto.Encode());
  EXPECT_TRUE(context.rolls());
  EXPECT_EQ(context.rolled.exclude, "") << "the message's default would exclude every file";
  EXPECT_EQ(context.at_end.exclude, "x");
  EXPECT_EQ(context.policy_class, "");
  EXPECT_TRUE(context.has_parameters);
  EXPECT_FALSE(ReadLogContext("\xff\xff").rolls());
}

}  // namespace
}  // namespace fairlead::process::nm
