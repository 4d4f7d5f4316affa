#include "scheduler/fairlead/why.h"

#include "scheduler/fairlead/core.h"

// Why a request waits: the checks of placing, without their effects. Limits of users, queues and masters all have to
// give way; of what keeps a request from the nodes (no room, holds, exclusions, places) a smallest set is named: taken
// together they free it, and without any one of them it would still wait.

namespace fairlead::scheduler::native {
namespace {

std::string Millis(base::Duration duration) { return std::to_string(duration.millis()) + " ms"; }

}  // namespace

/// What keeps the application or the size out, wherever there is room.
void Core::FindLimits(const App& app, const Want& want, std::vector<Blocker>& out) const {
  if (!app.runnable) {
    const User& user = users_[app.user];
    if (user.running >= user.max_running) {
      const std::string name = users_by_name_.Name(app.user);
      out.push_back({ev::PendingReason::kUserLimit, name,
                     "user " + name + " runs " + std::to_string(user.running) + " of at most " +
                         std::to_string(user.max_running) + " applications",
                     "raise maxRunningApps of the user, or wait for one of them to end"});
    }
    for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) {
      const Queue& queue = queues_[q];
      if (queue.running < queue.max_running) continue;
      out.push_back({ev::PendingReason::kMaxRunningApps, queue.name,
                     "queue " + queue.name + " runs " + std::to_string(queue.running) + " of at most " +
                         std::to_string(queue.max_running) + " applications",
                     "raise maxRunningApps of " + queue.name + ", or wait for one of them to end"});
    }
  }
  const Resources& size = shapes_[want.shape].size;
  for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) {
    const Queue& queue = queues_[q];
    if ((queue.used + size).FitsIn(queue.high)) continue;
    out.push_back({ev::PendingReason::kQueueMaximum, queue.name,
                   "queue " + queue.name + " uses " + model::ToString(queue.used) + " of at most " +
                       model::ToString(queue.high) + "; " + model::ToString(size) + " more does not fit",
                   "raise maxResources of " + queue.name + ", or wait for its containers to end"});
  }
  if (!app.needs_master) return;
  const bool leaf = LeafMastersExceed(app.leaf, size);
  const bool cluster = ClusterMastersExceed(size);
  const auto add = [&](const Queue& queue, const char* remedy) {
    out.push_back({ev::PendingReason::kMasterShare, queue.name,
                   "masters in queue " + queue.name + " use " + model::ToString(queue.master_used) + "; " +
                       model::ToString(size) + " more, or that of an earlier application, exceeds the masters' share",
                   remedy});
  };
  if (leaf || (queues_[app.leaf].masters_full && !cluster)) {
    add(queues_[app.leaf], "raise maxAMShare, or wait for an application to end");
  }
  if (cluster) add(queues_[kRoot], "add nodes, or wait for an application to end");
}

/// How near the node is to what the request names.
Locality Core::DistanceOf(const Want& want, const Node& node) const {
  Locality distance = Locality::kOffSwitch;
  for (const Line& line : want.lines) {
    if (line.count == 0) continue;
    if (!line.rack && line.name == node.host) return Locality::kNodeLocal;
    if (line.rack && line.relax && line.name == node.rack) distance = Locality::kRackLocal;
  }
  return distance;
}

/// Whether some node would do. `allowed`: how far from its places the request may go. O(nodes x its named places).
bool Core::PlaceableWith(const App& app, const Want& want, Locality allowed, const Relaxed& relaxed) const {
  const Shape& shape = shapes_[want.shape];
  const auto near_enough = [&](Locality distance) {
    if (want.lines.empty() || relaxed.place || distance == Locality::kNodeLocal) return true;
    return distance <= allowed && (distance != Locality::kOffSwitch || want.relax_any);
  };
  if (relaxed.room && near_enough(Locality::kOffSwitch)) return true;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (!Open(node) || !HasLabel(i, shape.label)) continue;
    Resources room = relaxed.holds ? Free(node) + node.held : Free(node);
    bool own_hold = false;  // what is held for it, it takes however far its places are
    for (const uint32_t index : node.holds) {
      const Hold& hold = holds_[index];
      if (hold.app != app_slots_[app.index.value] || hold.want != want.serial) continue;
      own_hold = true;
      if (!relaxed.holds) room += hold.size;
    }
    if (!shape.size.FitsIn(room)) continue;
    if (!relaxed.bars && Excluded(app, nodes_[i])) continue;
    if (own_hold || near_enough(DistanceOf(want, node))) return true;
  }
  return false;
}

