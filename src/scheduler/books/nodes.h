#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/resources.h"
#include "model/scheduler.h"
#include "scheduler/books/containers.h"
#include "scheduler/books/ids.h"
#include "scheduler/books/places.h"
#include "scheduler/shared/free_index.h"
#include "scheduler/shared/interner.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::native {

struct Node {
  // What every grant and every end touches, side by side.
  bool alive = false;
  bool schedulable = true;
  bool busy = false;     // measured to be overloaded: it takes nothing until it calms
  bool changed = false;  // its free amounts are to be published
  bool freed = false;    // something ended there since it was last published
  PlaceId host;
  PlaceId rack;
  uint32_t rack_position = 0;  // in the rack's index, while there is one
  Chain containers;
  model::Resources capacity;
  model::Resources offered;   // what it takes containers for: its capacity, and more while it is overcommitted
  model::Resources used;      // containers that run, and ended ones that the node has not yet reported
  model::Resources reserved;  // kept for the asks of `reservations`
  boost::container::small_vector<std::pair<uint32_t, uint32_t>, 1> partitions;  // (partition, position)
  std::vector<ReservationId> reservations;
  int32_t port = 0;

  /// It takes new containers, unless it is overloaded.
  bool serves() const { return alive && schedulable; }
  bool open() const { return serves() && !busy; }
  /// What it has for an ask for which nothing is reserved there.
  model::Resources free() const { return offered - used - reserved; }
  /// size.FitsIn(free()), which mostly ends at the first amount.
  bool Holds(const model::Resources& size) const {
    for (size_t t = 0; t < model::Resources::kMaxTypes; ++t) {
      if (size[t] > offered[t] - used[t] - reserved[t]) return false;
    }
    return true;
  }
  /// Free amounts below the capacity; what is offered above it (overcommit) does not count.
  model::Resources booked_free() const { return capacity - used - reserved; }
  FL_STATE(alive, schedulable, busy, changed, freed, host, rack, rack_position, containers, capacity, offered, used,
           reserved, partitions, reservations, port)
};

/// The nodes of one label, or those without, or those of a rack: which of them have room for an ask.
struct Partition {
  explicit Partition(size_t types = 0) : index(types) {}
  uint32_t Add(NodeIndex node);
  void Remove(uint32_t position);

  FreeIndex index;
  std::vector<NodeIndex> nodes;  // by position; not valid: closed
  FreeList positions;
  uint32_t cursor = 0;     // position after the last grant
  int32_t open_nodes = 0;  // alive and schedulable
  FL_STATE(index, nodes, positions, cursor, open_nodes)
};

/// Nodes, their labels, what the cluster has in all, and the indexes that find a node with room. A change of a node is
/// noted, and seen by the indexes when it is published. O(log nodes) to publish, else O(1) unless stated.
class Nodes {
 public:
  explicit Nodes(size_t types) : types_(types) { partitions_.emplace_back(types); }

  const Node& operator[](NodeIndex node) const { return nodes_[node.value]; }
  /// One past the largest index ever added.
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  bool Alive(NodeIndex node) const { return node.value < nodes_.size() && nodes_[node.value].alive; }

  /// The index is not in use. The capacity is cut to what sums are safe with.
  void Add(const model::scheduler::NodeAdded& event, Places& places);
  /// No container and no reservation is left on it. O(nodes of its host and rack).
  void Remove(NodeIndex node, Places& places);
  void Resize(NodeIndex node, const model::Resources& capacity);
  void SetSchedulable(NodeIndex node, bool schedulable);
  /// From now on it offers so much above its capacity. What it has counts for shares, not what it offers.
  void Offer(NodeIndex node, const model::Resources& extra);
  /// What it has still counts for shares.
  void SetBusy(NodeIndex node, bool busy);

  void AddUse(NodeIndex node, const model::Resources& more);
  void Reserve(NodeIndex node, ReservationId reservation, const model::Resources& size);
  void Unreserve(NodeIndex node, ReservationId reservation, const model::Resources& size);
  Chain& chain(NodeIndex node) { return nodes_[node.value].containers; }

  /// Notes that the node's free amounts, or whether it is open, are others now (`freed`: perhaps it got room).
  void Changed(NodeIndex node, bool freed);
  bool AnyChanged() const { return !changed_.empty(); }
  /// Calls visit(node) for those noted, in that order, also for those that it notes.
  template <class Visit>
  void TakeChanged(Visit visit) {
    for (size_t i = 0; i < changed_.size(); ++i) {
      const NodeIndex node = changed_[i];
      nodes_[node.value].changed = false;
      visit(node);
    }
    changed_.clear();
  }
  /// Whether the node was freed since the last call.
  bool TakeFreed(NodeIndex node) { return std::exchange(nodes_[node.value].freed, false); }
  /// The indexes see the node as it is.
  void Publish(NodeIndex node);
  void Prefetch(NodeIndex node) const;

  LabelId FindLabel(std::string_view label) const { return LabelId{labels_.Find(label)}; }
  /// Not valid for an empty name.
  LabelId LabelFor(std::string_view label);
  /// Empty for none.
  std::string LabelName(LabelId label) const { return label.valid() ? labels_.Name(label.value) : ""; }
  size_t labels() const { return labels_.size(); }
  bool HasLabel(NodeIndex index, LabelId label) const {
    const uint32_t wanted = Which(label);
    for (const auto& [which, position] : nodes_[index.value].partitions) {
      if (which == wanted) return true;
    }
    return false;
  }
  /// The nodes that an ask with that label may go to.
  const Partition& partition(LabelId label) const { return partitions_[Which(label)]; }
  /// The ring of nodes goes on after this one.
  void MoveCursor(LabelId label, NodeIndex node);
  /// Open, has the label and room for the size.
  bool Fits(NodeIndex node, const model::Resources& size, LabelId label) const {
    const Node& one = (*this)[node];
    return one.open() && one.Holds(size) && HasLabel(node, label);
  }

  /// The index of the rack; null when none was made.
  const Partition* rack(PlaceId rack) const {
    return rack.value < racks_.size() && racks_[rack.value] ? &*racks_[rack.value] : nullptr;
  }
  /// Makes the index of a rack that asks name, if there are nodes. O(nodes of the rack) the first time.
  void IndexRack(PlaceId rack, const Places& places);

  const model::Resources& total() const { return total_; }              // capacity of nodes that are alive
  const model::Resources& schedulable() const { return schedulable_; }  // of those that take containers
  const model::Resources& closed_used() const { return closed_used_; }  // used on those that take none
  int32_t alive() const { return alive_; }

  /// Recomputes sums and indexes; empty when all agree.
  std::string Check() const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(types_, nodes_, labels_, partitions_, racks_, changed_, total_, schedulable_, closed_used_, alive_)

 private:
  static uint32_t Which(LabelId label) { return label.valid() ? label.value + 1 : 0; }

  size_t types_;
  std::vector<Node> nodes_;  // by NodeIndex
  Interner labels_;
  std::vector<Partition> partitions_;            // see Which
  std::vector<std::optional<Partition>> racks_;  // by PlaceId; made when first asked for
  std::vector<NodeIndex> changed_;
  model::Resources total_;
  model::Resources schedulable_;
  model::Resources closed_used_;
  int32_t alive_ = 0;
};

}  // namespace fairlead::scheduler::native
