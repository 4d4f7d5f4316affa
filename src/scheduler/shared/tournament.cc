#include "scheduler/shared/tournament.h"

namespace fairlead::scheduler {

uint32_t Tournament::Add(uint32_t item) {
  const uint32_t slot = slots_.Take();
  if (slot == items_.size()) {
    items_.push_back(item);
    keys_.emplace_back();
    if (items_.size() > capacity_) Grow();
  } else {
    items_[slot] = item;
    keys_[slot] = OrderKey{};
  }
  return slot;
}

void Tournament::Remove(uint32_t slot) {
  Update(slot, OrderKey{}, 0);
  items_[slot] = kNone;
  slots_.Give(slot);
}

Tournament::Node Tournament::Match(size_t node) const {
  const Node& left = nodes_[2 * node];
  const Node& right = nodes_[2 * node + 1];
  return Node{left.classes | right.classes, Better(left.winner, right.winner)};
}

void Tournament::Play(uint32_t slot, uint64_t classes) {
  size_t node = capacity_ + slot;
  Node here{classes, classes ? slot : kNone};
  nodes_[node] = here;
  for (; node > 1; node /= 2) {
    const Node& other = nodes_[node ^ 1];
    here = Node{here.classes | other.classes, Better(here.winner, other.winner)};
    Node& old = nodes_[node / 2];
    // Above a match that this child neither won nor wins, and whose classes stay, nothing can change.
    const bool settled = here.winner == old.winner && here.winner != slot && here.classes == old.classes;
    old = here;
    if (settled) break;
  }
}

uint32_t Tournament::FirstBelow(size_t node, uint64_t servable, uint32_t best) const {
  for (;;) {
    const Node& here = nodes_[node];
    if (Better(best, here.winner) == best) return best;
    if (nodes_[capacity_ + here.winner].classes & servable) return here.winner;
    const bool left = nodes_[2 * node].classes & servable;
    const bool right = nodes_[2 * node + 1].classes & servable;
    size_t next = left ? 2 * node : 2 * node + 1;
    if (left && right) {
      // The winner's side first: what is found there settles the other side at a glance, mostly.
      const size_t first = nodes_[2 * node].winner == here.winner ? 2 * node : 2 * node + 1;
      best = FirstBelow(first, servable, best);
      next = first ^ 1;
    }
    node = next;
  }
}

void Tournament::Grow() {
  const size_t old_capacity = capacity_;
  const std::vector<Node> old = std::move(nodes_);
  capacity_ = capacity_ ? capacity_ * 2 : 1;
  nodes_.assign(2 * capacity_, Node{});
  for (size_t i = 0; i < old_capacity; ++i) nodes_[capacity_ + i] = old[old_capacity + i];
  for (size_t node = capacity_ - 1; node >= 1; --node) nodes_[node] = Match(node);
}

bool Tournament::Consistent() const {
  for (size_t node = 1; node < capacity_; ++node) {
    const Node match = Match(node);
    if (match.winner != nodes_[node].winner || match.classes != nodes_[node].classes) return false;
  }
  return true;
}

}  // namespace fairlead::scheduler
