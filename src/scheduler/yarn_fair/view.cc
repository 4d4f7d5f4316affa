#include <algorithm>

#include "base/codec.h"
#include "scheduler/yarn_fair/core.h"

// What others see of the state: views, the hash, the copy.

namespace fairlead::scheduler::yarn_fair {
namespace {

const char* NameOfPolicy(Policy policy) {
  switch (policy) {
    case Policy::kFair:
      return "fair";
    case Policy::kDrf:
      return "DRF";
    case Policy::kFifo:
      return "FIFO";
  }
  return "?";
}

using hadoop::Mix;

template <class... T>
void MixAll(base::StateHasher& hasher, T... values) {
  (hasher.Mix(static_cast<uint64_t>(values)), ...);
}

void MixQueue(base::StateHasher& hasher, const Queue& q) {
  hasher.Mix(std::string_view(q.name));
  MixAll(hasher, q.parent, q.leaf, q.alive, q.dynamic, q.runnable_below, q.max_running, q.last_at_min_share, q.policy);
  for (const auto* list : {&q.children, &q.runnable, &q.waiting}) {
    hasher.Mix(list->size());
    for (const uint32_t id : *list) hasher.Mix(id);
  }
  for (const Resources* r : {&q.used, &q.demand, &q.fair_share, &q.am_used, &q.min_share, &q.max_share}) {
    Mix(hasher, *r);
  }
}

void MixAttempt(base::StateHasher& hasher, const Attempt& a, const Resources& fair_share, const Names& names) {
  MixAll(hasher, a.in_use, a.app, a.number, a.queue, a.runnable, a.stopped, a.am_running, a.master_known, a.start_ms,
         a.next_container, a.live_count, a.last_at_fair_share, a.next_starvation_check, a.in_starved_queue);
  for (const Resources* r : {&a.demand, &a.used, &fair_share, &a.reserved, &a.am_resource, &a.fair_starvation,
                             &a.min_starvation, &a.to_be_preempted}) {
    Mix(hasher, *r);
  }
  a.asks.Mix(hasher, names);
  a.blacklist.Mix(hasher);
  for (const KeyState& s : a.key_states) {
    MixAll(hasher, s.key.priority, s.key.id, s.opportunities, s.last_ms, s.has_allowed, s.allowed);
  }
}

}  // namespace

QueueView Core::ViewOf(const Queue& queue) const {
  QueueView view;
  view.name = queue.name;
  if (queue.parent != kNone) view.parent = queues_[queue.parent].name;
  view.leaf = queue.leaf;
  view.policy = NameOfPolicy(queue.policy);
  view.weight = queue.weight;
  view.fair_share = queue.fair_share;
  view.steady_share = queue.steady_share;
  view.min_share = queue.min_share;
  view.max_share = queue.max_share;
  view.demand = queue.demand;
  if (!queue.leaf && config_.quirks.parent_demand_drops_types) {
    view.demand = Resources::Of(queue.demand[0], queue.demand[1]);
  }
  view.used = queue.used;
  view.master_used = queue.am_used;
  view.runnable_apps = queue.NumRunnable();
  view.waiting_apps = static_cast<int32_t>(queue.waiting.size());
  view.max_running_apps = queue.max_running;
  view.preemptable = queue.preemptable;
  return view;
}

View Core::GetView() const {
  FlushSteady();
  View view;
  view.cluster = cluster_;
  for (const auto& [name, id] : queue_ids_) view.queues.push_back(ViewOf(queues_[id]));
  std::stable_sort(view.queues.begin(), view.queues.end(), [](const QueueView& a, const QueueView& b) {
    const auto depth = [](const std::string& s) { return std::count(s.begin(), s.end(), '.'); };
    return depth(a.name) < depth(b.name);
  });
  for (uint32_t i = 0; i < apps_.size(); ++i) {
    const Attempt* attempt = CurrentAttempt(i);
    if (attempt == nullptr) continue;
    view.apps.push_back({model::AppIndex{i}, queues_[attempt->queue].name, attempt->runnable, FairShareOf(*attempt),
                         attempt->demand, attempt->used, attempt->reserved, attempt->live_count});
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].alive) continue;
    view.nodes.push_back(
        {model::NodeIndex{i}, nodes_[i].total, nodes_[i].allocated, static_cast<int32_t>(nodes_[i].container_count)});
  }
  return view;
}

std::unique_ptr<Scheduler> Core::Fork() const { return std::make_unique<Core>(*this); }

uint64_t Core::StateHash() const {
  base::StateHasher hasher;
  hasher.Mix(queues_.size());
  for (const Queue& queue : queues_) MixQueue(hasher, queue);
  for (const QueueId id : leaf_order_) hasher.Mix(id);
  for (const Attempt& attempt : attempts_) MixAttempt(hasher, attempt, FairShareOf(attempt), names_);
  for (const Container& c : containers_) {
    MixAll(hasher, c.state, c.on_node, c.launched_on_node, c.is_master, c.marked, c.set_apart, c.live, c.app,
           c.attempt_number, c.value, c.node, c.taken != kNone);
    Mix(hasher, c.resources);
  }
  for (const Node& n : nodes_) {
    MixAll(hasher, n.alive, n.schedulable, n.sequence, n.container_count, n.most_containers, n.reserved,
           n.promises.size());
    Mix(hasher, n.total);
    Mix(hasher, n.unallocated);
    Mix(hasher, n.total_promised);
  }
  Mix(hasher, cluster_);
  Mix(hasher, allocated_);
  Mix(hasher, available_);
  MixAll(hasher, starved_.items().size(), kills_.size(), next_update_ms_, next_continuous_ms_, next_queue_check_ms_);
  return hasher.value();
}

}  // namespace fairlead::scheduler::yarn_fair
