#include "scheduler/fairlead/core.h"

// Why a request waits: the checks of placing, in their order, without their effects.

namespace fairlead::scheduler::native {
namespace {

std::string Millis(base::Duration duration) { return std::to_string(duration.millis()) + " ms"; }

}  // namespace

ev::Pending Core::WhyWant(const App& app, const Want& want, Instant now) const {
  const Shape& shape = shapes_[want.shape];
  const std::string size = model::ToString(shape.size);
  ev::Pending out;
  out.ask = {want.priority,
             want.request_id,
             "*",
             want.relax_any,
             shape.size,
             want.count,
             shape.label == kNone ? "" : labels_.Name(shape.label)};
  out.since = want.since;
  const auto give = [&](ev::PendingReason reason, std::string detail, std::string remedy) {
    out.reason = reason;
    out.detail = std::move(detail);
    out.remedy = std::move(remedy);
    return out;
  };
  if (!app.runnable) {
    const User& user = users_[app.user];
    if (user.running >= user.max_running) {
      return give(ev::PendingReason::kUserLimit,
                  "user " + users_by_name_.Name(app.user) + " runs " + std::to_string(user.running) + " of at most " +
                      std::to_string(user.max_running) + " applications",
                  "raise maxRunningApps of the user, or wait for one of them to end");
    }
    for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) {
      if (queues_[q].running < queues_[q].max_running) continue;
      return give(ev::PendingReason::kMaxRunningApps,
                  "queue " + queues_[q].name + " runs " + std::to_string(queues_[q].running) + " of at most " +
                      std::to_string(queues_[q].max_running) + " applications",
                  "raise maxRunningApps of " + queues_[q].name + ", or wait for one of them to end");
    }
  }
  if (want.gang != 0) return WhyGang(app, want, std::move(out));
  const Limit limit = FindLimit(app.leaf, shape.size, app.needs_master);
  if (limit.kind == Limit::Kind::kQueueMaximum) {
    const Queue& queue = queues_[limit.queue];
    return give(ev::PendingReason::kQueueMaximum,
                "queue " + queue.name + " uses " + model::ToString(queue.used) + " of at most " +
                    model::ToString(queue.high) + "; " + size + " more does not fit",
                "raise maxResources of " + queue.name + ", or wait for its containers to end");
  }
  if (limit.kind != Limit::Kind::kFree || (app.starting && queues_[app.leaf].masters_full)) {
    const Queue& queue = queues_[limit.kind != Limit::Kind::kFree ? limit.queue : app.leaf];
    return give(ev::PendingReason::kMasterShare,
                "masters in queue " + queue.name + " use " + model::ToString(queue.master_used) + "; " + size +
                    " more, or that of an earlier application, exceeds the masters' share",
                "raise maxAMShare, or wait for an application to end");
  }
  const Spot spot = FindSpot(app, want, now);
  switch (spot.verdict) {
    case Spot::Verdict::kNoNodes:
      return give(ev::PendingReason::kNoNodes, "no node takes containers", "register nodes, or make them schedulable");
    case Spot::Verdict::kNoLabel:
      return give(ev::PendingReason::kLabel,
                  "no node that takes containers carries the label " + labels_.Name(shape.label),
                  "give the label to a node, or ask without it");
    case Spot::Verdict::kExcluded:
      return give(ev::PendingReason::kNodesExcluded,
                  "every node with room for " + size + " is among the application's " +
                      std::to_string(app.blacklist.size()) + " excluded places, or its affinity speaks against it",
                  "remove a node from the exclusions, relax the affinity, or wait for another node");
    case Spot::Verdict::kStrict:
      return give(ev::PendingReason::kStrictLocality,
                  "none of the named places has room for " + size + ", and relaxLocality is off",
                  "allow other places (relaxLocality), or wait");
    case Spot::Verdict::kWaiting:
      return give(ev::PendingReason::kWaitingForLocality,
                  "waits for its places; takes a farther one in " + Millis(spot.until - now),
                  "shorten the locality wait");
    case Spot::Verdict::kFound:
      return give(ev::PendingReason::kFairShare, "served next", "nothing to do");
    case Spot::Verdict::kNoRoom:
      break;
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!Open(nodes_[i]) || nodes_[i].holds.empty() || !HasLabel(i, shape.label) || Excluded(app, nodes_[i])) continue;
    if (!shape.size.FitsIn(Free(nodes_[i]) + nodes_[i].held)) continue;
    return give(ev::PendingReason::kReserved,
                "node " + names_.Name(nodes_[i].host) + " has room for " + size + ", kept for another request",
                "wait for the hold to end, or shorten holds");
  }
  bool possible = false;
  for (uint32_t i = 0; i < nodes_.size() && !possible; ++i) {
    possible =
        nodes_[i].alive && nodes_[i].schedulable && shape.size.FitsIn(nodes_[i].capacity) && HasLabel(i, shape.label);
  }
  if (!possible) {
    return give(ev::PendingReason::kLargerThanAnyNode, size + " is larger than every node that it may go to",
                "ask for less, or add a larger node");
  }
  return give(ev::PendingReason::kClusterFull,
              "no node has " + size + " free; the cluster uses " + model::ToString(cluster_used_) + " of " +
                  model::ToString(schedulable_),
              "add a node, or wait for containers to end");
}

std::vector<ev::Pending> Core::Why(AppIndex app_index, Instant now) const {
  std::vector<ev::Pending> reasons;
  if (app_index.value >= app_slots_.size() || app_slots_[app_index.value] == kNone) return reasons;
  const App& app = apps_[app_slots_[app_index.value]];
  for (const Want& want : app.wants) {
    if (want.count > 0) reasons.push_back(WhyWant(app, want, now));
  }
  return reasons;
}

}  // namespace fairlead::scheduler::native
