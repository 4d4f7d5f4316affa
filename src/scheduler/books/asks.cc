#include <algorithm>
#include <array>
#include <set>

#include "scheduler/books/core.h"

// What applications ask for, exclude and take back: checked as a whole, then applied.

namespace fairlead::scheduler::native {

using model::Refusal;

namespace {

constexpr size_t kMostLabels = 4096;
/// An ask that names more places than this forgets those where it wants nothing any more.
constexpr size_t kManyPlaces = 1024;

bool Outlandish(const model::Ask& ask) { return ask.count < 0 || ask.name.empty() || ask.name.size() > kLongestName; }

}  // namespace

Resources Core::Normalized(Resources size) const {
  for (size_t t = 0; t < books_.types; ++t) {
    size[t] = std::max(size[t], books_.config.minimum_allocation[t]);
    const int64_t step = books_.config.increment[t];
    if (step > 0) size[t] = (size[t] + step - 1) / step * step;
  }
  return size;
}

void Core::On(const ev::Allocate& event) {
  const AppSlot slot = books_.apps.Find(event.app);
  if (!slot.valid()) return Refuse(event.token, {Refusal::kAttemptEnded, {}, {}, {}});
  if (!policy_->SetsSizes()) return Take(slot, event);
  ev::Allocate call = event;
  for (model::Ask& ask : call.asks) ask.capability = policy_->SizeOf(books_, slot, ask);
  Take(slot, call);
}

void Core::Take(AppSlot slot, const ev::Allocate& event) {
  if (model::Refused refused = CheckAsks(books_.apps[slot], event)) return Refuse(event.token, std::move(refused));
  answers_.emplace_back(event.app, event.token);
  for (const model::ContainerId& id : event.releases) {
    const ContainerSlot container = books_.containers.Find(id);
    // An application releases what is its own, and has heard of it.
    if (!container.valid() || books_.containers[container].app != slot) continue;
    books_.containers.SetAcquired(container);
    Finish(container, model::kExitAborted, "Container released by application");
  }
  for (const ev::Loss& loss : event.losses) {
    const ContainerSlot container = books_.containers.Find(loss.container);
    if (!container.valid() || books_.containers[container].app != slot) continue;
    books_.containers.SetLoss(container, loss.lost, books_.now);
  }
  ChangeExclusions(slot, event);
  for (const model::Ask& ask : event.asks) ApplyAsk(slot, ask);
  for (const ev::AskExclusions& key : event.exclusions) ExcludeFor(slot, key);
  DropIdleAsks(slot);
  AsksChanged(slot);
}

model::Refused Core::CheckAsks(const App& app, const ev::Allocate& event) const {
  Resources all = app.pending;
  for (const model::Ask& ask : event.asks) {
    if (Outlandish(ask)) return {Refusal::kBadCount, {ask.name.substr(0, kLongestName)}, {}, {ask.count}};
    if (ask.count == 0) continue;
    if (!ask.label.empty() && !books_.nodes.FindLabel(ask.label).valid() && books_.nodes.labels() >= kMostLabels) {
      return {Refusal::kTooManyLabels, {ask.label.substr(0, 64)}, {}, {kMostLabels}};
    }
    if (ask.capability.AnyNegative() || ask.capability.IsZero()) {
      return {Refusal::kEmptySize, {}, {ask.capability}, {}};
    }
    if (model::Refused refused = CheckSize(app.leaf, ask.capability)) return refused;
    for (size_t t = 0; t < Resources::kMaxTypes; ++t) {
      const int64_t amount = ask.capability[t];
      if (t >= books_.types && amount > 0) return {Refusal::kUnknownType, {}, {ask.capability}, {}};
      if (amount >= kLargestSum / std::max(1, ask.count) ||
          (ask.name == "*" && (all[t] += amount * ask.count) >= kLargestSum)) {
        return {Refusal::kTooMuch, {}, {ask.capability}, {ask.count}};
      }
    }
  }
  return TooManyKeys(app, event);
}

model::Refused Core::CheckSize(QueueId leaf, const Resources& size) const {
  const Resources& largest = books_.config.maximum_allocation;
  const std::optional<Resources> of_queue = books_.queues.ContainerMaximum(leaf);
  for (size_t t = 0; t < books_.types; ++t) {
    const bool above = (largest[t] > 0 && size[t] > largest[t]) || (of_queue && size[t] > (*of_queue)[t]);
    if (!above) continue;
    const std::string type(model::ResourceTypes::Name(t));
    return {Refusal::kAboveMaximum, {type}, {size, of_queue.value_or(largest), largest}, {}};
  }
  return {};
}

model::Refused Core::TooManyKeys(const App& app, const ev::Allocate& event) const {
  size_t places = event.asks.size();
  for (const Ask& ask : app.asks) places += ask.places.size() + ask.excluded.size();
  for (const ev::AskExclusions& key : event.exclusions) places += key.places.size();
  if (std::max(places, app.excluded.size() + event.blacklist_add.size()) >
      static_cast<size_t>(books_.config.places_per_app)) {
    return {Refusal::kTooManyPlaces, {}, {}, {books_.config.places_per_app}};
  }
  if (app.asks.size() + event.asks.size() <= static_cast<size_t>(books_.config.sizes_per_app)) return {};
  using Key = std::pair<std::pair<int32_t, int64_t>, std::pair<std::array<int64_t, Resources::kMaxTypes>, std::string>>;
  std::set<Key> keys;
  std::set<std::pair<std::array<int64_t, Resources::kMaxTypes>, std::string>> sizes;
  const auto note = [&](int32_t priority, int64_t id, const Resources& size, const std::string& label) {
    keys.insert({{priority, id}, {size.amount, label}});
    sizes.insert({size.amount, label});
  };
  for (const Ask& ask : app.asks) {
    if (ask.count == 0) continue;
    const Shape& shape = books_.shapes[ask.shape];
    note(ask.priority, ask.request_id, shape.size, books_.nodes.LabelName(shape.label));
  }
  for (const model::Ask& ask : event.asks) {
    if (ask.count > 0) note(ask.priority, ask.allocation_request_id, Normalized(ask.capability), ask.label);
  }
  if (keys.size() > static_cast<size_t>(books_.config.keys_per_app)) {
    return {Refusal::kTooManyKeys, {}, {}, {books_.config.keys_per_app}};
  }
  if (sizes.size() > static_cast<size_t>(books_.config.sizes_per_app)) {
    return {Refusal::kTooManySizes, {}, {}, {books_.config.sizes_per_app}};
  }
  return {};
}

void Core::ChangeExclusions(AppSlot slot, const ev::Allocate& event) {
  if (event.blacklist_add.empty() && event.blacklist_remove.empty()) return;
  std::vector<PlaceId> excluded = books_.apps[slot].excluded;
  const auto position = [&excluded](PlaceId place) {
    return std::lower_bound(excluded.begin(), excluded.end(), place);
  };
  for (const std::string& name : event.blacklist_add) {
    if (name.size() > kLongestName) continue;  // no node has such a name
    const PlaceId place = books_.places.Mention(name);
    if (const auto at = position(place); at == excluded.end() || *at != place) {
      excluded.insert(at, place);
    } else {
      books_.places.Forget(place);
    }
  }
  for (const std::string& name : event.blacklist_remove) {
    const PlaceId place = books_.places.Find(name);
    const auto at = position(place);
    if (at == excluded.end() || *at != place) continue;
    excluded.erase(at);
    books_.places.Forget(place);
  }
  books_.apps.SetExcluded(slot, std::move(excluded));
  // What may be placed differs now: every ask of the application is tried again.
  for (Ask& ask : books_.apps.asks(slot)) {
    if (ask.park != Park::kNo && ask.park != Park::kGang) SetPark(slot, ask, Park::kNo);
  }
  books_.gangs.NoteRoom();
}

void Core::ExcludeFor(AppSlot slot, const ev::AskExclusions& key) {
  for (Ask& ask : books_.apps.asks(slot)) {
    if (ask.priority != key.priority || ask.request_id != key.allocation_request_id) continue;
    for (const PlaceId place : ask.excluded) books_.places.Forget(place);
    ask.excluded.clear();
    for (const std::string& name : key.places) {
      if (name.size() <= kLongestName) ask.excluded.push_back(books_.places.Mention(name));
    }
    std::sort(ask.excluded.begin(), ask.excluded.end());
  }
  books_.gangs.NoteRoom();
}

void Core::ApplyAsk(AppSlot slot, const model::Ask& wanted) {
  if (!books_.apps[slot].active) return;
  ShapeKey key{Normalized(wanted.capability), books_.nodes.FindLabel(wanted.label)};
  // Taking back what was never asked makes nothing.
  if (wanted.count == 0 && !books_.shapes.Knows(key)) return;
  if (wanted.count > 0) key.label = books_.nodes.LabelFor(wanted.label);
  const ShapeId shape = books_.shapes.For(key);
  Ask& ask = OpenAsk(slot, wanted, shape);
  if (wanted.name == "*") {
    ask.relax_any = wanted.relax_locality;
    SetCount(slot, ask, wanted.count);
  } else {
    NamePlace(ask, wanted);
  }
}

Ask& Core::OpenAsk(AppSlot slot, const model::Ask& key, ShapeId shape) {
  const auto [ask, fresh] = books_.apps.AskFor(slot, key, shape, books_.next_serial);
  if (fresh) {
    ++books_.next_serial;
    books_.shapes.Use(shape);
  }
  if (ask->gang != 0) {
    EnterGang(slot, *ask);
  } else if (ask->park != Park::kNo) {
    SetPark(slot, *ask, Park::kNo);
  }
  return *ask;
}

void Core::NamePlace(Ask& ask, const model::Ask& wanted) {
  PlaceId place = wanted.count > 0 ? books_.places.Mention(wanted.name) : books_.places.Find(wanted.name);
  if (!place.valid()) return;
  const auto at = std::lower_bound(ask.places.begin(), ask.places.end(), place,
                                   [](const NamedPlace& one, PlaceId id) { return one.place < id; });
  if (at != ask.places.end() && at->place == place) {
    at->count = wanted.count;
    at->relax = wanted.relax_locality;
    if (wanted.count > 0) books_.places.Forget(place);  // mentioned once an ask
  } else if (wanted.count > 0) {
    ask.places.insert(at,
                      NamedPlace{place, wanted.count, wanted.name.front() == '/', wanted.relax_locality, ask.lines++});
    if (ask.waiter.valid()) books_.places.StandAt(place, ask.waiter);
  }
}

void Core::SetCount(AppSlot slot, Ask& ask, int32_t count) {
  if (ask.count == count) return;
  const Resources change = books_.shapes[ask.shape].size * (int64_t{count} - ask.count);
  books_.apps.AddPending(slot, change);
  AddDemand(books_.apps[slot].leaf, change);
  if (ask.count == 0) {
    ask.since = books_.now;
    ask.refusing_since = Instant::Max();
    WantShape(ask.shape, 1);
  }
  ask.count = count;
  if (count == 0) WantShape(ask.shape, -1);
  UnreserveSurplus(slot, ask);
}

void Core::WantShape(ShapeId shape, int change) {
  if (change < 0) {
    books_.shapes.Unwant(shape);
  } else if (const uint64_t classes = books_.shapes.Want(shape)) {
    policy_->ClassesChanged(books_, classes);
  }
}

/// As Hadoop's LocalityAppPlacementAllocator counts: at the node's host (if node-local), its rack (unless off-switch)
/// and everywhere. Demand does not change: what was pending is used now.
void Core::CountGrant(AppSlot slot, Ask& ask, const Spot& spot) {
  books_.apps.AddPending(slot, -books_.shapes[ask.shape].size);
  if (--ask.count == 0) WantShape(ask.shape, -1);
  UnreserveSurplus(slot, ask);
  CountAtPlaces(ask, spot.node, spot.locality, -1);
  if (spot.place != SIZE_MAX) ask.cursor = static_cast<uint32_t>(spot.place);
}

void Core::CountAtPlaces(Ask& ask, NodeIndex index, Locality locality, int32_t change) {
  if (locality == Locality::kOffSwitch || ask.places.empty()) return;
  const Node& node = books_.nodes[index];
  for (NamedPlace& one : ask.places) {
    const bool meant = one.place == node.rack || (locality == Locality::kNodeLocal && one.place == node.host);
    if (meant) one.count = std::max(0, one.count + change);
  }
}

/// As AbstractYarnScheduler.recoverResourceRequestForContainer: what ends before its master has heard of it is asked
/// for again, since that master still counts on it.
void Core::AskAgain(AppSlot slot, const Container& lost) {
  model::Ask key;
  key.priority = lost.priority;
  key.allocation_request_id = lost.request_id;
  for (const Ask& ask : books_.apps[slot].asks) {
    const bool same = ask.priority == lost.priority && ask.request_id == lost.request_id && ask.shape == lost.shape;
    if (same) key.gang = ask.gang;
  }
  Ask& ask = OpenAsk(slot, key, lost.shape);
  SetCount(slot, ask, ask.count + 1);
  CountAtPlaces(ask, lost.node, lost.locality, 1);
  AsksChanged(slot);
}

/// Drops reservations that the ask no longer has a use for.
void Core::UnreserveSurplus(AppSlot slot, const Ask& ask) {
  for (uint32_t i = 0; ask.count < ask.reserved && i < books_.reservations.slots(); ++i) {
    const ReservationId id{i};
    if (!books_.reservations.Has(id)) continue;
    if (books_.reservations[id].app == slot && books_.reservations[id].ask == ask.serial) Unreserve(id);
  }
}

void Core::DropIdleAsks(AppSlot slot) {
  std::vector<Ask>& asks = books_.apps.asks(slot);
  for (Ask& ask : asks) {
    if (ask.places.size() <= kManyPlaces) continue;
    std::erase_if(ask.places, [&](const NamedPlace& one) {
      if (one.count == 0) books_.places.Forget(one.place);
      return one.count == 0;
    });
    ask.cursor = 0;
  }
  std::erase_if(asks, [&](const Ask& ask) {
    if (ask.count > 0) return false;
    for (const NamedPlace& one : ask.places) {
      if (one.count > 0) return false;
    }
    ForgetAsk(ask);
    return true;
  });
}

void Core::DropAsks(AppSlot slot) {
  for (Ask& ask : books_.apps.asks(slot)) {
    SetCount(slot, ask, 0);
    ForgetAsk(ask);
  }
  books_.apps.asks(slot).clear();
  books_.apps.RecountClasses(slot, books_.shapes);
  books_.gangs.RemoveOf(slot);
}

void Core::ForgetAsk(const Ask& ask) {
  books_.shapes.Drop(ask.shape);
  if (ask.waiter.valid()) books_.places.RemoveWaiter(ask.waiter);
  for (const NamedPlace& one : ask.places) books_.places.Forget(one.place);
  for (const PlaceId place : ask.excluded) books_.places.Forget(place);
}

void Core::AsksChanged(AppSlot slot) {
  books_.apps.RecountClasses(slot, books_.shapes);
  policy_->AppChanged(books_, slot);
  policy_->QueueChanged(books_, books_.apps[slot].leaf);
}

void Core::SetPark(AppSlot slot, Ask& ask, Park park) {
  ask.park = park;
  if (ask.waiter.valid()) books_.places.Wait(ask.waiter, WaitsFor::kNothing);
  AsksChanged(slot);
}

void Core::WaitForPlaces(AppSlot slot, Ask& ask, WaitsFor what) {
  if (!ask.waiter.valid()) {
    ask.waiter = books_.places.AddWaiter(slot, ask.serial);
    for (const NamedPlace& one : ask.places) books_.places.StandAt(one.place, ask.waiter);
  }
  SetPark(slot, ask, Park::kPlace);
  books_.places.Wait(ask.waiter, what);
}

}  // namespace fairlead::scheduler::native
