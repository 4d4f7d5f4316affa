#include "endpoints/yarn/utilization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fairlead::endpoints::yarn {
namespace {

using model::MeasuredUse;
namespace w = wire::yarn;

TEST(Utilization, ComesBackAsItWent) {
  const MeasuredUse use{2500, 3 << 20, 5 << 20, 1'000'000, 875, 4096};
  EXPECT_EQ(FromWire(ToWire(use)), use);
}

TEST(Utilization, WhatIsNotKnownIsLeftOut) {
  MeasuredUse use{1000, 1 << 20, 1 << 20};
  EXPECT_TRUE(ToWire(use).custom_resources.empty());
  EXPECT_EQ(FromWire(ToWire(use)), use);
  EXPECT_FALSE(FromWire(w::ResourceUtilizationProto{}).told());
}

TEST(Utilization, AMachineThatWasNotMeasuredYetIsUnknown) {
  EXPECT_FALSE(OfMachine(FromWire(ToWire(MeasuredUse{}))).told());
  const MeasuredUse idle{0, 1 << 20, 1 << 20};
  EXPECT_EQ(OfMachine(idle), idle);
}

TEST(Utilization, NodeManagersOfHadoopTellMemoryAndCpu) {
  w::ResourceUtilizationProto proto;
  proto.pmem = 100;
  proto.vmem = 200;
  proto.cpu = 1.5F;
  const MeasuredUse use = FromWire(proto);
  EXPECT_EQ(use.milli_cores, 1500);
  EXPECT_EQ(use.physical_bytes, 100LL << 20);
  EXPECT_EQ(use.disk_busy, MeasuredUse::kUnknown);
}

TEST(Utilization, AbsurdAmountsAreUnknown) {
  for (const float absurd :
       {-1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30F}) {
    w::ResourceUtilizationProto proto;
    proto.pmem = -1;
    proto.cpu = absurd;
    proto.custom_resources = {{"fairlead.disk-busy", absurd}, {"fairlead.network-bytes-per-second", absurd}};
    EXPECT_FALSE(FromWire(proto).told()) << absurd;
  }
  w::ResourceUtilizationProto busier_than_always;
  busier_than_always.custom_resources = {{"fairlead.disk-busy", 1.5F}};
  EXPECT_FALSE(FromWire(busier_than_always).told());
}

}  // namespace
}  // namespace fairlead::endpoints::yarn