/// The kind of lack that only another node, or the end of containers, helps.
Blocker Core::NoRoom(const Shape& shape) const {
  const std::string size = model::ToString(shape.size);
  const std::string label = shape.label == kNone ? "" : labels_.Name(shape.label);
  if (partitions_[shape.label == kNone ? 0 : shape.label + 1].open_nodes == 0) {
    if (shape.label == kNone || alive_nodes_ == 0) {
      return {ev::PendingReason::kNoNodes, label, "no node takes containers",
              "register nodes, or make them schedulable"};
    }
    return {ev::PendingReason::kLabel, label, "no node that takes containers carries the label " + label,
            "give the label to a node, or ask without it"};
  }
  bool possible = false;
  for (uint32_t i = 0; i < nodes_.size() && !possible; ++i) {
    possible = Open(nodes_[i]) && shape.size.FitsIn(nodes_[i].capacity) && HasLabel(i, shape.label);
  }
  if (!possible) {
    return {ev::PendingReason::kLargerThanAnyNode, label, size + " is larger than every node that it may go to",
            "ask for less, or add a larger node"};
  }
  return {ev::PendingReason::kClusterFull, label,
          "no node has " + size + " free; the cluster uses " + model::ToString(cluster_used_) + " of " +
              model::ToString(schedulable_),
          "add a node, or wait for containers to end"};
}

/// A smallest set of obstacles between the request and a node: all are thought away, then each is put back unless the
/// request would wait again, those first that cost most to remove.
void Core::FindObstacles(const App& app, const Want& want, Instant now, std::vector<Blocker>& out) const {
  const Shape& shape = shapes_[want.shape];
  Instant until{};
  const Locality allowed = want.lines.empty() ? Locality::kOffSwitch : Allowed(app, want, now, until);
  Relaxed relaxed{true, true, true, true};
  for (bool Relaxed::*obstacle : {&Relaxed::room, &Relaxed::holds, &Relaxed::bars, &Relaxed::place}) {
    relaxed.*obstacle = false;
    if (!PlaceableWith(app, want, allowed, relaxed)) relaxed.*obstacle = true;
  }
  const std::string size = model::ToString(shape.size);
  if (relaxed.room) out.push_back(NoRoom(shape));
  if (relaxed.holds) {
    out.push_back({ev::PendingReason::kReserved, "", "the only room for " + size + " is kept for another request",
                   "wait for the hold to end, or shorten holds"});
  }
  if (relaxed.bars) {
    out.push_back({ev::PendingReason::kNodesExcluded, "",
                   "every node with room for " + size + " is among the application's " +
                       std::to_string(app.blacklist.size()) + " excluded places",
                   "remove a node from the exclusions, or wait for another node"});
  }
  if (!relaxed.place) return;
  // Time, leave to go elsewhere, or both.
  relaxed.place = false;
  Want lenient = want;
  lenient.relax_any = true;
  const bool time_helps = PlaceableWith(app, want, Locality::kOffSwitch, relaxed);
  const bool leave_helps = !time_helps && PlaceableWith(app, lenient, allowed, relaxed);
  if (!time_helps) {
    out.push_back({ev::PendingReason::kStrictLocality, "",
                   "none of the named places has room for " + size + ", and relaxLocality is off",
                   "allow other places (relaxLocality), or wait"});
  }
  if (!leave_helps) {
    out.push_back({ev::PendingReason::kWaitingForLocality, "",
                   "waits for its places; takes a farther one in " + Millis(until - now), "shorten the locality wait"});
  }
}

ev::Pending Core::WhyWant(const App& app, const Want& want, Instant now) const {
  const Shape& shape = shapes_[want.shape];
  ev::Pending out;
  out.ask = {want.priority,
             want.request_id,
             "*",
             want.relax_any,
             shape.size,
             want.count,
             shape.label == kNone ? "" : labels_.Name(shape.label)};
  out.since = want.since;
  const std::vector<Blocker> blockers = BlockersOf(app, want, now);
  if (blockers.empty()) {
    out.reason = ev::PendingReason::kFairShare;
    out.detail = "served next";
    out.remedy = "nothing to do";
    return out;
  }
  out.reason = blockers[0].reason;
  for (const Blocker& blocker : blockers) {
    out.detail += (out.detail.empty() ? "" : "; besides, ") + blocker.detail;
    out.remedy += (out.remedy.empty() ? "" : "; and also: ") + blocker.remedy;
  }
  return out;
}

std::vector<Blocker> Core::BlockersOf(const App& app, const Want& want, Instant now) const {
  std::vector<Blocker> blockers;
  if (want.gang != 0 && app.runnable) {
    ev::Pending gang = WhyGang(app, want, {});
    return {{gang.reason, "", std::move(gang.detail), std::move(gang.remedy)}};
  }
  FindLimits(app, want, blockers);
  FindObstacles(app, want, now, blockers);
  return blockers;
}

std::vector<std::vector<Blocker>> Core::AllBlockers(AppIndex app_index, Instant now) const {
  std::vector<std::vector<Blocker>> all;
  if (app_index.value >= app_slots_.size() || app_slots_[app_index.value] == kNone) return all;
  const App& app = apps_[app_slots_[app_index.value]];
  for (const Want& want : app.wants) {
    if (want.count > 0) all.push_back(BlockersOf(app, want, now));
  }
  return all;
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

namespace fairlead::scheduler {

std::vector<std::vector<Blocker>> Blockers(const Scheduler& scheduler, model::AppIndex app, base::Instant now) {
  const auto* core = dynamic_cast<const native::Core*>(&scheduler);
  return core ? core->AllBlockers(app, now) : std::vector<std::vector<Blocker>>{};
}

}  // namespace fairlead::scheduler
