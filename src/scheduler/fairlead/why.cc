#include "scheduler/fairlead/why.h"

#include <algorithm>
#include <utility>

#include "scheduler/books/core.h"
#include "scheduler/fairlead/policy.h"

// Why an ask waits: the placing code run dry. Limits of users, queues and masters all have to give way; of what keeps
// an ask from the nodes (no room, reservations, exclusions, places) a smallest set is named: taken together they free
// it, and without any one of them it would still wait.

namespace fairlead::scheduler::native {
namespace {

std::string Millis(base::Duration duration) { return std::to_string(duration.millis()) + " ms"; }

}  // namespace

/// What keeps the application or the size out, wherever there is room.
void FairPolicy::FindLimits(const Books& books, const App& app, const Ask& ask, std::vector<Blocker>& out) const {
  FindRunningLimits(books, app, out);
  const Resources& size = books.shapes[ask.shape].size;
  FindUserMaxima(books, app, size, out);
  FindQueueMaxima(books, app, size, out);
  if (const QueueId spent = budgets_.on() ? budgets_.Exhausted(books, app.leaf) : QueueId{}; spent.valid()) {
    const std::string& name = books.queues[spent].name;
    out.push_back({ev::PendingReason::kQueueMaximum, name,
                   "the hard budget of " + name + " is spent: " + budgets_.TextOf(name),
                   "wait for the next period, or raise fairlead.scheduler.fairness.budgets"});
  }
  FindMasterLimits(books, app, size, order_.MastersClosed(app.leaf), out);
}

Blocker FairPolicy::AllBusy(const Books& books, const Shape& shape) const {
  std::string detail = "every node with room for " + model::InWords(shape.size) + " is overloaded by what it measured";
  for (uint32_t i = 0; i < books.nodes.size(); ++i) {
    const Node& node = books.nodes[NodeIndex{i}];
    if (!node.busy || !node.serves() || !node.Holds(shape.size)) continue;
    detail += ": " + books.places[node.host].name + " (" + busy_.TextOf(NodeIndex{i}) + ")";
    break;
  }
  return {ev::PendingReason::kNodesBusy, "", detail, "wait until it calms, or raise fairlead.scheduler.measured-use.*"};
}

/// A smallest set of obstacles between the ask and a node: all are thought away, then each is put back unless the ask
/// would wait again, those first that cost most to remove.
void FairPolicy::FindObstacles(const Books& books, const App& app, const Ask& ask, Instant now,
                               std::vector<Blocker>& out) const {
  Instant until{};
  const Locality allowed =
      ask.places.empty() ? Locality::kOffSwitch : Finder(books, config_).Allowed(app, ask, now, until);
  const auto found = [&](const Ask& one, Locality level, const Relaxed& relaxed) {
    return Finder(books, config_, relaxed).Find(app, one, now, &level).verdict == Found::Verdict::kFound;
  };
  // Nodes and reservations that there are not need not be thought away: looking for them costs a pass over the nodes.
  Relaxed relaxed{true, !busy_.empty(), books.reservations.count() > 0, true, true};
  for (bool Relaxed::*obstacle :
       {&Relaxed::room, &Relaxed::busy, &Relaxed::reservations, &Relaxed::exclusions, &Relaxed::place}) {
    if (!std::exchange(relaxed.*obstacle, false)) continue;
    if (!found(ask, allowed, relaxed)) relaxed.*obstacle = true;
  }
  const Shape& shape = books.shapes[ask.shape];
  const std::string size = model::InWords(shape.size);
  if (relaxed.room) out.push_back(NoRoom(books, shape));
  if (relaxed.busy) out.push_back(AllBusy(books, shape));
  if (relaxed.reservations) {
    out.push_back({ev::PendingReason::kReserved, "", "the only room for " + size + " is kept for another request",
                   "wait for the reservation to end, or shorten reservations"});
  }
  if (relaxed.exclusions) out.push_back(AllExcluded(app, shape));
  if (!relaxed.place) return;
  // Time, leave to go elsewhere, or both.
  relaxed.place = false;
  Ask lenient = ask;
  lenient.relax_any = true;
  const bool time_helps = found(ask, Locality::kOffSwitch, relaxed);
  const bool leave_helps = !time_helps && found(lenient, allowed, relaxed);
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

std::vector<Blocker> FairPolicy::BlockersOf(const Books& books, AppSlot slot, const Ask& ask, Instant now) const {
  std::vector<Blocker> blockers;
  FindLimits(books, books.apps[slot], ask, blockers);
  FindObstacles(books, books.apps[slot], ask, now, blockers);
  if (blockers.empty() && ask.park == Park::kAny && !FindWindows(books, slot, ask, blockers)) {
    FindPromises(books, slot, ask, blockers);
  }
  return blockers;
}

/// What keeps the ask from nodes with room, if windows do on all of them: the one that begins first.
bool FairPolicy::FindWindows(const Books& books, AppSlot slot, const Ask& ask, std::vector<Blocker>& out) const {
  if (!maintenance_.any()) return false;
  const Shape& shape = books.shapes[ask.shape];
  const base::Duration run = backfill_.StartOf(In(books), slot, ask).run;
  const ev::Window* first = nullptr;
  NodeIndex where;
  for (uint32_t i = 0; i < books.nodes.size(); ++i) {
    const NodeIndex node{i};
    if (!books.Fits(books.apps[slot], node, shape)) continue;
    const ev::Window* window = maintenance_.InTheWay(node, books.now, run);
    if (!window) return false;
    if (!first || window->from < first->from) first = window, where = node;
  }
  if (!first) return false;
  const std::string runs =
      run == kForever ? "nobody knows how long it runs, and " + Millis(maintenance_.unknown_run()) + " are assumed"
                      : "it may run for " + Millis(run);
  const std::string begins = first->from <= books.now ? "has begun" : "begins in " + Millis(first->from - books.now);
  out.push_back({ev::PendingReason::kReserved, "",
                 "where there is room maintenance is announced, first of " +
                     books.places[books.nodes[where].host].name + ", which " + begins + ": " + runs,
                 "wait for the end of the maintenance, or cancel it (fairlead node drain HOST --cancel)"});
  return true;
}

/// What keeps the ask from nodes with room, if promises do: the first of them.
void FairPolicy::FindPromises(const Books& books, AppSlot slot, const Ask& ask, std::vector<Blocker>& out) const {
  const Promise* first = nullptr;
  backfill_.ForEach([&](NodeIndex node, const Promise& one) {
    if (!first && one.app != slot && books.nodes[node].Holds(books.shapes[ask.shape].size)) first = &one;
  });
  if (!first) return;
  out.push_back({ev::PendingReason::kReserved, "",
                 "where there is room it would be in the way of " + model::ToString(books.apps[first->app].id) +
                     ", whose start in " + Millis(first->latest - books.now) + " at the latest is promised",
                 "wait, ask for less, or lower fairlead.scheduler.backfill.promises"});
}

ev::Pending FairPolicy::Why(const Books& books, AppSlot slot, const Ask& ask, Instant now) const {
  ev::Pending out = Joined(BlockersOf(books, slot, ask, now));
  if (const Promise* promise = backfill_.on() ? backfill_.Of(ask.serial) : nullptr) {
    out.detail += "; a container of it starts in " + Millis(std::max(promise->start, now) - now) + ", in " +
                  Millis(std::max(promise->latest, now) - now) + " at the latest: that is promised";
  }
  return out;
}

}  // namespace fairlead::scheduler::native

namespace fairlead::scheduler {

std::vector<std::vector<Blocker>> Blockers(const Scheduler& scheduler, model::AppIndex index, base::Instant now) {
  std::vector<std::vector<Blocker>> all;
  const auto* core = dynamic_cast<const native::Core*>(&scheduler);
  const auto* policy = core ? dynamic_cast<const native::FairPolicy*>(&core->policy()) : nullptr;
  if (!policy) return all;
  const native::Books& books = core->books();
  const native::AppSlot slot = books.apps.Find(index);
  if (!slot.valid()) return all;
  for (const native::Ask& ask : books.apps[slot].asks) {
    if (ask.count == 0) continue;
    if (ask.gang == 0 || !books.apps[slot].runnable) {
      all.push_back(policy->BlockersOf(books, slot, ask, now));
      continue;
    }
    model::scheduler::Pending gang = core->WhyGang(slot, ask);
    all.push_back({{gang.reason, "", std::move(gang.detail), std::move(gang.remedy)}});
  }
  return all;
}

}  // namespace fairlead::scheduler
