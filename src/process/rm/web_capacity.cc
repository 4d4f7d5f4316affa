#include "process/rm/web_capacity.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "process/rm/web_resources.h"

// Fields in Hadoop's order: dao/CapacitySchedulerInfo, CapacitySchedulerQueueInfo, CapacitySchedulerLeafQueueInfo,
// QueueCapacitiesInfo, ResourcesInfo, UserInfo.

namespace fairlead::process::rm {
namespace {

using endpoints::rest::Document;
using scheduler::CapacityHealth;
using scheduler::CapacityPartition;
using scheduler::CapacityUser;
using scheduler::CapacityView;
using scheduler::QueueView;

/// The facts, with the scheduler's queues by name.
struct Sources : CapacityFacts {
  std::map<std::string_view, const QueueView*> views;
};

Document Percent(float share) { return Document::Float(share * 100); }
Document Capped(float share) { return Percent(std::min(std::max(share, 0.0F), 1.0F)); }
/// A maximum that says nothing is the whole.
Document Maximum(float share) { return Percent(share < 1e-8F || share > 1.0F ? 1.0F : share); }

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('.') + 1); }

Document VectorDocument(const CapacityPartition& partition) {
  Document::List entries;
  for (const auto& [type, amount] : partition.configured_types) {
    entries.push_back(Document::Object().Add("resourceName", type).Add("resourceValue", amount));
  }
  Document document = Document::Object().Add("configuredCapacityVector", partition.configured);
  if (!entries.empty()) document.Add("capacityVectorEntries", Document(std::move(entries)));
  return document;
}

Document CapacitiesDocument(const Sources& facts, const QueueView& queue) {
  const Bounds bounds{facts.minimum, facts.maximum};
  Document::List list;
  for (const auto& [name, partition] : queue.capacity->partitions) {
    list.push_back(Document::Object()
                       .Add("partitionName", name)
                       .Add("queueCapacityVectorInfo", VectorDocument(partition))
                       .Add("capacity", Percent(partition.share))
                       .Add("usedCapacity", Percent(partition.used_share))
                       .Add("maxCapacity", Maximum(partition.maximum))
                       .Add("absoluteCapacity", Capped(partition.absolute))
                       .Add("absoluteUsedCapacity", Capped(partition.absolute_used))
                       .Add("absoluteMaxCapacity", Capped(partition.absolute_maximum))
                       .Add("maxAMLimitPercentage", Percent(queue.leaf ? partition.masters_share : 0))
                       .Add("weight", Document::Float(partition.weight))
                       .Add("normalizedWeight", Document::Float(partition.normalized_weight))
                       .Add("configuredMinResource", ResourceDocument(partition.configured_min, bounds))
                       .Add("configuredMaxResource", ResourceDocument(partition.configured_max, bounds))
                       .Add("effectiveMinResource", ResourceDocument(partition.effective_min))
                       .Add("effectiveMaxResource", ResourceDocument(partition.effective_max)));
  }
  return Document::Object().Add("queueCapacitiesByPartition", Document(std::move(list)));
}

/// Hadoop has computed a limit of users once a leaf has had some.
Document UsageDocument(const std::map<std::string, CapacityPartition>& partitions, bool masters, bool users) {
  Document::List list;
  for (const auto& [name, partition] : partitions) {
    Document one = Document::Object()
                       .Add("partitionName", name)
                       .Add("used", ResourceDocument(partition.used))
                       .Add("reserved", ResourceDocument(partition.reserved))
                       .Add("pending", ResourceDocument(partition.pending));
    if (masters) {
      one.Add("amUsed", ResourceDocument(partition.masters_used))
          .Add("amLimit", ResourceDocument(partition.masters_limit))
          .Add("userAmLimit", ResourceDocument(users ? partition.user_masters_limit : model::Resources{}));
    }
    list.push_back(std::move(one));
  }
  return Document::Object().Add("resourceUsagesByPartition", Document(std::move(list)));
}

/// AccessControlList.getAclString.
std::string AclText(const std::optional<model::AccessList>& list, bool root) {
  if (!list) return root ? "*" : " ";
  if (list->everybody) return "*";
  const auto joined = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
  };
  return joined(list->users) + " " + joined(list->groups);
}

Document AclsDocument(const Sources& facts, const QueueView& queue) {
  const model::QueueSet::Queue* configured = facts.queues.Find(queue.name);
  const bool root = queue.parent.empty();
  const auto acl = [](const char* type, std::string list) {
    return Document::Object().Add("accessType", type).Add("accessControlList", std::move(list));
  };
  Document::List list;
  list.push_back(acl("ADMINISTER_QUEUE", AclText(configured ? configured->administer : std::nullopt, root)));
  list.push_back(acl("APPLICATION_MAX_PRIORITY", configured ? configured->priority_list : "*"));
  list.push_back(acl("SUBMIT_APP", AclText(configured ? configured->submit : std::nullopt, root)));
  return Document::Object().Add("queueAcl", Document(std::move(list)));
}

