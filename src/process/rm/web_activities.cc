#include "process/rm/web_activities.h"

#include <ctime>
#include <utility>

#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /ws/v1/cluster/scheduler/activities and /scheduler/app-activities/APPLICATION (dao/ActivitiesInfo, AppActivitiesInfo,
// AppAllocationInfo, AppRequestAllocationInfo). Hadoop records what its next passes do, and shows it to those who ask
// again. Here why an application waits is worked out when somebody asks, so the first answer has it.

namespace fairlead::process::rm {

using endpoints::rest::Document;
using model::scheduler::Pending;
using model::scheduler::PendingReason;

namespace {

/// java.util.Date.toString.
std::string DateText(base::WallTime time) {
  const std::time_t seconds = time.ms / 1000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Z %Y", &parts));
}

/// ActivityDiagnosticConstant's sentence; empty where Hadoop has none.
std::string_view HadoopsWords(PendingReason reason) {
  switch (reason) {
    case PendingReason::kLabel:
      return "Priority skipped because partition of node doesn't match request";
    case PendingReason::kQueueMaximum:
      return "Hit queue max-capacity limit";
    case PendingReason::kUserLimit:
      return "Hit user capacity maximum limit";
    case PendingReason::kNodesExcluded:
      return "Skip black listed node";
    case PendingReason::kWaitingForLocality:
      return "Locality skipped";
    case PendingReason::kStrictLocality:
      return "Priority skipped because of relax locality is not allowed";
    case PendingReason::kClusterFull:
    case PendingReason::kLargerThanAnyNode:
      return "Node does not have sufficient resource for request";
    case PendingReason::kReserved:
      return "Couldn't get container for allocation";
    case PendingReason::kFairShare:
      return "To respect FIFO of applications, skipped following applications in the queue";
    default:
      return "";
  }
}

std::string WordsOf(const Pending& pending) {
  std::string words(HadoopsWords(pending.reason));
  if (!words.empty() && !pending.detail.empty()) words += "; ";
  words += pending.detail;
  return pending.remedy.empty() ? words : words + "; " + pending.remedy;
}

Document RequestDocument(const Pending& pending) {
  return Document::Object()
      .Add("requestPriority", pending.ask.priority)
      .Add("allocationRequestId", pending.ask.allocation_request_id)
      .Add("allocationState", "SKIPPED")
      .Add("diagnostic", WordsOf(pending));
}

Document AllocationDocument(const App& app, const std::vector<Pending>& why, base::WallTime now) {
  Document::List requests;
  for (const Pending& pending : why) requests.push_back(RequestDocument(pending));
  Document allocation = Document::Object()
                            .Add("queueName", app.submission.queue)
                            .Add("appPriority", std::to_string(app.submission.priority))
                            .Add("timestamp", now.ms)
                            .Add("dateTime", DateText(now))
                            .Add("allocationState", "SKIPPED");
  if (why.empty()) allocation.Add("diagnostic", "Application does not need more resource");
  return std::move(allocation.Add("requestAllocation", Document(std::move(requests))));
}

constexpr char kNotCapacity[] = "Not Capacity Scheduler";

}  // namespace

http::Response SchedulerActivities(const http::Request& request, const ResourceManager& manager) {
  Document document = Document::Object();
  if (const auto node = request.query.find("nodeId"); node != request.query.end()) document.Add("nodeId", node->second);
  if (manager.options().hadoop_scheduler != "CapacityScheduler") {
    return http::Rendered(request, document.Add("diagnostic", kNotCapacity), "activities");
  }
  document.Add("diagnostic", "passes are not recorded; scheduler/app-activities/APPLICATION says what one waits for")
      .Add("allocations", Document(Document::List()));
  return http::Rendered(request, document, "activities");
}

http::Response AppActivities(const http::Request& request, const std::string& text, const ResourceManager& manager) {
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(text);
  const App* app = id.ok() ? manager.core().FindApp(*id) : nullptr;
  const base::WallTime now = manager.now_wall();
  Document document = Document::Object().Add("applicationId", text);
  const auto say = [&](const char* why) {
    document.Add("diagnostic", why).Add("timestamp", now.ms).Add("dateTime", DateText(now));
    return http::Rendered(request, document, "appActivities");
  };
  if (manager.options().hadoop_scheduler != "CapacityScheduler") return say(kNotCapacity);
  const bool shown =
      app != nullptr && !Core::IsCompleted(*app) && manager.ViewerHere(http::CallerOf(request)).May(*app, false);
  if (!shown) return say("fail to get application activities after finished");
  Document::List allocations;
  allocations.push_back(AllocationDocument(*app, manager.scheduler().Why(app->index, manager.now()), now));
  return http::Rendered(request, document.Add("allocations", Document(std::move(allocations))), "appActivities");
}

}  // namespace fairlead::process::rm
