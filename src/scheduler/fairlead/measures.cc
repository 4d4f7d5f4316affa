#include "model/taken_back.h"
#include "scheduler/fairlead/overcommit.h"
#include "scheduler/fairlead/policy.h"

// What nodes measured: who is overloaded (wish measured-use), what is expected to be used where (measured-load), and
// who offers more than it has (overcommit); what containers of a kind use (learned-use).

namespace fairlead::scheduler::native {

void FairPolicy::NodeMeasured(Core& core, const ev::NodeMeasured& event) {
  const model::Wishes& wishes = core.books().queues.tree().wishes;
  if (wishes.measured_use) TakeBusy(core, event);
  if (wishes.learned_use) {
    learner_.Take(core.books(), event);
    std::vector<model::LearnedUse> rows = learner_.TakeUnstored(core.books().now);
    if (!rows.empty()) core.Emit(ev::UseLearned{std::move(rows)});
  }
  if (!wishes.measured_load && !wishes.overcommit) return;
  forecast_.Take(core.books(), event, wishes.learned_use ? &learner_ : nullptr);
  if (wishes.overcommit) Overcommit(core, event.node);
}

UseAmounts FairPolicy::ExpectedOf(const Books& books, AppSlot slot, const Ask& ask) const {
  const Resources& size = books.shapes[ask.shape].size;
  if (!books.queues.tree().wishes.learned_use || books.apps[slot].needs_master) {
    return {INT64_MAX, INT64_MAX};  // what it books
  }
  return learner_.Expected(books, slot, ask.priority, size);
}

/// A busy node gives up what is kept on it, and nobody waits for it as a place.
void FairPolicy::TakeBusy(Core& core, const ev::NodeMeasured& event) {
  Books& books = core.books();
  const bool was = books.nodes[event.node].busy;
  const bool busy = busy_.Take(books.nodes[event.node], event, books.now);
  if (busy == was) return;
  books.nodes.SetBusy(event.node, busy);
  if (!busy) return;
  while (!books.nodes[event.node].reservations.empty()) core.Unreserve(books.nodes[event.node].reservations.back());
  core.WakeNeighbours(books.nodes[event.node]);
}

/// Nodes whose measures are too old, or all once the wish is off, take containers again.
void FairPolicy::ForgetStale(Core& core) {
  Books& books = core.books();
  for (const NodeIndex node : busy_.TakeStale(books.now, !books.queues.tree().wishes.measured_use)) {
    if (books.nodes.Alive(node)) books.nodes.SetBusy(node, false);
  }
}

void FairPolicy::Overcommit(Core& core, NodeIndex index) {
  Books& books = core.books();
  const UseForecast::Measured* measured = forecast_.Fresh(index, books.now);
  if (measured == nullptr) return;
  BringWithin(books, index);
  for (const ContainerSlot victim : ToReclaim(books, config_.overcommit, index, *measured)) {
    core.Finish(victim, model::kExitPreempted, model::DiagnosticsOf(model::TakenBackFor::kNode));
  }
  const int64_t least_percent = books.queues.tree().wishes.learned_use ? config_.learned_use.least_percent : 100;
  const Resources extra = MayOffer(config_.overcommit, forecast_, books.nodes[index], *measured, least_percent);
  books.nodes.Offer(index, extra);
  if (!extra.IsZero() && offers_checked_at_ == Instant::Max()) {
    offers_checked_at_ = books.now + config_.measured_use.stale;
  }
}

/// Which of them were above the capacity is not known any more: as many as were.
void FairPolicy::ContainerRecovered(Books& books, ContainerSlot slot) {
  const model::Wishes& wishes = books.queues.tree().wishes;
  if (books.containers[slot].is_master) {
    if (wishes.park_masters) order_.KeepMaster(books.containers[slot].app);
    return;
  }
  if (!wishes.overcommit) return;
  const Node& node = books.nodes[books.containers[slot].node];
  books.containers.SetAbove(slot, !node.used.FitsIn(node.capacity));
}

void FairPolicy::CheckOffers(Core& core) {
  Books& books = core.books();
  const model::Wishes& wishes = books.queues.tree().wishes;
  if (wishes.overcommit && books.now < offers_checked_at_) return;
  if (!wishes.measured_load && !wishes.overcommit) forecast_.Forget();
  if (offers_checked_at_ == Instant::Max()) return;
  offers_checked_at_ = Instant::Max();
  for (uint32_t i = 0; i < books.nodes.size(); ++i) {
    const NodeIndex node{i};
    if (!books.nodes.Alive(node) || books.nodes[node].offered == books.nodes[node].capacity) continue;
    if (wishes.overcommit && forecast_.Fresh(node, books.now)) {
      offers_checked_at_ = books.now + config_.measured_use.stale;
    } else {
      books.nodes.Offer(node, {});
    }
  }
}

}  // namespace fairlead::scheduler::native