Document UserDocument(const std::string& name, const CapacityUser& user) {
  return Document::Object()
      .Add("username", name)
      .Add("resourcesUsed", ResourceDocument(user.used))
      .Add("numPendingApplications", user.pending_apps)
      .Add("numActiveApplications", user.active_apps)
      .Add("AMResourceUsed", ResourceDocument(user.masters_used))
      .Add("userResourceLimit", ResourceDocument(user.limit))
      .Add("resources", UsageDocument(user.partitions, true, false))
      .Add("userWeight", Document::Float(user.weight))
      .Add("isActive", user.active);
}

/// What describes any queue, at the end of a parent's fields and before a leaf's own.
void AddKind(const QueueView& queue, Document& document) {
  const CapacityView& capacity = *queue.capacity;
  document.Add("mode", capacity.mode)
      .Add("queueType", queue.leaf ? "leaf" : "parent")
      .Add("creationMethod", capacity.dynamic ? "dynamicFlexible" : "static")
      .Add("autoCreationEligibility", capacity.makes_queues ? "flexible" : "off");
  if (!capacity.default_label.empty()) document.Add("defaultNodeLabelExpression", capacity.default_label);
  document.Add("autoQueueTemplateProperties", Document::Object())
      .Add("autoQueueParentTemplateProperties", Document::Object())
      .Add("autoQueueLeafTemplateProperties", Document::Object());
}

void AddLeaf(const Sources& facts, const QueueView& queue, Document& document) {
  const CapacityView& capacity = *queue.capacity;
  const CapacityPartition& partition = capacity.partitions.at("");
  const auto sums = facts.sums.find(queue.name);
  document.Add("numActiveApplications", capacity.active_apps)
      .Add("numPendingApplications", capacity.pending_apps)
      .Add("numContainers", sums == facts.sums.end() ? 0 : sums->second.containers)
      .Add("maxApplications", capacity.max_apps)
      .Add("maxApplicationsPerUser", capacity.max_apps_per_user)
      .Add("userLimit", Document::Float(capacity.user_limit));
  Document::List users;
  for (const auto& [name, user] : capacity.users) users.push_back(UserDocument(name, user));
  Document list = Document::Object();
  if (!users.empty()) list.Add("user", Document(std::move(users)));
  document.Add("users", std::move(list))
      .Add("userLimitFactor", Document::Float(capacity.user_limit_factor))
      .Add("configuredMaxAMResourceLimit", Document::Float(capacity.masters_share))
      .Add("AMResourceLimit", ResourceDocument(partition.masters_limit))
      .Add("usedAMResource", ResourceDocument(partition.masters_used))
      .Add("userAMResourceLimit",
           ResourceDocument(capacity.users.empty() ? partition.masters_limit : partition.user_masters_limit))
      .Add("preemptionDisabled", capacity.preemption_disabled)
      .Add("intraQueuePreemptionDisabled", capacity.intra_queue_preemption_disabled)
      .Add("defaultPriority", capacity.default_priority)
      .Add("isAutoCreatedLeafQueue", false)
      .Add("maxApplicationLifetime", int64_t{-1})
      .Add("defaultApplicationLifetime", int64_t{-1});
}

Document QueueDocument(const Sources& facts, const QueueView& queue);

/// Leaves first, then parents, each in the scheduler's order (YARN-4785).
Document QueuesDocument(const Sources& facts, const QueueView& parent) {
  Document::List list;
  for (const bool leaves : {true, false}) {
    for (const std::string& child : parent.capacity->children) {
      const auto queue = facts.views.find(parent.name + "." + child);
      if (queue != facts.views.end() && queue->second->leaf == leaves) {
        list.push_back(QueueDocument(facts, *queue->second));
      }
    }
  }
  Document document = Document::Object();
  if (!list.empty()) document.Add("queue", Document(std::move(list)));
  return document;
}

