#include <algorithm>

#include "scheduler/fairlead/core.h"
#include "scheduler/fairlead/keys.h"

// Gangs: everything that an application asks for under one gang number starts in one step, or nothing of it does. A
// gang is tried again when something got room since; it gives up after gang_expiry.

namespace fairlead::scheduler::native {

void Core::EnterGang(uint32_t slot, Want& want) {
  if (want.park != Park::kGang) SetPark(slot, want, Park::kGang);
  for (Gang& gang : gangs_) {
    if (gang.app != slot || gang.number != want.gang) continue;
    gang.tried = 0;  // its members changed
    return;
  }
  gangs_.push_back({slot, want.gang, next_serial_++, 0});
  PushTimer({now_ + config_.gang_expiry, TimerKind::kGangEnds, slot, gangs_.back().serial});
}

void Core::PlaceGangs() {
  bool granted = false;
  for (size_t i = 0; i < gangs_.size();) {
    const Gang gang = gangs_[i];
    const App& app = apps_[gang.app];
    const bool pending = std::any_of(app.wants.begin(), app.wants.end(),
                                     [&](const Want& want) { return want.gang == gang.number && want.count > 0; });
    if (pending && gang.tried != room_version_ && PlaceGang(gang)) {
      granted = true;
    } else if (pending) {
      gangs_[i++].tried = room_version_;
      continue;
    }
    gangs_.erase(gangs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (granted) PlaceInOrder();
}

Limit Core::GangLimit(const App& app, int64_t number) const {
  Resources all;
  for (const Want& want : app.wants) {
    if (want.gang == number) all += shapes_[want.shape].size * want.count;
  }
  return FindLimit(app.leaf, all, false);
}

/// Largest members first, each on the next node that has room beside the members planned before. A node that was too
/// full for one member of a size is not looked at again for that size: O(members + nodes x sizes).
std::vector<std::pair<uint64_t, uint32_t>> Core::PlanGang(const App& app, int64_t number, int64_t& fit) const {
  std::vector<const Want*> members;
  for (const Want& want : app.wants) {
    if (want.gang == number && want.count > 0) members.push_back(&want);
  }
  std::sort(members.begin(), members.end(), [&](const Want* a, const Want* b) {
    OrderKey left = ShareKey(model::OrderPolicy::kDrf, shapes_[b->shape].size, kWeightOne);
    OrderKey right = ShareKey(model::OrderPolicy::kDrf, shapes_[a->shape].size, kWeightOne);
    left.tie = right.tie = 0;
    if (left < right || right < left) return left < right;
    return a->serial < b->serial;
  });
  std::vector<std::pair<uint64_t, uint32_t>> plan;
  std::map<uint32_t, Resources> planned;
  fit = 0;
  bool whole = true;
  for (const Want* member : members) {
    const Shape& shape = shapes_[member->shape];
    const Partition& partition = partitions_[shape.label == kNone ? 0 : shape.label + 1];
    int32_t left = member->count;
    for (uint32_t at = partition.index.FindFrom(0, shape.size); left > 0 && at != kNone;
         at = partition.index.FindFrom(at + 1, shape.size)) {
      const uint32_t node = partition.nodes[at];
      if (!Fits(app, node, shape)) continue;
      Resources& taken = planned[node];
      while (left > 0 && (taken + shape.size).FitsIn(Free(nodes_[node]))) {
        taken += shape.size;
        plan.emplace_back(member->serial, node);
        --left;
        ++fit;
      }
    }
    whole = whole && left == 0;
  }
  if (!whole) plan.clear();
  return plan;
}

bool Core::PlaceGang(const Gang& gang) {
  const App& app = apps_[gang.app];
  if (!app.runnable || !app.active || app.needs_master) return false;
  if (GangLimit(app, gang.number).kind != Limit::Kind::kFree) return false;
  int64_t fit = 0;
  const auto plan = PlanGang(app, gang.number, fit);
  if (plan.empty()) return false;
  for (const auto& [serial, node] : plan) {
    Want* want = FindWant(gang.app, serial);
    Grant(gang.app, *want, {Spot::Verdict::kFound, node, Locality::kOffSwitch});
  }
  RefreshPath(app.leaf);
  return true;
}

void Core::EndGang(uint64_t serial) {
  const auto at = std::find_if(gangs_.begin(), gangs_.end(), [&](const Gang& gang) { return gang.serial == serial; });
  if (at == gangs_.end()) return;
  const Gang gang = *at;
  gangs_.erase(at);
  App& app = apps_[gang.app];
  bool pending = false;
  for (Want& want : app.wants) {
    if (want.gang != gang.number || want.count == 0) continue;
    pending = true;
    SetCount(app, want, 0);
  }
  RefreshClasses(gang.app);
  if (!pending) return;
  Emit(ev::GangExpired{app.index, gang.number});
}

ev::Pending Core::WhyGang(const App& app, const Want& want, ev::Pending out) const {
  out.reason = ev::PendingReason::kGang;
  const Limit limit = GangLimit(app, want.gang);
  if (limit.kind == Limit::Kind::kQueueMaximum) {
    out.reason = ev::PendingReason::kQueueMaximum;
    out.detail = "the whole gang does not fit under the maximum " + model::ToString(queues_[limit.queue].high) +
                 " of queue " + queues_[limit.queue].name;
    out.remedy = "raise maxResources of " + queues_[limit.queue].name + ", or ask for a smaller gang";
    return out;
  }
  int64_t fit = 0;
  int64_t members = 0;
  for (const Want& one : app.wants) members += one.gang == want.gang ? one.count : 0;
  PlanGang(app, want.gang, fit);
  out.detail = std::to_string(fit) + " of " + std::to_string(members) + " members of gang " +
               std::to_string(want.gang) + " fit now";
  out.remedy = "add nodes, wait for containers to end, or ask for a smaller gang";
  return out;
}

}  // namespace fairlead::scheduler::native
