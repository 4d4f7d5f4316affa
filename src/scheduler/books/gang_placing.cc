#include <algorithm>
#include <map>

#include "scheduler/books/core.h"
#include "scheduler/books/gang_plan.h"

// Gangs: everything that an application asks for under one gang number starts in one step, or nothing of it does. A
// gang is tried again when something got room since; it is given up after gang_expiry.

namespace fairlead::scheduler::native {

GangPlan PlanGang(const Books& books, const Policy& policy, AppSlot slot, int64_t number) {
  const App& app = books.apps[slot];
  GangPlan plan;
  std::vector<const Ask*> members;
  for (const Ask& ask : app.asks) {
    if (ask.gang == number && ask.count > 0) members.push_back(&ask);
  }
  const auto share = [&](const Ask* ask) {
    const Share of = books.queues.ShareOf(model::OrderPolicy::kDrf, books.shapes[ask->shape].size);
    return OrderKey{0, 0, of.used, of.of};
  };
  std::sort(members.begin(), members.end(), [&](const Ask* a, const Ask* b) {
    const OrderKey left = share(b);
    const OrderKey right = share(a);
    if (left < right || right < left) return left < right;
    return a->serial < b->serial;
  });
  std::map<NodeIndex, Resources> planned;
  plan.whole = !members.empty();
  for (const Ask* member : members) {
    const Shape& shape = books.shapes[member->shape];
    int32_t left = member->count;
    plan.members += left;
    policy.VisitRoom(books, shape, [&](NodeIndex node) {
      if (books.Excluded(app, *member, node)) return true;
      Resources& taken = planned[node];
      while (left > 0 && (taken + shape.size).FitsIn(books.nodes[node].booked_free())) {
        taken += shape.size;
        plan.places.emplace_back(member->serial, node);
        --left;
      }
      return left > 0;
    });
    plan.whole = plan.whole && left == 0;
  }
  return plan;
}

void Core::EnterGang(AppSlot slot, Ask& ask) {
  if (ask.park != Park::kGang) SetPark(slot, ask, Park::kGang);
  if (!books_.gangs.Enter(slot, ask.gang, books_.next_serial)) return;
  books_.timers.Push({books_.now + books_.config.gang_expiry, TimerKind::kGangEnds, slot.value, books_.next_serial++});
}

bool Core::PlaceGangs() {
  bool granted = false;
  for (size_t i = 0; i < books_.gangs.all().size();) {
    if (!books_.gangs.WorthATry(i)) {
      ++i;
      continue;
    }
    const Gang gang = books_.gangs.all()[i];
    const std::vector<Ask>& asks = books_.apps[gang.app].asks;
    const bool pending =
        std::any_of(asks.begin(), asks.end(), [&](const Ask& ask) { return ask.gang == gang.number && ask.count > 0; });
    if (pending && !PlaceGang(gang)) {
      books_.gangs.NoteFailure(i++);
      continue;
    }
    granted = granted || pending;
    books_.gangs.Remove(i);
  }
  return granted;
}

bool Core::PlaceGang(const Gang& gang) {
  const App& app = books_.apps[gang.app];
  if (!app.runnable || !app.active || app.needs_master) return false;
  if (policy_->GangLimit(books_, gang.app, gang.number).reason != ev::PendingReason::kNone) return false;
  const GangPlan plan = PlanGang(books_, *policy_, gang.app, gang.number);
  if (!plan.whole) return false;
  for (const auto& [serial, node] : plan.places) {
    Grant(gang.app, *books_.apps.FindAsk(gang.app, serial), Spot{node});
    books_.containers.SetGang(app.containers.first());
  }
  policy_->QueueChanged(books_, app.leaf);
  return true;
}

void Core::EndGang(uint64_t serial) {
  const std::vector<Gang>& gangs = books_.gangs.all();
  const auto at = std::find_if(gangs.begin(), gangs.end(), [&](const Gang& gang) { return gang.serial == serial; });
  const Gang gang = *at;  // TimerWanted has seen it
  books_.gangs.Remove(static_cast<size_t>(at - gangs.begin()));
  bool pending = false;
  for (Ask& ask : books_.apps.asks(gang.app)) {
    if (ask.gang != gang.number || ask.count == 0) continue;
    pending = true;
    SetCount(gang.app, ask, 0);
  }
  AsksChanged(gang.app);
  if (!pending) return;
  Emit(ev::GangExpired{books_.apps[gang.app].index, gang.number});
}

ev::Pending Core::WhyGang(AppSlot slot, const Ask& ask) const {
  ev::Pending out = policy_->GangLimit(books_, slot, ask.gang);
  if (out.reason != ev::PendingReason::kNone) return out;
  const GangPlan plan = PlanGang(books_, *policy_, slot, ask.gang);
  out.reason = ev::PendingReason::kGang;
  out.detail = std::to_string(plan.places.size()) + " of " + std::to_string(plan.members) + " members of gang " +
               std::to_string(ask.gang) + " fit now";
  out.remedy = "add nodes, wait for containers to end, or ask for a smaller gang";
  return out;
}

}  // namespace fairlead::scheduler::native
