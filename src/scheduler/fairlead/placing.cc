#include <algorithm>

#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/measured_finder.h"
#include "scheduler/fairlead/overcommit.h"
#include "scheduler/fairlead/policy.h"

// Placing: from the root to the first ask in order that can be served, until none is left.

namespace fairlead::scheduler {

std::unique_ptr<Scheduler> MakeFairlead(const FairleadConfig& config) {
  return std::make_unique<native::Core>(config, std::make_unique<native::FairPolicy>(config));
}

namespace native {
namespace {

/// How often reservations and preemption are looked at while asks wait, at least.
constexpr base::Duration kReviewInterval = base::Duration::Seconds(1);

}  // namespace

void FairPolicy::TreeChanged(const Books& books, const TreeChange& change) {
  order_.TreeChanged(books, change);
  if (starving_since_.size() <= change.queue.value) starving_since_.resize(change.queue.value + 1);
  starving_since_[change.queue.value] = Instant::Max();
}

void FairPolicy::Place(Core& core) {
  if (!busy_.empty()) ForgetStale(core);
  if (forecast_.any()) CheckOffers(core);
  if (order_.past_use().on()) order_.CountPast(core.books());
  if (budgets_.on()) BeginPeriods(core.books());
  if (backfill_.on() && backfill_.Replan(In(core.books()))) WakePassedOver(core, {});
  PlaceInOrder(core);
  if (core.PlaceGangs()) PlaceInOrder(core);
  if (core.books().now >= review_at_) {
    Review(core);
    PlaceInOrder(core);
  }
  if (backfill_.on()) MakePromises(core);
  if (review_at_ == Instant::Max() && !core.books().shapes.tight().empty()) {
    const base::Duration preemption = config_.preemption.enabled ? config_.preemption.interval : kReviewInterval;
    review_at_ = core.books().now + std::min(kReviewInterval, preemption);
  }
}

void FairPolicy::PlaceInOrder(Core& core) {
  Books& books = core.books();
  if (books.users.AnyFreed()) {
    for (const UserId user : books.users.TakeFreed()) {
      if (auto waiting = user_waiters_.extract(user)) Wake(core, waiting.mapped(), Park::kUser);
    }
  }
  // A reservation whose node has room, but whose queue was at a limit, is served as soon as the limit allows.
  for (uint32_t i = 0; books.reservations.count() > 0 && i < books.reservations.slots(); ++i) {
    if (!books.reservations.Has(ReservationId{i})) continue;
    const NodeIndex node = books.reservations[ReservationId{i}].node;
    if (!books.nodes[node].free().AnyNegative()) ServeReservations(core, node);
  }
  do {
    PublishChanged(core);
    PlaceServable(core);
  } while (books.nodes.AnyChanged());  // a reservation that was dropped gave room back
  Wake(core, round_waiters_, Park::kRound);
}

void FairPolicy::PlaceServable(Core& core) {
  const Books& books = core.books();
  while (uint64_t servable = books.shapes.servable() & order_.Classes(books)) {
    const AppSlot slot = order_.First(books, servable);
    PlaceFrom(core, slot, servable);
  }
}

/// Tries the application's first ask that may be servable. Whatever comes of it changes the state, so that the next
/// search finds something else.
void FairPolicy::PlaceFrom(Core& core, AppSlot slot, uint64_t servable) {
  Books& books = core.books();
  for (Ask& ask : books.apps.asks(slot)) {
    if (!ask.open() || books.shapes[ask.shape].blocked || !(servable & books.shapes.ClassOf(ask.shape))) continue;
    TryAsk(core, slot, ask);
    return;
  }
  // Another shape of the same class is servable, none of this application.
  for (Ask& ask : books.apps.asks(slot)) {
    if (!ask.open() || !(servable & books.shapes.ClassOf(ask.shape))) continue;
    round_waiters_.emplace_back(slot, ask.serial);
    core.SetPark(slot, ask, Park::kRound);
  }
}

void FairPolicy::TryAsk(Core& core, AppSlot slot, Ask& ask) {
  Books& books = core.books();
  const App& app = books.apps[slot];
  const Limit limit = FindLimit(books, app, books.shapes[ask.shape].size);
  if (limit.kind != Limit::Kind::kFree) {
    Refuse(core, slot, ask, limit);
    return;
  }
  if (!books.shapes[ask.shape].exact) {
    for (const NamedPlace& one : ask.places) {
      if (one.rack && one.count > 0) books.nodes.IndexRack(one.place, books.places);
    }
  }
  if (backfill_.on() || maintenance_.any()) return TryBesidePromises(core, slot, ask);
  if (forecast_.any()) return TryByMeasures(core, slot, ask);
  const Found found = Finder(books, config_).Find(app, ask, books.now);
  if (found.verdict == Found::Verdict::kFound) {
    core.Grant(slot, ask, found.spot);
  } else {
    Wait(core, slot, ask, found);
  }
}

/// The same while nodes tell what they use.
void FairPolicy::TryByMeasures(Core& core, AppSlot slot, Ask& ask) {
  Books& books = core.books();
  const UseAmounts expected = ExpectedOf(books, slot, ask);
  const Resources size = books.shapes[ask.shape].size;
  const Found found = MeasuredFinder(books, config_, forecast_, expected).Find(books.apps[slot], ask, books.now);
  if (found.verdict == Found::Verdict::kFound) {
    core.Grant(slot, ask, found.spot);
    NoteAbove(books, books.nodes[found.spot.node].containers.first());
    forecast_.Placed(found.spot.node, size, expected);
  } else if (found.verdict == Found::Verdict::kExcluded && found.spot.node.valid()) {
    // What was offered there is expected to be used by now: no more of it until the node's next report.
    const Node& node = books.nodes[found.spot.node];
    Resources extra = node.used - node.capacity;
    for (int64_t& amount : extra.amount) amount = std::max<int64_t>(amount, 0);
    books.nodes.Offer(found.spot.node, extra);
    books.nodes.Publish(found.spot.node);
  } else {
    Wait(core, slot, ask, found);
  }
}

void FairPolicy::Refuse(Core& core, AppSlot slot, Ask& ask, const Limit& limit) {
  const Books& books = core.books();
  if (limit.kind == Limit::Kind::kUserMaximum) {
    user_waiters_[limit.user].emplace_back(slot, ask.serial);
    core.SetPark(slot, ask, Park::kUser);
  } else if (limit.kind != Limit::Kind::kQueueMaximum) {
    order_.CloseMasters(books, books.apps[slot].leaf);
  } else if (books.shapes.AloneInClass(ask.shape)) {
    order_.Block(books, limit.queue, books.shapes.ClassOf(ask.shape));
  } else {
    // The class holds other sizes, which may fit.
    round_waiters_.emplace_back(slot, ask.serial);
    core.SetPark(slot, ask, Park::kRound);
  }
}

void FairPolicy::Wait(Core& core, AppSlot slot, Ask& ask, const Found& found) {
  Books& books = core.books();
  const size_t places = ask.places.size();
  if (places > Finder::kTries) ask.cursor = static_cast<uint32_t>((ask.cursor + Finder::kTries) % places);
  switch (found.verdict) {
    case Found::Verdict::kFound:
      return;
    case Found::Verdict::kNoNodes:
    case Found::Verdict::kNoLabel:
    case Found::Verdict::kNoRoom:
      ask.refusing_since = Instant::Max();  // nothing is left lying for it
      books.shapes.Block(ask.shape, books.now);
      return;
    case Found::Verdict::kExcluded:
      any_waiters_.emplace_back(slot, ask.serial);
      core.SetPark(slot, ask, Park::kAny);
      return;
    case Found::Verdict::kWaiting:
      if (ask.refusing_since == Instant::Max()) ask.refusing_since = books.now;
      books.timers.Push({found.until, TimerKind::kLocality, slot.value, ask.serial});
      [[fallthrough]];
    case Found::Verdict::kStrict:
      core.WaitForPlaces(slot, ask, found.for_host ? WaitsFor::kHost : WaitsFor::kPlace);
      return;
  }
}

void FairPolicy::PublishChanged(Core& core) {
  Books& books = core.books();
  books.nodes.TakeChanged([&](NodeIndex index) {  // serving a reservation may change further ones
    if (!books.nodes[index].alive) return;
    books.nodes.Publish(index);
    if (!books.nodes.TakeFreed(index)) return;
    if (!books.nodes[index].reservations.empty()) ServeReservations(core, index);
    NodeFreed(core, index);
  });
}

void FairPolicy::NodeFreed(Core& core, NodeIndex index) {
  Books& books = core.books();
  const Node& node = books.nodes[index];
  if (!node.open()) return;
  books.gangs.NoteRoom();
  const Resources free = node.free();
  for (size_t i = books.shapes.tight().size(); i-- > 0;) {  // Offer may take the shape out of the list
    const ShapeId id = books.shapes.tight()[i];
    const Shape& shape = books.shapes[id];
    if (shape.size.FitsIn(free) && books.nodes.HasLabel(index, shape.label)) books.shapes.Offer(id, index);
  }
  core.WakeNeighbours(node);
  if (!any_waiters_.empty()) Wake(core, any_waiters_, Park::kAny);
  if (!passed_over_.empty()) WakePassedOver(core, maintenance_.any() ? NodeIndex{} : index);
}

void FairPolicy::Wake(Core& core, std::vector<Waiting>& waiting, Park park) {
  for (const auto& [slot, serial] : std::exchange(waiting, {})) {
    Ask* ask = core.books().apps.FindAsk(slot, serial);
    if (ask && ask->park == park) core.SetPark(slot, *ask, Park::kNo);
  }
}

/// The node got room: its reservations are served in the order in which they were made.
void FairPolicy::ServeReservations(Core& core, NodeIndex index) {
  Books& books = core.books();
  const std::vector<ReservationId> ids = books.nodes[index].reservations;
  for (const ReservationId id : ids) {
    if (!books.reservations.Has(id) || books.reservations[id].node != index) continue;
    const Node& node = books.nodes[index];
    const Reservation one = books.reservations[id];
    if (!node.open() || !one.size.FitsIn(node.free() + one.size)) continue;
    Ask* ask = books.apps.FindAsk(one.app, one.ask);
    const App& app = books.apps[one.app];
    if (!ask || ask->count == 0 || !app.runnable || !app.active) continue;
    if (forecast_.any()) {
      const MeasuredFinder finder(books, config_, forecast_, ExpectedOf(books, one.app, *ask));
      if (!finder.Takes(app, books.shapes[ask->shape], index)) continue;
    }
    if (FindLimit(books, app, one.size).kind != Limit::Kind::kFree) continue;
    if (maintenance_.any() && !EndsBeforeWindow(books, one.app, *ask, index)) continue;
    core.Unreserve(id);
    core.Grant(one.app, *ask, SpotOn(books, *ask, index), &one.id);
    if (forecast_.any()) NoteAbove(books, books.nodes[index].containers.first());
    order_.RefreshPath(books, app.leaf);
  }
}

void FairPolicy::VisitRoom(const Books& books, const Shape& shape, const std::function<bool(NodeIndex)>& visit) const {
  const Partition& partition = books.nodes.partition(shape.label);
  for (uint32_t at = partition.index.FindFrom(0, shape.size); at != FreeIndex::kNone;
       at = partition.index.FindFrom(at + 1, shape.size)) {
    const NodeIndex node = partition.nodes[at];
    if (maintenance_.Allows(node, books.now, kForever) && !visit(node)) return;
  }
}

ev::Pending FairPolicy::GangLimit(const Books& books, AppSlot slot, int64_t gang) const {
  const App& app = books.apps[slot];
  Resources all;
  for (const Ask& ask : app.asks) {
    if (ask.gang == gang) all += books.shapes[ask.shape].size * ask.count;
  }
  const Limit limit = budgets_.FindLimit(books, app, all, false);
  if (limit.kind == Limit::Kind::kFree) return {};
  ev::Pending out;
  if (limit.kind == Limit::Kind::kUserMaximum) {
    const User& user = books.users[limit.user];
    out.reason = ev::PendingReason::kUserMaximum;
    out.detail = InWords(user.name) + " uses " + model::InWords(user.used) + " of at most " +
                 model::InWords(*user.most) + " in all queues; the whole gang does not fit";
    out.remedy = "raise maxResources of " + InWords(user.name) + ", or ask for a smaller gang";
    return out;
  }
  out.reason = ev::PendingReason::kQueueMaximum;
  const Queue& queue = books.queues[limit.queue];
  if (budgets_.on() && budgets_.Spent(queue.name, true)) {
    out.detail = "the hard budget of " + queue.name + " is spent: " + budgets_.TextOf(queue.name);
    out.remedy = "wait for the next period, or raise fairlead.scheduler.fairness.budgets";
    return out;
  }
  out.detail =
      "the whole gang does not fit under the maximum " + model::InWords(queue.high) + " of queue " + queue.name;
  out.remedy = "raise maxResources of " + queue.name + ", or ask for a smaller gang";
  return out;
}

void FairPolicy::Mix(base::StateHasher& hash) const {
  order_.Mix(hash);
  busy_.Mix(hash);
  forecast_.Mix(hash);
  learner_.Mix(hash);
  backfill_.Mix(hash);
  budgets_.Mix(hash);
  maintenance_.Mix(hash);
  const auto mix = [&hash](const std::vector<Waiting>& waiting) {
    hash.Mix(waiting.size());
    for (const auto& [slot, serial] : waiting) {
      hash.Mix(slot.value);
      hash.Mix(serial);
    }
  };
  mix(any_waiters_);
  mix(round_waiters_);
  for (const auto& [user, waiting] : user_waiters_) {
    hash.Mix(user.value);
    mix(waiting);
  }
  hash.Mix(static_cast<uint64_t>(review_at_.ns));
  hash.Mix(static_cast<uint64_t>(last_preemption_.ns));
  for (const Instant since : starving_since_) hash.Mix(static_cast<uint64_t>(since.ns));
}

}  // namespace native
}  // namespace fairlead::scheduler
