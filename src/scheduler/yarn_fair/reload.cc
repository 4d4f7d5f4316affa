#include "scheduler/yarn_fair/reload.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/ordering.h"
#include "scheduler/yarn_fair/queues.h"
#include "scheduler/yarn_fair/runnability.h"
#include "scheduler/yarn_fair/update.h"

// The allocation file: AllocationConfiguration, FairScheduler.AllocationReloadListener and
// QueueManager.updateAllocationConfiguration.

namespace fairlead::scheduler::yarn_fair {
namespace {

/// Names in the order in which a HashSet<String>, filled in this order, is walked.
std::vector<std::string> InHashSetOrder(const std::vector<std::string>& names) {
  std::vector<std::string> distinct;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) distinct.push_back(name);
  }
  std::vector<int32_t> hashes;
  for (const std::string& name : distinct) hashes.push_back(java::HashOfString(name));
  std::vector<std::string> ordered;
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(distinct.size()))) ordered.push_back(distinct[i]);
  return ordered;
}

/// The parser adds a parent after all below it; the file order has it before.
std::vector<std::string> ParentsAfterChildren(const std::vector<model::QueueConfig>& queues) {
  std::vector<std::string> order;
  std::vector<std::string> open;
  const auto close_until = [&](const std::string& name) {
    while (!open.empty() && !name.starts_with(open.back() + ".")) {
      order.push_back(open.back());
      open.pop_back();
    }
  };
  for (const model::QueueConfig& queue : queues) {
    close_until(queue.name);
    if (queue.parent_type || queue.reservable) open.push_back(queue.name);
  }
  close_until("");
  return order;
}

/// QueuePlacementPolicy.fromConfiguration.
std::vector<model::PlacementRule> RulesFromKeys(const YarnFairConfig& config) {
  const bool create = config.allow_undeclared_pools;
  std::vector<model::PlacementRule> rules = {{"specified", create, "", {}}};
  if (config.user_as_default_queue) rules.push_back({"user", create, "", {}});
  if (!config.user_as_default_queue || !create) rules.push_back({"default", true, "", {}});
  return rules;
}

}  // namespace

static bool VerifyPolicies(Books& books, QueueId id);
static void EnsureConfigured(Books& books, const std::vector<std::string>& names, QueueKind kind);
static void ApplyChildDefaults(Books& books);

Limit ReadLimit(const Books& books, const model::ConfiguredResources& resources) {
  Limit limit;
  limit.percent = !resources.percent.empty();
  const auto all = resources.percent.find("*");
  for (size_t i = 0; i < Resources::kMaxTypes; ++i) {
    limit.amount[i] = resources.unnamed;
    limit.share[i] = all == resources.percent.end() ? 0.0 : all->second / 100.0;
    if (i >= books.fixed.types) continue;
    if (i == 1 && resources.unnamed == INT64_MAX && books.config.quirks.unnamed_vcores_overflow) limit.amount[i] = -1;
    const std::string name(model::ResourceTypes::Name(i));
    if (const auto it = resources.absolute.find(name); it != resources.absolute.end()) limit.amount[i] = it->second;
    if (const auto it = resources.percent.find(name); it != resources.percent.end())
      limit.share[i] = it->second / 100.0;
  }
  return limit;
}

Settings ReadSettings(const Books& books, const model::QueueTree& tree) {
  Settings s;
  std::vector<std::string> leaves;
  for (const model::QueueConfig& queue : tree.queues) {
    s.queues[queue.name] = queue;
    s.configured.insert(queue.name);
    if (!queue.parent_type && !queue.reservable) leaves.push_back(queue.name);
  }
  s.leaf_order = InHashSetOrder(leaves);
  s.parent_order = InHashSetOrder(ParentsAfterChildren(tree.queues));
  s.user_max_apps = tree.user_max_apps;
  s.user_max_apps_default = tree.user_max_apps_default.value_or(INT32_MAX);
  s.queue_max_apps_default = tree.queue_max_apps_default.value_or(INT32_MAX);
  if (tree.queue_max_resources_default) s.queue_max_default = ReadLimit(books, *tree.queue_max_resources_default);
  s.queue_max_am_share_default = static_cast<float>(tree.queue_max_am_share_default.value_or(0.5));
  if (tree.default_min_share_preemption_timeout) {
    s.root_min_share_timeout = tree.default_min_share_preemption_timeout->millis();
  }
  if (tree.default_fair_share_preemption_timeout) {
    s.root_fair_share_timeout = tree.default_fair_share_preemption_timeout->millis();
  }
  s.root_fair_share_threshold = static_cast<float>(tree.default_fair_share_preemption_threshold.value_or(0.5));
  s.default_policy = PolicyByName(tree.default_policy.value_or("fair"));
  s.rules = tree.placement ? *tree.placement : RulesFromKeys(books.config);
  return s;
}