Document QueueDocument(const Sources& facts, const QueueView& queue) {
  const CapacityView& capacity = *queue.capacity;
  const CapacityPartition& partition = capacity.partitions.at("");
  const auto own = facts.sums.find(queue.name);
  const QueueSums sums = own == facts.sums.end() ? QueueSums{} : own->second;
  Document document = Document::Object();
  if (queue.leaf) document.Type("capacitySchedulerLeafQueueInfo");
  document.Add("queuePath", queue.name)
      .Add("capacity", Percent(partition.share))
      .Add("usedCapacity", Percent(partition.used_share))
      .Add("maxCapacity", Maximum(partition.maximum))
      .Add("absoluteCapacity", Capped(partition.absolute))
      .Add("absoluteMaxCapacity", Capped(partition.absolute_maximum))
      .Add("absoluteUsedCapacity", Capped(partition.absolute_used))
      .Add("weight", Document::Float(partition.weight))
      .Add("normalizedWeight", Document::Float(partition.normalized_weight))
      .Add("numApplications", capacity.apps)
      .Add("maxParallelApps", capacity.max_parallel_apps)
      .Add("queueName", LastPart(queue.name))
      .Add("isAbsoluteResource", capacity.absolute)
      .Add("state", EnumName(capacity.state));
  if (!queue.leaf) document.Add("queues", QueuesDocument(facts, queue));
  document.Add("resourcesUsed", ResourceDocument(queue.used)).Add("hideReservationQueues", false);
  if (!capacity.labels.empty()) {
    Document::List labels;
    for (const std::string& label : capacity.labels) labels.emplace_back(label);
    document.Add("nodeLabels", Document(std::move(labels)));
  }
  document.Add("allocatedContainers", sums.containers)
      .Add("reservedContainers", sums.reservations)
      .Add("pendingContainers", sums.pending)
      .Add("capacities", CapacitiesDocument(facts, queue))
      .Add("resources", UsageDocument(capacity.partitions, queue.leaf, !capacity.users.empty()))
      .Add("minEffectiveCapacity", ResourceDocument(partition.effective_min))
      .Add("maxEffectiveCapacity", ResourceDocument(partition.effective_max))
      .Add("maximumAllocation", ResourceDocument(capacity.maximum_allocation))
      .Add("queueAcls", AclsDocument(facts, queue))
      .Add("queuePriority", capacity.priority)
      .Add("orderingPolicyInfo", queue.policy)
      .Add("autoCreateChildQueueEnabled", false)
      .Add("leafQueueTemplate", Document::Object());
  AddKind(queue, document);
  if (queue.leaf) AddLeaf(facts, queue, document);
  return document;
}

Document LastDocument(const char* operation, const CapacityHealth::Last& last) {
  const auto shown = [](const std::string& text) { return text.empty() ? "N/A" : text; };
  return Document::Object()
      .Add("operation", operation)
      .Add("nodeId", shown(last.node))
      .Add("containerId", shown(last.container))
      .Add("queue", shown(last.queue));
}

Document SumDocument(const char* operation, const CapacityHealth::Sum& sum) {
  return Document::Object()
      .Add("operation", operation)
      .Add("count", sum.count)
      .Add("resources", ResourceDocument(sum.resources));
}

/// dao/CapacitySchedulerHealthInfo.
Document HealthDocument(const CapacityHealth& health, base::WallTime last_run) {
  return Document::Object()
      .Add("lastrun", last_run.ms)
      .Add("operationsInfo", Document::List{LastDocument("last-allocation", health.allocation),
                                            LastDocument("last-release", health.release),
                                            LastDocument("last-preemption", health.preemption),
                                            LastDocument("last-reservation", health.reservation)})
      .Add("lastRunDetails",
           Document::List{SumDocument("releases", health.released), SumDocument("allocations", health.allocated),
                          SumDocument("reservations", health.reserved)});
}

}  // namespace

Document CapacityDocument(const CapacityFacts& given) {
  Sources facts{given, {}};
  for (const QueueView& queue : given.view.queues) facts.views.emplace(queue.name, &queue);
  Document document = Document::Object();
  document.Type("capacityScheduler");
  const QueueView& root = facts.view.queues.front();
  const CapacityView& capacity = *root.capacity;
  const CapacityPartition& partition = capacity.partitions.at("");
  document.Add("capacity", Percent(partition.share))
      .Add("usedCapacity", Percent(partition.used_share))
      .Add("maxCapacity", Maximum(partition.maximum))
      .Add("weight", Document::Float(partition.weight))
      .Add("normalizedWeight", Document::Float(partition.normalized_weight))
      .Add("queueCapacityVectorInfo", VectorDocument(partition))
      .Add("queueName", "root")
      .Add("queuePath", "root")
      .Add("maxParallelApps", capacity.max_parallel_apps)
      .Add("isAbsoluteResource", capacity.absolute)
      .Add("queues", QueuesDocument(facts, root))
      .Add("capacities", CapacitiesDocument(facts, root))
      .Add("health", HealthDocument(capacity.health.value_or(CapacityHealth{}), facts.last_run))
      .Add("maximumAllocation", ResourceDocument(capacity.maximum_allocation))
      .Add("queueAcls", AclsDocument(facts, root))
      .Add("queuePriority", capacity.priority)
      .Add("orderingPolicyInfo", root.policy);
  AddKind(root, document);
  return document;
}

}  // namespace fairlead::process::rm
