#include "scheduler/books/places.h"

#include <algorithm>

namespace fairlead::scheduler::native {

PlaceId Places::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? PlaceId{} : it->second;
}

PlaceId Places::Mention(std::string_view name) {
  PlaceId place = Find(name);
  if (!place.valid()) {
    if (idle_ > kMostIdle) ForgetIdle();
    place = places_.Add();
    places_[place].name = name;
    by_name_.emplace(name, place);
  } else if (places_[place].mentions == 0) {
    --idle_;
  }
  ++places_[place].mentions;
  return place;
}

void Places::Forget(PlaceId place) {
  if (--places_[place].mentions == 0) ++idle_;
}

void Places::ForgetIdle() {
  for (const PlaceId place : places_) {
    if (places_[place].mentions > 0) continue;
    for (const WaiterId waiter : places_[place].waiters) Leave(waiter);
    by_name_.erase(by_name_.find(places_[place].name));
    places_.Remove(place);
  }
  idle_ = 0;
}

WaiterId Places::AddWaiter(AppSlot app, uint64_t serial) {
  const WaiterId id = waiters_.Add();
  waiters_[id].app = app;
  waiters_[id].serial = serial;
  waits_for_.resize(waiters_.size());
  waits_for_[id.value] = WaitsFor::kNothing;
  return id;
}

void Places::StandAt(PlaceId place, WaiterId waiter) {
  places_[place].waiters.push_back(waiter);
  ++waiters_[waiter].entries;
}

/// One place less; who is gone and stands nowhere any more is forgotten.
void Places::Leave(WaiterId waiter) {
  if (--waiters_[waiter].entries == 0 && waits_for_[waiter.value] == WaitsFor::kGone) waiters_.Remove(waiter);
}

void Places::RemoveWaiter(WaiterId waiter) {
  waits_for_[waiter.value] = WaitsFor::kGone;
  if (waiters_[waiter].entries == 0) waiters_.Remove(waiter);
}

std::string Places::Check(const std::vector<uint32_t>& mentions, const std::vector<bool>& alive) const {
  if (by_name_.size() != places_.count()) return "places by name";
  std::vector<uint32_t> entries(waiters_.size());
  size_t idle = 0;
  for (const PlaceId place : places_) {
    if (places_[place].mentions != mentions[place.value]) return "mentions of " + places_[place].name;
    idle += places_[place].mentions == 0 ? 1 : 0;
    for (const WaiterId waiter : places_[place].waiters) ++entries[waiter.value];
  }
  if (idle != idle_) return "places that nobody mentions";
  for (const WaiterId waiter : waiters_) {
    if (waiters_[waiter].entries != entries[waiter.value] ||
        (waits_for_[waiter.value] != WaitsFor::kGone) != alive[waiter.value]) {
      return "waiter " + std::to_string(waiter.value) + ": entries";
    }
  }
  return "";
}

void Places::Mix(base::StateHasher& hash) const {
  for (const PlaceId place : places_) {
    hash.Mix(place.value);
    hash.Mix(places_[place].name);
    hash.Mix(places_[place].mentions);
    for (const NodeIndex node : places_[place].nodes) hash.Mix(node.value);
    for (const WaiterId waiter : places_[place].waiters) hash.Mix(waiter.value);
  }
  for (const uint32_t spare : places_.numbers().spare()) hash.Mix(spare);
  for (const WaiterId waiter : waiters_) {
    hash.Mix(waiter.value);
    hash.Mix(waiters_[waiter].app.value);
    hash.Mix(waiters_[waiter].serial);
    hash.Mix(static_cast<uint64_t>(waits_for_[waiter.value]));
  }
}

}  // namespace fairlead::scheduler::native
