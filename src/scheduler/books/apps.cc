#include "scheduler/books/apps.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace fairlead::scheduler::native {

AppSlot Apps::Add(const model::scheduler::AppAdded& event, QueueId leaf, UserId user, std::vector<UserId> groups) {
  if (event.app.value >= by_index_.size()) by_index_.resize(event.app.value + 1);
  FL_CHECK(!by_index_[event.app.value].valid(), "an application index is used once");
  const AppSlot slot = apps_.Add();
  by_index_[event.app.value] = slot;
  App& app = apps_[slot];
  app.index = event.app;
  app.id = event.id;
  app.unmanaged = event.unmanaged;
  app.needs_master = !event.unmanaged;
  app.priority = event.priority;
  app.leaf = leaf;
  app.user = user;
  app.groups = std::move(groups);
  return slot;
}

void Apps::Remove(AppSlot slot) {
  by_index_[apps_[slot].index.value] = AppSlot{};
  apps_.Remove(slot);
}

void Apps::StartAttempt(AppSlot slot, int32_t attempt) {
  App& app = apps_[slot];
  app.attempt = attempt;
  app.next_sequence = 0;
  app.active = true;
  app.needs_master = !app.unmanaged;
}

model::ContainerId Apps::NextId(AppSlot slot, int64_t epoch) {
  App& app = apps_[slot];
  return {{app.id, app.attempt}, (epoch << 40) | ++app.next_sequence};
}

void Apps::SawSequence(AppSlot slot, int64_t sequence) {
  apps_[slot].next_sequence = std::max(apps_[slot].next_sequence, sequence);
}

Ask* Apps::FindAsk(AppSlot slot, uint64_t serial) {
  if (slot.value >= apps_.size()) return nullptr;
  for (Ask& ask : apps_[slot].asks) {
    if (ask.serial == serial) return &ask;
  }
  return nullptr;
}

std::pair<Ask*, bool> Apps::AskFor(AppSlot slot, const model::Ask& wanted, ShapeId shape, uint64_t serial) {
  std::vector<Ask>& asks = apps_[slot].asks;
  const auto key = std::tuple(wanted.priority, wanted.allocation_request_id, shape, wanted.gang);
  const auto key_of = [](const Ask& ask) { return std::tuple(ask.priority, ask.request_id, ask.shape, ask.gang); };
  auto at =
      std::lower_bound(asks.begin(), asks.end(), key, [&](const Ask& ask, const auto& k) { return key_of(ask) < k; });
  if (at != asks.end() && key_of(*at) == key) return {&*at, false};
  Ask ask;
  ask.priority = wanted.priority;
  ask.request_id = wanted.allocation_request_id;
  ask.shape = shape;
  ask.gang = wanted.gang;
  ask.serial = serial;
  return {&*asks.insert(at, std::move(ask)), true};
}

void Apps::RecountClasses(AppSlot slot, const Shapes& shapes) {
  App& app = apps_[slot];
  app.classes = 0;
  for (const Ask& ask : app.asks) {
    if (ask.open()) app.classes |= shapes.ClassOf(ask.shape);
  }
}

namespace {

void MixAsk(base::StateHasher& hash, const Ask& ask) {
  hash.Mix(static_cast<uint64_t>(ask.priority));
  hash.Mix(static_cast<uint64_t>(ask.request_id));
  hash.Mix(ask.shape.value);
  hash.Mix(static_cast<uint64_t>(ask.count));
  hash.Mix(uint64_t{ask.relax_any} * 8 + static_cast<uint64_t>(ask.park));
  hash.Mix(ask.waiter.value);
  hash.Mix(ask.cursor);
  hash.Mix(static_cast<uint64_t>(ask.gang));
  hash.Mix(ask.serial);
  hash.Mix(static_cast<uint64_t>(ask.reserved));
  hash.Mix(static_cast<uint64_t>(ask.since.ns));
  hash.Mix(static_cast<uint64_t>(ask.refusing_since.ns));
  for (const NamedPlace& place : ask.places) {
    hash.Mix(place.place.value);
    hash.Mix(static_cast<uint64_t>(place.count));
    hash.Mix(uint64_t{place.rack} * 2 + uint64_t{place.relax});
    hash.Mix(place.line);
  }
  for (const PlaceId place : ask.excluded) hash.Mix(place.value);
}

}  // namespace

void Apps::Mix(base::StateHasher& hash) const {
  const auto mix = [&](const model::Resources& amounts) {
    for (const int64_t amount : amounts.amount) hash.Mix(static_cast<uint64_t>(amount));
  };
  for (const AppSlot slot : apps_) {
    const App& app = apps_[slot];
    hash.Mix(slot.value);
    hash.Mix(uint64_t{app.runnable} * 8 + uint64_t{app.active} * 4 + uint64_t{app.unmanaged} * 2 +
             uint64_t{app.needs_master});
    hash.Mix(app.index.value);
    hash.Mix(app.leaf.value);
    hash.Mix(static_cast<uint64_t>(app.priority));
    hash.Mix(static_cast<uint64_t>(app.attempt));
    hash.Mix(app.containers.first().value);
    mix(app.used);
    mix(app.pending);
    mix(app.master_used);
    hash.Mix(static_cast<uint64_t>(app.next_sequence));
    hash.Mix(static_cast<uint64_t>(app.id.cluster_timestamp));
    hash.Mix(static_cast<uint64_t>(app.id.number));
    hash.Mix(app.user.value);
    for (const UserId group : app.groups) hash.Mix(group.value);
    for (const PlaceId place : app.excluded) hash.Mix(place.value);
    for (const Ask& ask : app.asks) MixAsk(hash, ask);
  }
  for (const uint32_t spare : apps_.numbers().spare()) hash.Mix(spare);
}

}  // namespace fairlead::scheduler::native