std::vector<std::pair<std::string, AccessLists>> ReadAcls(const model::QueueTree& tree) {
  std::vector<std::pair<std::string, AccessLists>> acls;
  for (const model::QueueConfig& queue : tree.queues) {
    model::AccessList standard;
    standard.everybody = queue.name == "root";
    acls.emplace_back(queue.name,
                      AccessLists{queue.submit_acl.value_or(standard), queue.administer_acl.value_or(standard)});
  }
  return acls;
}

void LoadSettings(Books& books, Settings settings, const std::vector<std::pair<std::string, AccessLists>>& acls) {
  std::vector<std::string> removed;
  for (const std::string& name : books.settings.configured) {
    if (!settings.configured.contains(name)) removed.push_back(name);
  }
  books.settings = std::move(settings);
  model::AccessList everybody;
  everybody.everybody = true;
  books.tree.acls["root"] = {everybody, everybody};
  for (const auto& [name, lists] : acls) books.tree.acls[name] = lists;
  for (const QueueId id : books.queues) MakeOwn(books, books.queues[id]);
  VerifyPolicies(books, kRoot);
  RankOnce(books, [&] {
    EnsureConfigured(books, books.settings.leaf_order, QueueKind::kLeaf);
    EnsureConfigured(books, books.settings.parent_order, QueueKind::kParent);
  });
  InitQueueTree(books, kRoot);
  InvalidateOrders(books);
  books.MarkSteady();
  for (const std::string& name : removed) {
    const QueueId id = FindQueue(books, name);
    if (!id.valid()) return books.Emit(model::scheduler::ReloadCutShort{name});
    books.queues[id].dynamic = true;
  }
  ApplyChildDefaults(books);
  StartWaitingAfterReload(books);
}

/// FSQueue.verifyAndSetPolicyFromConf: sets policies from below; a forbidden pair ends it where it is met.
bool VerifyPolicies(Books& books, QueueId id) {
  const Policy policy = PolicyOf(books, books.queues[id].name);
  for (const QueueId child : books.queues[id].children) {
    if (!ChildPolicyAllowed(policy, PolicyOf(books, books.queues[child].name))) return false;
    if (!VerifyPolicies(books, child)) return false;
  }
  books.queues[id].policy = policy;
  return true;
}

void EnsureConfigured(Books& books, const std::vector<std::string>& names, QueueKind kind) {
  for (const std::string& name : names) {
    if (RemoveIncompatible(books, name, kind) == false) {
      books.tree.conversions.push_back({name, kind});
      continue;
    }
    const QueueId id = GetQueue(books, name, true, kind, false, {}).id;
    if (id.valid()) books.queues[id].dynamic = false;
  }
}

/// FairScheduler.applyChildDefaults: queues that the file does not list take the limit their parent has for children.
void ApplyChildDefaults(Books& books) {
  for (const QueueId id : books.queues) {
    Queue& queue = books.queues[id];
    if (id == kRoot || !queue.alive || books.settings.configured.contains(queue.name)) continue;
    const std::optional<Limit>& max_child = books.queues[queue.parent].max_child_limit;
    if (!max_child) continue;
    queue.max_limit = *max_child;
    ResolveShares(books, id);
  }
}

void Apply(Books& books, const model::scheduler::QueuesReloaded& event) {
  LoadSettings(books, ReadSettings(books, event.tree), ReadAcls(event.tree));
  books.Emit(model::scheduler::ReloadAnswered{event.token});
}

}  // namespace fairlead::scheduler::yarn_fair
