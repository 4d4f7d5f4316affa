#include <algorithm>

#include "scheduler/fairlead/policy.h"

// Protected backfill: an ask goes where every promised start can still be kept and where it ends before the next
// maintenance window; the first asks of a queue that find no room are promised a start.

namespace fairlead::scheduler::native {

void FairPolicy::TryBesidePromises(Core& core, AppSlot slot, Ask& ask) {
  Books& books = core.books();
  const App& app = books.apps[slot];
  const Backfill::Start start = backfill_.StartOf(In(books), slot, ask);
  Found found = Finder(books, config_).Find(app, ask, books.now);
  if (found.verdict == Found::Verdict::kFound && !MayStart(books, found.spot.node, start)) {
    NodeIndex other;
    if (ask.relax_any) {
      other = FindOnRing(books, config_.node_order, books.shapes[ask.shape],
                         [&](NodeIndex node) { return !books.Excluded(app, node) && MayStart(books, node, start); });
    }
    if (!other.valid()) {
      passed_over_.emplace_back(slot, ask.serial);
      core.SetPark(slot, ask, Park::kAny);
      if (PromisesBefore(books, slot) < backfill_.most_a_queue()) MakePromise(core, slot, ask);
      return;
    }
    found.spot = SpotOn(books, ask, other);
  }
  if (found.verdict != Found::Verdict::kFound) {
    if (found.verdict == Found::Verdict::kNoRoom && PromisesBefore(books, slot) < backfill_.most_a_queue()) {
      MakePromise(core, slot, ask);
    }
    return Wait(core, slot, ask, found);
  }
  const QueueId leaf = app.leaf;
  core.Grant(slot, ask, found.spot);
  const bool promised = backfill_.Started(In(books), found.spot.node, start.ask);
  if (promised) WakePassedOver(core, {});
  if (promised || PromisesIn(books, leaf) < backfill_.most_a_queue()) MakePromises(core);
  WakePromised(core);
}

bool FairPolicy::EndsBeforeWindow(const Books& books, AppSlot slot, const Ask& ask, NodeIndex node) const {
  return maintenance_.Allows(node, books.now, backfill_.StartOf(In(books), slot, ask).run);
}

/// Promises there may run into the window: their asks get others, perhaps elsewhere.
void FairPolicy::NodeWindows(Core& core, const ev::NodeWindows& event) {
  maintenance_.Set(event);
  backfill_.Withdraw(event.node);
  core.books().gangs.NoteRoom();
  WakePassedOver(core, {});
}

void FairPolicy::RunTimesRecalled(const Books& books, const ev::RunTimesRecalled& event) {
  if (event.windows) maintenance_.Expect();
  if (Learns()) backfill_.Recall(event.rows, books.now);
}

size_t FairPolicy::PromisesIn(const Books& books, QueueId leaf) const {
  size_t count = 0;
  backfill_.ForEach([&](NodeIndex, const Promise& one) { count += books.apps[one.app].leaf == leaf ? 1 : 0; });
  return count;
}

/// How many asks of the leaf that come before the application, or are its own, have a promise.
size_t FairPolicy::PromisesBefore(const Books& books, AppSlot slot) const {
  size_t count = 0;
  backfill_.ForEach([&](NodeIndex, const Promise& one) {
    if (books.apps[one.app].leaf != books.apps[slot].leaf) return;
    if (one.app == slot || order_.Before(books.apps[slot].leaf, one.app, slot)) ++count;
  });
  return count;
}

void FairPolicy::MakePromise(Core& core, AppSlot slot, const Ask& ask) {
  const Books& books = core.books();
  const App& app = books.apps[slot];
  if (backfill_.Of(ask.serial) || ask.gang != 0) return;
  if (FindLimit(books, app, books.shapes[ask.shape].size).kind != Limit::Kind::kFree) return;
  const Finder finder(books, config_);
  backfill_.Make(In(books), slot, ask, [&](NodeIndex node) { return finder.MayReserve(app, ask, node); });
}

/// The first asks of every leaf that find no room have a promise. One that was not tried yet in this pass counts as one
/// of the first. O(waiting applications), while something is blocked.
void FairPolicy::MakePromises(Core& core) {
  Books& books = core.books();
  backfill_.ForgetUnknown();
  if (books.shapes.tight().empty() && passed_over_.empty()) return;
  std::vector<std::vector<AppSlot>> waiting(books.queues.size());
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    if (!app.runnable || !app.active || app.pending.IsZero()) continue;
    if (app.needs_master && order_.MastersClosed(app.leaf)) continue;
    waiting[app.leaf.value].push_back(slot);
  }
  for (const QueueId leaf : books.queues) {
    std::vector<AppSlot>& line = waiting[leaf.value];
    const auto before = [&](AppSlot a, AppSlot b) { return order_.Before(leaf, a, b); };
    size_t seen = 0;
    while (!line.empty() && seen < backfill_.most_a_queue()) {
      const auto first = std::min_element(line.begin(), line.end(), before);
      for (const Ask& ask : books.apps[*first].asks) {
        if (seen == backfill_.most_a_queue() || ask.count == 0 || (ask.park != Park::kNo && ask.park != Park::kAny))
          continue;
        const App& app = books.apps[*first];
        if (FindLimit(books, app, books.shapes[ask.shape].size).kind != Limit::Kind::kFree) continue;
        ++seen;
        if (books.shapes[ask.shape].blocked || ask.park == Park::kAny) MakePromise(core, *first, ask);
      }
      line.erase(first);
    }
  }
}

/// Those whose promised start has come are tried again: what was placed beside them may have been in the way.
void FairPolicy::WakePromised(Core& core) {
  std::vector<Waiting> due;
  backfill_.ForEach([&](NodeIndex, const Promise& one) {
    if (one.start <= core.books().now) due.emplace_back(one.app, one.ask);
  });
  Wake(core, due, Park::kAny);
}

/// Asks that a promise kept from a node are tried again, those that fit there. Not valid: all of them.
void FairPolicy::WakePassedOver(Core& core, NodeIndex node) {
  std::vector<Waiting> woken;
  const Books& books = core.books();
  std::erase_if(passed_over_, [&](const Waiting& one) {
    const Ask* ask = books.apps.FindAsk(one.first, one.second);
    if (ask && node.valid() && !books.nodes[node].Holds(books.shapes[ask->shape].size)) return false;
    woken.push_back(one);
    return true;
  });
  Wake(core, woken, Park::kAny);
}

}  // namespace fairlead::scheduler::native
