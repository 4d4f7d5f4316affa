#include "nm/apps.h"

#include <gtest/gtest.h>

namespace fairlead::nm {
namespace {

using model::nm::AppState;

model::nm::ContainerSpec Spec(int64_t n) {
  model::nm::ContainerSpec spec;
  spec.id = {{{1000, 1}, 1}, n};
  spec.user = "ann";
  return spec;
}
const model::ApplicationId kApp{1000, 1};

TEST(Apps, TakesItsStepsInOrderAndCleansUnderNoLiveContainer) {
  Apps apps;
  Rows rows;
  EffectSink out;
  EXPECT_FALSE(apps.BeginFinish(kApp, rows, out)) << "not known";
  apps.Join(Spec(1), rows, out);
  apps.Join(Spec(2), rows, out);
  EXPECT_EQ(apps.BeginCleaning(kApp, out), nullptr) << "still running";
  EXPECT_TRUE(apps.BeginFinish(kApp, rows, out));
  EXPECT_FALSE(apps.BeginFinish(kApp, rows, out));
  apps.Ended(Spec(1).id);
  EXPECT_EQ(apps.BeginCleaning(kApp, out), nullptr) << "one lives";
  apps.Ended(Spec(2).id);
  EXPECT_TRUE(apps.Drop(kApp, rows).empty());
  EXPECT_NE(apps.BeginCleaning(kApp, out), nullptr);
  EXPECT_EQ(apps.BeginCleaning(kApp, out), nullptr);
  out.clear();
  apps.Cleaned(kApp, out);
  apps.Cleaned(kApp, out);
  ASSERT_EQ(out.size(), 2u) << "the state and the logs, once";
  EXPECT_EQ(std::get<model::nm::HandleLogs>(out.back()).containers.size(), 2u);
  EXPECT_EQ(apps.Drop(kApp, rows).size(), 2u);
  EXPECT_TRUE(apps.all().empty());
}

TEST(Apps, StoresTheLastDataOfEachService) {
  Apps apps;
  Rows rows;
  EffectSink out;
  model::nm::ContainerSpec spec = Spec(1);
  apps.Join(spec, rows, out);
  for (const char* data : {"a", "a", "b"}) {
    spec.service_data = {{"shuffle", data}};
    apps.GiveServiceData(spec, rows, out);
  }
  ASSERT_EQ(apps.Find(kApp)->record.services.size(), 1u);
  EXPECT_EQ(apps.Find(kApp)->record.services[0].data, "b");
  out.clear();
  rows.Commit(0, out);
  EXPECT_EQ(std::get<model::nm::Persist>(out.front()).rows.size(), 3u) << "Join, a, b: what stays is not written again";
}

TEST(Apps, AStartThatWasNotStoredLeavesNoContainer) {
  Apps apps;
  Rows rows;
  EffectSink out;
  apps.Join(Spec(1), rows, out);
  apps.Undo(Spec(1).id, rows);
  EXPECT_TRUE(apps.Find(kApp)->live.empty() && apps.Find(kApp)->all.empty());
  model::nm::ContainerRecord stored;
  stored.spec = Spec(2);
  stored.done = true;
  EXPECT_TRUE(apps.Rejoin(stored));
  EXPECT_TRUE(apps.Find(kApp)->live.empty());
  EXPECT_EQ(apps.Find(kApp)->all.size(), 1u);
  stored.spec.id.attempt.app.number = 9;
  EXPECT_FALSE(apps.Rejoin(stored));
}

}  // namespace
}  // namespace fairlead::nm
