#include "scheduler/hadoop/containers.h"

#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::hadoop {

bool Announces(ContainerState state, End end) {
  switch (state) {
    case ContainerState::kAllocated:
      return end == End::kKilled || end == End::kExpired;
    case ContainerState::kAcquired:
      return true;
    case ContainerState::kRunning:
      return end != End::kExpired;
    default:
      return false;
  }
}

int32_t HashOf(const model::ApplicationId& id) {
  const uint32_t hash = 371237u * 6521u + static_cast<uint32_t>(java::HashOfLong(id.cluster_timestamp));
  return java::Wrap(371237u * hash + static_cast<uint32_t>(id.number));
}

int32_t HashOf(const model::ApplicationAttemptId& id) {
  const uint32_t hash = 347671u * 5501u + static_cast<uint32_t>(HashOf(id.app));
  return java::Wrap(347671u * hash + static_cast<uint32_t>(id.attempt));
}

/// ContainerId.hashCode.
int32_t Container::JavaHash() const {
  return java::Wrap(31u * static_cast<uint32_t>(java::HashOfLong(id.value)) +
                    static_cast<uint32_t>(HashOf(id.attempt)));
}

ContainerSlot Containers::Add(AttemptId attempt, AppIndex app, const model::ContainerId& id, NodeIndex node,
                              const RequestKey& key, const model::Resources& size) {
  const ContainerSlot slot = pool_.Add();
  Container& container = pool_[slot];
  container.attempt = attempt;
  container.app = app;
  container.id = id;
  container.node = node;
  container.key = key;
  container.resources = size;
  return slot;
}

void Containers::Append(ContainerSlot slot, Chain& chain, Links Container::*links) {
  pool_[slot].*links = {{}, chain.last_};
  (chain.last_.valid() ? (pool_[chain.last_].*links).next : chain.first_) = slot;
  chain.last_ = slot;
  ++chain.count_;
}

void Containers::Cut(ContainerSlot slot, Chain& chain, Links Container::*links) {
  const Links& own = pool_[slot].*links;
  (own.previous.valid() ? (pool_[own.previous].*links).next : chain.first_) = own.next;
  (own.next.valid() ? (pool_[own.next].*links).previous : chain.last_) = own.previous;
  --chain.count_;
}

void Containers::Join(ContainerSlot slot, Chain& of_attempt) {
  pool_[slot].live = true;
  Append(slot, of_attempt, &Container::of_attempt);
}

void Containers::Leave(ContainerSlot slot, Chain& of_attempt) {
  pool_[slot].live = false;
  Cut(slot, of_attempt, &Container::of_attempt);
}

void Containers::Move(Chain& from, Chain& to, AttemptId attempt) {
  to = std::exchange(from, {});
  for (const ContainerSlot slot : OfAttempt(to)) pool_[slot].attempt = attempt;
}

void Containers::Put(ContainerSlot slot, Chain& of_node, bool launched) {
  pool_[slot].on_node = true;
  pool_[slot].launched_on_node = launched;
  Append(slot, of_node, &Container::of_node);
}

bool Containers::TakeOff(ContainerSlot slot, Chain& of_node, bool by_node) {
  Container& container = pool_[slot];
  if (!container.on_node) return false;
  container.set_apart = false;
  if (!by_node && container.launched_on_node) return false;
  Cut(slot, of_node, &Container::of_node);
  container.on_node = false;
  return true;
}

void Containers::KeepTaken(ContainerSlot slot, const Taken& taken, Names& names) {
  const uint32_t number = taken_numbers_.Take();
  if (number == taken_.size()) taken_.emplace_back();
  pool_[slot].taken = number;
  Taken& kept = taken_[number];
  kept.size = taken.size;
  for (uint32_t i = 0; i < taken.size; ++i) {
    kept.lines[i] = taken.lines[i];
    names.AddUse(taken.lines[i].name);
  }
}

void Containers::ForgetTaken(ContainerSlot slot, Names& names) {
  const Taken& taken = taken_[pool_[slot].taken];
  for (uint32_t i = 0; i < taken.size; ++i) names.Release(taken.lines[i].name);
  taken_numbers_.Give(pool_[slot].taken);
  pool_[slot].taken = Container::kNothing;
}

bool Containers::RemoveIfGone(ContainerSlot slot, Names& names) {
  const Container& container = pool_[slot];
  if (!container.in_use || container.live || container.on_node || container.state == ContainerState::kReserved) {
    return false;
  }
  DropTaken(slot, names);
  pool_.Remove(slot);
  return true;
}

