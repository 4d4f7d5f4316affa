#include "process/rm/web_capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/queues.h"

namespace fairlead::process::rm {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The root and one leaf of it.
scheduler::View Queues() {
  scheduler::View view;
  for (const char* name : {"root", "root.a"}) {
    scheduler::QueueView& queue = view.queues.emplace_back();
    queue.name = name;
    queue.leaf = queue.name != "root";
    queue.parent = queue.leaf ? "root" : "";
    queue.capacity.emplace().partitions[""];
  }
  view.queues.front().capacity->children = {"a"};
  return view;
}

endpoints::rest::Document DocumentOf(const scheduler::View& view, const model::QueueTree& file = {},
                                     base::WallTime last_run = {}) {
  return CapacityDocument({view, {}, model::QueueSet(file), {}, {}, last_run});
}

TEST(WebCapacity, HealthIsWhatTheSchedulerDidLately) {
  scheduler::View view = Queues();
  scheduler::CapacityHealth& health = view.queues.front().capacity->health.emplace();
  health.allocation = {"n0:1", "container_1_0001_01_000002", "root.a"};
  health.allocated = {1, model::Resources::Of(512, 1)};
  const std::string json = DocumentOf(view, {}, {1700}).ToJson("");
  EXPECT_THAT(json, HasSubstr(R"("health":{"lastrun":1700,"operationsInfo":[)"
                              R"({"operation":"last-allocation","nodeId":"n0:1",)"
                              R"("containerId":"container_1_0001_01_000002","queue":"root.a"},)"
                              R"({"operation":"last-release","nodeId":"N/A","containerId":"N/A","queue":"N/A"},)"
                              R"({"operation":"last-preemption","nodeId":"N/A","containerId":"N/A","queue":"N/A"},)"
                              R"({"operation":"last-reservation","nodeId":"N/A","containerId":"N/A","queue":"N/A"}],)"
                              R"("lastRunDetails":[{"operation":"releases","count":0,)"));
  EXPECT_THAT(json, HasSubstr(R"({"operation":"allocations","count":1,"resources":{"memory":512,"vCores":1,)"));
}

TEST(WebCapacity, TheKindOfAQueueIsAnAttributeInXml) {
  const std::string xml = DocumentOf(Queues()).ToXml("schedulerInfo");
  EXPECT_THAT(xml, HasSubstr("<schedulerInfo xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                             "xsi:type=\"capacityScheduler\"><capacity>"));
  EXPECT_THAT(xml, HasSubstr("<queue xsi:type=\"capacitySchedulerLeafQueueInfo\"><queuePath>root.a</queuePath>"));
  EXPECT_THAT(xml, Not(HasSubstr("<type>")));
  EXPECT_THAT(DocumentOf(Queues()).ToJson(""), HasSubstr(R"({"type":"capacityScheduler","capacity":)"));
}

TEST(WebCapacity, PrioritiesAreShownAsTheFileHasThem) {
  model::QueueTree file;
  file.queues.emplace_back().name = "root";
  file.queues.emplace_back().name = "root.a";
  file.capacity.emplace();
  file.capacity->queues["root.a"].own.acls["acl_application_max_priority"] = "[user=ann max_priority=3]";
  const std::string json = DocumentOf(Queues(), file).ToJson("");
  EXPECT_THAT(
      json, HasSubstr(R"({"accessType":"APPLICATION_MAX_PRIORITY","accessControlList":"[user=ann max_priority=3]"})"));
  EXPECT_THAT(json, HasSubstr(R"({"accessType":"APPLICATION_MAX_PRIORITY","accessControlList":"*"})")) << "of the root";
}

}  // namespace
}  // namespace fairlead::process::rm
