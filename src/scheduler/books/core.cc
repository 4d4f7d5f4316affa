#include "scheduler/books/core.h"

#include <algorithm>

#include "base/check.h"
#include "base/prefetch.h"
#include "base/state.h"

// One batch, timers, forks and what is seen from outside of a single application.

namespace fairlead::scheduler::native {

Spot SpotOn(const Books& books, const Ask& ask, NodeIndex node) {
  Spot spot{node};
  for (size_t i = 0; i < ask.places.size(); ++i) {
    if (ask.places[i].count == 0) continue;
    if (ask.places[i].place == books.nodes[node].host) {
      spot.locality = Locality::kNodeLocal;
      spot.place = i;
    } else if (ask.places[i].place == books.nodes[node].rack && spot.locality == Locality::kOffSwitch) {
      spot.locality = Locality::kRackLocal;
    }
  }
  return spot;
}

Core::Core(const BooksConfig& config, std::unique_ptr<Policy> policy)
    : books_(config), policy_(std::move(policy)), total_changed_(true) {
  TellTree();
}

Core::Core(const Core& other)
    : books_(other.books_),
      policy_(other.policy_->Clone()),
      total_changed_(other.total_changed_),
      answers_(other.answers_) {}

std::unique_ptr<Scheduler> Core::Fork() const { return std::unique_ptr<Scheduler>(new Core(*this)); }

std::string Core::State() const {
  std::string out;
  base::WriteState(out, books_);
  base::WriteState(out, total_changed_);
  policy_->WriteState(out);
  return out;
}

bool Core::ReadState(std::string_view bytes) {
  base::Budget budget(base::kStateKind, bytes.size());
  base::ByteReader in(bytes, budget);
  base::ReadState(in, books_);
  base::ReadState(in, total_changed_);
  policy_->ReadState(in);
  return in.done();
}

void Core::Step(Instant now, std::span<const ev::Event> events, EffectSink& out) {
  books_.now = now;
  out_ = &out;
  FireTimers();
  for (const ev::Event& event : events) {
    std::visit([this](const auto& alternative) { On(alternative); }, event);
  }
  if (books_.queues.AnyReopened() || books_.users.AnyReopened()) RunWaiting();
  if (total_changed_) {
    total_changed_ = false;
    books_.queues.ResolveLimits();
    SetUserMaxima();
    books_.gangs.NoteRoom();
    policy_->TotalChanged(books_);
  }
  policy_->Place(*this);
  while (!books_.timers.empty() && !TimerWanted(books_.timers.first())) books_.timers.Pop();
  for (const auto& [app, token] : answers_) {
    const AppSlot slot = books_.apps.Find(app);
    Resources headroom;
    if (slot.valid()) {
      const Nodes& nodes = books_.nodes;
      headroom =
          books_.Headroom(books_.apps[slot], nodes.schedulable() + nodes.closed_used() - books_.queues[kRoot].used);
    }
    Emit(ev::AllocateAnswered{app, token, headroom, books_.nodes.alive()});
  }
  answers_.clear();
  out_ = nullptr;
}

Instant Core::NextDeadline() const {
  const Instant placing = policy_->NextDeadline();
  return books_.timers.empty() ? placing : std::min(placing, books_.timers.first().at);
}

AppSlot Core::SlotOf(AppIndex app) const {
  const AppSlot slot = books_.apps.Find(app);
  FL_CHECK(slot.valid(), "unknown application index");
  return slot;
}

/// The policy learns which queues came and went.
void Core::TellTree() {
  for (const TreeChange& change : books_.queues.TakeChanges()) policy_->TreeChanged(books_, change);
}

/// The cluster's total changed: shares and limits are computed again once, before the next placing.
void Core::TotalChanged() {
  books_.queues.SetTotal(books_.nodes.total());
  total_changed_ = true;
}

bool Core::TimerWanted(const Timer& timer) const {
  switch (timer.kind) {
    case TimerKind::kGangEnds:
      return books_.gangs.Has(timer.serial);
    case TimerKind::kTakeVictims:
    case TimerKind::kReservationEnds:
      return books_.reservations.Has(ReservationId{timer.owner}, timer.serial);
    case TimerKind::kLocality:
      break;
  }
  const Ask* ask = books_.apps.FindAsk(AppSlot{timer.owner}, timer.serial);
  return ask && ask->park == Park::kPlace;
}

void Core::FireTimers() {
  while (!books_.timers.empty() && books_.timers.first().at <= books_.now) {
    const Timer timer = books_.timers.first();
    books_.timers.Pop();
    if (!TimerWanted(timer)) continue;
    switch (timer.kind) {
      case TimerKind::kLocality:
        SetPark(AppSlot{timer.owner}, *books_.apps.FindAsk(AppSlot{timer.owner}, timer.serial), Park::kNo);
        break;
      case TimerKind::kTakeVictims:
        TakeVictims(ReservationId{timer.owner});
        break;
      case TimerKind::kReservationEnds:
        Unreserve(ReservationId{timer.owner});
        break;
      case TimerKind::kGangEnds:
        EndGang(timer.serial);
        break;
    }
  }
}

std::vector<ev::Pending> Core::Why(AppIndex index, Instant now) const {
  std::vector<ev::Pending> reasons;
  const AppSlot slot = books_.apps.Find(index);
  if (!slot.valid()) return reasons;
  for (const Ask& ask : books_.apps[slot].asks) {
    if (ask.count == 0) continue;
    const Shape& shape = books_.shapes[ask.shape];
    const bool gang = ask.gang != 0 && books_.apps[slot].runnable;
    ev::Pending pending = gang ? WhyGang(slot, ask) : policy_->Why(books_, slot, ask, now);
    pending.ask = {
        ask.priority, ask.request_id, "*", ask.relax_any, shape.size, ask.count, books_.nodes.LabelName(shape.label)};
    pending.since = ask.since;
    reasons.push_back(std::move(pending));
  }
  return reasons;
}

/// What the end of a container touches, brought near before it is told: in a large cluster all of it has long left the
/// cache since the container was granted.
void Core::Prefetch(const model::ContainerId& id, int step) const {
  const Containers& containers = books_.containers;
  if (step == 0) return containers.PrefetchEntry(id);
  const ContainerSlot slot = containers.Likely(id);
  if (!slot.valid()) return;
  const Container& container = containers[slot];
  if (step == 1) return base::Prefetch(&container, sizeof(container));
  const Node& node = books_.nodes[container.node];
  const App* app = container.app.valid() ? &books_.apps[container.app] : nullptr;
  if (step == 2) {
    base::PrefetchUpTo(&node, &node.port);
    if (app) base::PrefetchUpTo(app, &app->pending);
    for (const ContainerSlot beside :
         {container.app_next, container.app_previous, container.node_next, container.node_previous}) {
      if (!beside.valid()) continue;
      base::Prefetch(&containers[beside].app_next);
      base::Prefetch(&containers[beside].node_previous);
    }
    return;
  }
  if (step == 3) {
    policy_->PrefetchNode(books_, container.node);
    base::Prefetch(&books_.places[node.host].waiters);
    base::Prefetch(&books_.places[node.rack].waiters);
  } else {
    base::Prefetch(books_.places[node.host].waiters.data());
    base::Prefetch(books_.places[node.rack].waiters.data());
  }
  if (!app) return;
  if (step == 3) return base::PrefetchUpTo(&books_.queues[app->leaf], &books_.queues[app->leaf].low);
  policy_->PrefetchApp(books_, container.app);
}

void Core::On(const ev::Pass&) {
  // Nothing waits for a pass: placing ends every batch, and timers come from NextDeadline().
}

}  // namespace fairlead::scheduler::native