ContainerSlot Containers::FindOn(const Chain& of_node, const model::ContainerId& id) const {
  ContainerSlot slot = of_node.first();
  while (slot.valid() && pool_[slot].id != id) slot = pool_[slot].of_node.next;
  return slot;
}

std::vector<ContainerSlot> Containers::InHashOrder(const Chain& of_node, size_t most) const {
  std::vector<ContainerSlot> slots;
  std::vector<int32_t> hashes;
  for (ContainerSlot slot = of_node.first(); slot.valid(); slot = pool_[slot].of_node.next) {
    slots.push_back(slot);
    hashes.push_back(pool_[slot].JavaHash());
  }
  std::vector<ContainerSlot> order;
  order.reserve(slots.size());
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(most))) order.push_back(slots[i]);
  return order;
}

std::vector<ContainerSlot> Containers::OfAttempt(const Chain& of_attempt) const {
  std::vector<ContainerSlot> slots;
  for (ContainerSlot slot = of_attempt.first(); slot.valid(); slot = pool_[slot].of_attempt.next) slots.push_back(slot);
  return slots;
}

model::Resources Containers::CheckAttempt(const Chain& chain, AttemptId attempt, std::string& wrong) const {
  model::Resources sum;
  const std::vector<ContainerSlot> slots = OfAttempt(chain);
  for (const ContainerSlot slot : slots) {
    sum += pool_[slot].resources;
    if (!pool_[slot].live || pool_[slot].attempt != attempt) wrong += "an attempt lists a foreign container\n";
  }
  if (slots.size() != chain.count()) wrong += "how many containers an attempt has\n";
  return sum;
}

model::Resources Containers::CheckNode(const Chain& chain, NodeIndex node, std::string& wrong) const {
  model::Resources sum;
  uint32_t count = 0;
  for (ContainerSlot slot = chain.first(); slot.valid(); slot = pool_[slot].of_node.next) {
    sum += pool_[slot].resources;
    ++count;
    if (!pool_[slot].on_node || pool_[slot].node != node) wrong += "a node lists a foreign container\n";
  }
  if (count != chain.count()) wrong += "how many containers a node has\n";
  return sum;
}

void Containers::Mix(base::StateHasher& hash) const {
  for (const ContainerSlot slot : pool_) {
    const Container& one = pool_[slot];
    for (const uint64_t word :
         {uint64_t{slot.value}, static_cast<uint64_t>(one.state), static_cast<uint64_t>(one.id.attempt.attempt),
          static_cast<uint64_t>(one.id.value), static_cast<uint64_t>(one.id.attempt.app.number),
          static_cast<uint64_t>(one.id.attempt.app.cluster_timestamp), uint64_t{one.attempt.value},
          uint64_t{one.node.value}, static_cast<uint64_t>(one.key.priority), static_cast<uint64_t>(one.key.id),
          uint64_t{one.of_attempt.next.value}, uint64_t{one.of_node.next.value},
          uint64_t{one.taken != Container::kNothing}}) {
      hash.Mix(word);
    }
    for (const bool flag : {one.live, one.on_node, one.launched_on_node, one.is_master, one.marked, one.set_apart}) {
      hash.Mix(flag);
    }
    hadoop::Mix(hash, one.resources);
  }
  for (const uint32_t spare : pool_.numbers().spare()) hash.Mix(spare);
}

void Numbers::Add(ContainerSlot slot) {
  ++next_;
  slots_.push_back(slot);
}

void Numbers::Skip(int64_t value) {
  constexpr size_t kMost = size_t{1} << 24;  // a node may report anything
  if (IndexOf(value) >= kMost || value < Next()) return;
  slots_.resize(IndexOf(value) + 1);
  next_ = value - base_ + 1;
}

ContainerSlot Numbers::FindKnown(int64_t value) const {
  const auto it = known_.find(value);
  return it == known_.end() ? ContainerSlot{} : it->second;
}

void Numbers::Forget(int64_t value, ContainerSlot slot) {
  if (IndexOf(value) < slots_.size() && slots_[IndexOf(value)] == slot) {
    slots_[IndexOf(value)] = {};
    return;
  }
  const auto it = known_.find(value);
  if (it != known_.end() && it->second == slot) known_.erase(it);
}

}  // namespace fairlead::scheduler::hadoop
