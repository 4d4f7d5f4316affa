#include "scheduler/yarn_capacity/priorities.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "model/access_list.h"
#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

using Groups = std::vector<model::CapacityPriorityGroup>;

/// AppPriorityACLsManager.checkAccess.
bool MayHave(const Groups& groups, const PriorityUser& user, int32_t priority) {
  return groups.empty() || std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
           return priority <= group.most && model::Lists(group.who, user.name, user.groups);
         });
}

/// AppPriorityACLsManager.getDefaultPriority: the last group that lists the user decides. Hadoop fails over a group
/// that says no default; here it leaves the queue's.
std::optional<int32_t> DefaultOf(const Groups& groups, const PriorityUser& user) {
  std::optional<int32_t> priority;
  for (const model::CapacityPriorityGroup& group : groups) {
    if (model::Lists(group.who, user.name, user.groups)) priority = group.otherwise;
  }
  return priority;
}

/// What follows the prefix in the last tag that has it, in the order of a HashSet.
std::string WorkflowOf(const std::string& prefix, const std::vector<std::string>& tags) {
  std::vector<std::string_view> set;
  std::vector<int32_t> hashes;
  for (const std::string& tag : tags) {
    if (std::find(set.begin(), set.end(), tag) != set.end()) continue;
    set.emplace_back(tag);
    hashes.push_back(hadoop::java::HashOfString(tag));
  }
  std::string_view workflow;
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(set.size()))) {
    const std::string_view tag = base::Trimmed(set[i]);
    if (tag.starts_with(prefix)) workflow = tag.substr(prefix.size());
  }
  return std::string(workflow);
}

}  // namespace

Priority PriorityFor(const Books& books, std::optional<int32_t> asked, const std::string& queue,
                     const PriorityUser& user) {
  static const Groups kEverybodys;
  const QueueId id = books.queues.Find(queue);
  const QueueSettings* leaf = id.valid() && books.queues[id].leaf ? &books.queues[id].settings : nullptr;
  const Groups& groups = leaf != nullptr && books.config.access_lists ? leaf->priority_groups : kEverybodys;
  std::optional<int32_t> wanted = asked ? asked : DefaultOf(groups, user);
  if (!wanted) wanted = leaf != nullptr ? leaf->default_application_priority : 0;
  const int32_t priority = std::min(*wanted, books.config.max_application_priority);
  return {priority, MayHave(groups, user, priority)};
}

std::optional<int32_t> WorkflowPriority(const Books& books, const std::vector<std::string>& tags, QueueId leaf) {
  if (!books.file.workflow_override || books.file.workflow_priorities.empty() || tags.empty()) return std::nullopt;
  const std::string workflow = WorkflowOf(books.config.workflow_tag, tags);
  if (workflow.empty()) return std::nullopt;
  for (QueueId at = leaf; books.queues[at].parent.valid(); at = books.queues[at].parent) {
    const auto of_queue = books.file.workflow_priorities.find(books.queues[at].path);
    if (of_queue == books.file.workflow_priorities.end()) continue;
    const auto mapped = of_queue->second.find(workflow);
    if (mapped != of_queue->second.end()) return mapped->second;
  }
  return std::nullopt;
}

}  // namespace fairlead::scheduler::yarn_capacity
