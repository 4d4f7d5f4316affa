#include <algorithm>
#include <optional>
#include <utility>

#include "process/rm/queue_names.h"
#include "process/rm/web.h"
#include "process/rm/web_capacity.h"
#include "process/rm/web_resources.h"

// /ws/v1/cluster/scheduler (dao/FairSchedulerInfo, FairSchedulerQueueInfo, FairSchedulerLeafQueueInfo).

namespace fairlead::process::rm {

using endpoints::rest::Document;

namespace {

/// Everything that the answer is made of; read off the thread that decides.
struct Facts {
  scheduler::View view;
  std::map<std::string, QueueSums> sums;
  model::Resources minimum, maximum;  // of a container
  std::shared_ptr<const model::QueueSet> queues;
  std::string type;
  base::WallTime last_run{};
};

Document QueueDocument(const Facts& facts, const QueuesBelow& below, const scheduler::QueueView& queue) {
  const scheduler::View& view = facts.view;
  const auto capped = [&](model::Resources amount) {
    for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) {
      amount[type] = std::min(amount[type], view.cluster[type]);
    }
    return amount;
  };
  const auto own = facts.sums.find(queue.name);
  const QueueSums sums = own == facts.sums.end() ? QueueSums{} : own->second;
  Document document = Document::Object();
  if (queue.leaf) document.Type("fairSchedulerLeafQueueInfo");
  document.Add("maxApps", queue.max_running_apps <= 0 ? INT32_MAX : queue.max_running_apps)
      .Add("minResources", ResourceDocument(queue.min_share, Bounds{facts.minimum, facts.maximum}))
      .Add("maxResources", ResourceDocument(capped(queue.max_share)))
      .Add("usedResources", ResourceDocument(queue.used))
      .Add("amUsedResources", ResourceDocument(queue.master_used))
      .Add("amMaxResources", ResourceDocument({}))
      .Add("demandResources", ResourceDocument(queue.demand))
      .Add("steadyFairResources", ResourceDocument(queue.steady_share))
      .Add("fairResources", ResourceDocument(queue.fair_share))
      .Add("clusterResources", ResourceDocument(view.cluster))
      .Add("reservedResources", ResourceDocument(sums.reserved))
      .Add("maxContainerAllocation", ResourceDocument(facts.queues->Within(facts.maximum, queue.name)))
      .Add("pendingContainers", sums.pending)
      .Add("allocatedContainers", sums.containers)
      .Add("reservedContainers", sums.reservations)
      .Add("queueName", queue.name)
      .Add("schedulingPolicy", queue.policy)
      .Add("preemptable", queue.preemptable);
  if (queue.leaf) {
    // FSAppAttempt.isPending: until its first container.
    const int64_t pending = std::max<int64_t>(queue.waiting_apps, sums.without_master);
    const int64_t active = std::max<int64_t>(0, queue.waiting_apps + queue.runnable_apps - pending);
    document.Add("numPendingApps", pending).Add("numActiveApps", active);
    return document;
  }
  Document::List children;
  if (const auto found = below.find(queue.name); found != below.end()) {
    for (const scheduler::QueueView* child : found->second) children.push_back(QueueDocument(facts, below, *child));
  }
  if (!children.empty()) document.Add("childQueues", Document::Object().Add("queue", Document(std::move(children))));
  return document;
}

}  // namespace

void Web::ClusterScheduler(const http::Request& request, const Reply& reply) {
  const fairlead::rm::Config& config = manager_.core().config();
  Facts facts{manager_.scheduler().GetQueues(),
              manager_.Fresh().queues(),
              config.minimum,
              config.maximum,
              manager_.queues(),
              std::string(manager_.options().hadoop_scheduler)};
  const std::optional<scheduler::CapacityView>& root = facts.view.queues.front().capacity;
  const bool capacity = root.has_value();
  if (capacity && root->health && root->health->last_run) {
    facts.last_run.ms = manager_.now_wall().ms - (manager_.now() - *root->health->last_run).millis();
  }
  RenderAside(request, "scheduler", reply, [facts = std::move(facts), capacity] {
    if (capacity) {
      return Document::Object().Add("schedulerInfo", CapacityDocument({facts.view, facts.sums, *facts.queues,
                                                                       facts.minimum, facts.maximum, facts.last_run}));
    }
    std::string type = facts.type;
    type.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(type.front())));
    Document info = Document::Object();
    info.Type(std::move(type))
        .Add("rootQueue", QueueDocument(facts, GroupByParent(facts.view), facts.view.queues.front()));
    return Document::Object().Add("schedulerInfo", std::move(info));
  });
}

}  // namespace fairlead::process::rm
