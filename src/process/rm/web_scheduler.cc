#include <algorithm>
#include <utility>

#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /ws/v1/cluster/scheduler (dao/FairSchedulerInfo, FairSchedulerQueueInfo, FairSchedulerLeafQueueInfo).

namespace fairlead::process::rm {

using endpoints::rest::Document;

std::map<std::string, int64_t> PendingContainers(const scheduler::Scheduler& scheduler, const Core& core,
                                                 base::Instant now) {
  std::map<std::string, int64_t> pending;
  core.ForEachApp([&](const App& app) {
    if (!app.in_scheduler) return;
    int64_t count = 0;
    for (const model::scheduler::Pending& one : scheduler.Why(app.index, now)) {
      if (one.ask.name == "*") count += one.ask.count;
    }
    std::string queue = FullQueueName(app.submission.queue);
    while (count > 0) {
      pending[queue] += count;
      const size_t dot = queue.rfind('.');
      if (dot == std::string::npos) break;
      queue.resize(dot);
    }
  });
  return pending;
}

Document Web::QueueDocument(const scheduler::View& view, const scheduler::QueueView& queue,
                            const std::map<std::string, int64_t>& pending) const {
  const Core& core = manager_.core();
  const auto capped = [&](model::Resources amount) {
    for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) {
      amount[type] = std::min(amount[type], view.cluster[type]);
    }
    return amount;
  };
  int64_t allocated = 0;
  int64_t reserved = 0;
  model::Resources reserved_resources;
  core.ForEachApp([&](const App& app) {
    const std::string name = FullQueueName(app.submission.queue);
    if (name != queue.name && !name.starts_with(queue.name + ".")) return;
    allocated += static_cast<int64_t>(app.containers.size());
    reserved += static_cast<int64_t>(app.reservations.size());
    for (const auto& [id, resources] : app.reservations) reserved_resources += resources;
  });
  Document document = Document::Object();
  if (queue.leaf) document.Add("type", "fairSchedulerLeafQueueInfo");
  document.Add("maxApps", queue.max_running_apps <= 0 ? INT32_MAX : queue.max_running_apps)
      .Add("minResources", ResourceDocument(queue.min_share, &core.config()))
      .Add("maxResources", ResourceDocument(capped(queue.max_share)))
      .Add("usedResources", ResourceDocument(queue.used))
      .Add("amUsedResources", ResourceDocument(queue.master_used))
      .Add("amMaxResources", ResourceDocument({}))
      .Add("demandResources", ResourceDocument(queue.demand))
      .Add("steadyFairResources", ResourceDocument(queue.steady_share))
      .Add("fairResources", ResourceDocument(queue.fair_share))
      .Add("clusterResources", ResourceDocument(view.cluster))
      .Add("reservedResources", ResourceDocument(reserved_resources))
      .Add("maxContainerAllocation", ResourceDocument(core.config().maximum))
      .Add("pendingContainers", pending.contains(queue.name) ? pending.at(queue.name) : int64_t{0})
      .Add("allocatedContainers", allocated)
      .Add("reservedContainers", reserved)
      .Add("queueName", queue.name)
      .Add("schedulingPolicy", queue.policy)
      .Add("preemptable", queue.preemptable);
  if (queue.leaf) {
    document.Add("numPendingApps", queue.waiting_apps).Add("numActiveApps", queue.runnable_apps);
    return document;
  }
  Document::List children;
  for (const scheduler::QueueView& child : view.queues) {
    if (child.parent == queue.name) children.push_back(QueueDocument(view, child, pending));
  }
  if (!children.empty()) document.Add("childQueues", Document::Object().Add("queue", Document(std::move(children))));
  return document;
}

Document Web::SchedulerDocument() const {
  const scheduler::View view = manager_.scheduler().GetView();
  const std::map<std::string, int64_t> pending =
      PendingContainers(manager_.scheduler(), manager_.core(), manager_.now());
  std::string type(manager_.options().hadoop_scheduler);
  type.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(type.front())));
  Document info = Document::Object().Add("type", std::move(type));
  for (const scheduler::QueueView& queue : view.queues) {
    if (queue.name == "root") info.Add("rootQueue", QueueDocument(view, queue, pending));
  }
  return Document::Object().Add("schedulerInfo", std::move(info));
}

}  // namespace fairlead::process::rm
