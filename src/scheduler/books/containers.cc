#include "scheduler/books/containers.h"

namespace fairlead::scheduler::native {

ContainerSlot Containers::Add(const model::ContainerId& id, AppSlot app, Chain& of_app, NodeIndex node, Chain& of_node,
                              ShapeId shape, base::Instant now) {
  const ContainerSlot slot = pool_.Add();
  Container& container = pool_[slot];
  container.cluster_timestamp = id.attempt.app.cluster_timestamp;
  container.app_number = id.attempt.app.number;
  container.attempt = id.attempt.attempt;
  container.value = id.value;
  container.app = app;
  container.node = node;
  container.shape = shape;
  container.granted = now;
  container.lost_since = now;
  table_.Add(Hash(id), slot.value);
  container.app_next = of_app.first_;
  if (of_app.first_.valid()) pool_[of_app.first_].app_previous = slot;
  of_app.first_ = slot;
  ++of_app.count_;
  container.node_next = of_node.first_;
  if (of_node.first_.valid()) pool_[of_node.first_].node_previous = slot;
  of_node.first_ = slot;
  ++of_node.count_;
  return slot;
}

void Containers::SetAsk(ContainerSlot slot, int32_t priority, int64_t request_id, model::Locality locality) {
  pool_[slot].locality = locality;
  pool_[slot].priority = priority;
  pool_[slot].request_id = request_id;
}

void Containers::LeaveApp(ContainerSlot slot, Chain& of_app) {
  Container& container = pool_[slot];
  (container.app_previous.valid() ? pool_[container.app_previous].app_next : of_app.first_) = container.app_next;
  if (container.app_next.valid()) pool_[container.app_next].app_previous = container.app_previous;
  --of_app.count_;
  container.app = AppSlot{};
}

void Containers::Remove(ContainerSlot slot, Chain& of_node) {
  const Container& container = pool_[slot];
  (container.node_previous.valid() ? pool_[container.node_previous].node_next : of_node.first_) = container.node_next;
  if (container.node_next.valid()) pool_[container.node_next].node_previous = container.node_previous;
  --of_node.count_;
  table_.Remove(Hash(container.id()), slot.value);
  pool_.Remove(slot);
}

void Containers::Mix(base::StateHasher& hash) const {
  for (const ContainerSlot slot : pool_) {
    const Container& one = pool_[slot];
    hash.Mix(slot.value);
    hash.Mix(static_cast<uint64_t>(one.cluster_timestamp));
    hash.Mix(static_cast<uint64_t>(one.app_number));
    hash.Mix(static_cast<uint64_t>(one.attempt));
    hash.Mix(static_cast<uint64_t>(one.value));
    hash.Mix(static_cast<uint64_t>(one.request_id));
    hash.Mix(static_cast<uint64_t>(one.granted.ns));
    hash.Mix(static_cast<uint64_t>(one.lost_since.ns));
    hash.Mix(static_cast<uint64_t>(one.priority));
    hash.Mix(one.app.value);
    hash.Mix(one.node.value);
    hash.Mix(one.shape.value);
    hash.Mix(one.app_next.value);
    hash.Mix(one.node_next.value);
    hash.Mix(static_cast<uint64_t>(one.taken_back.ns));
    hash.Mix(uint64_t{one.gang} * 2048 + uint64_t{one.above} * 1024 + static_cast<uint64_t>(one.locality) * 8 +
             uint64_t{one.acquired} * 4 + uint64_t{one.launched} * 2 + uint64_t{one.is_master});
  }
  for (const uint32_t spare : pool_.numbers().spare()) hash.Mix(spare);
}

}  // namespace fairlead::scheduler::native
