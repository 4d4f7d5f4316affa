#include "endpoints/spark/worker_use.h"

#include <gtest/gtest.h>

#include "endpoints/spark/master_messages.h"

namespace fairlead::endpoints::spark {
namespace {

TEST(WorkerUse, ComesBackAsItWent) {
  WorkerUse use{{}, 8, 16384};
  use.use.milli_cores = 2500;
  use.use.physical_bytes = int64_t{3} << 30;
  use.use.disk_busy = 875;
  EXPECT_EQ(UseInEndpointName(EndpointNameOf(use)), use);
}

TEST(WorkerUse, OtherNamesAndMachinesThatThereAreNotCarryNone) {
  for (const char* name : {"", "Master", kKeepingEndpoint, "FairleadUse", "FairleadUse ", "FairleadUse 8",
                           "FairleadUse 8 1024", "FairleadUse 0 1024 1", "FairleadUse -8 1024 1", "FairleadUse 8 0 1",
                           "FairleadUse 99999999999999999999 1024 1", "FairleadUse 8 1024x 1"}) {
    EXPECT_EQ(UseInEndpointName(name), std::nullopt) << name;
  }
}

TEST(WorkerUse, AbsurdAmountsAreUnknown) {
  const auto use = UseInEndpointName("FairleadUse 8 1024 -7 9223372036854775807 1 1 5000");
  ASSERT_TRUE(use);
  EXPECT_EQ(use->use.milli_cores, model::MeasuredUse::kUnknown);
  EXPECT_EQ(use->use.physical_bytes, model::MeasuredUse::kUnknown);
  EXPECT_EQ(use->use.disk_busy, model::MeasuredUse::kUnknown);
}

}  // namespace
}  // namespace fairlead::endpoints::spark
