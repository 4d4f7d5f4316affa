#pragma once

#include <cstdint>
#include <utility>

#include "scheduler/books/core.h"
#include "scheduler/fairlead/config.h"

namespace fairlead::scheduler::native {

/// Obstacles to a node that `why` thinks away.
struct Relaxed {
  bool room = false;          // as if a new node had come, at none of the named places
  bool busy = false;          // as if no node were overloaded
  bool reservations = false;  // as if no room were kept for anybody
  bool exclusions = false;    // as if the application excluded nothing
  bool place = false;         // as if any place would do
};

/// Where an ask would go, or why nowhere.
struct Found {
  enum class Verdict : uint8_t { kFound, kNoNodes, kNoLabel, kNoRoom, kExcluded, kStrict, kWaiting };
  Verdict verdict = Verdict::kNoRoom;
  Spot spot;
  Instant until{};        // kWaiting: when a farther place will do
  bool for_host = false;  // kWaiting: none but its hosts will do until then
};

/// The node with room for the shape for which `visit` says true: once around the ring of nodes, from where the last
/// grant was made. Not valid: none.
template <class Visit>
NodeIndex FindOnRing(const Books& books, NodeOrder order, const Shape& shape, Visit visit) {
  const Partition& partition = books.nodes.partition(shape.label);
  const auto size = static_cast<uint32_t>(partition.nodes.size());
  const uint32_t start = order == NodeOrder::kPack || partition.cursor >= size ? 0 : partition.cursor;
  for (const auto& [from, end] : {std::pair(start, size), std::pair(0U, start)}) {
    uint32_t at = from < end ? partition.index.FindFrom(from, shape.size) : FreeIndex::kNone;
    for (; at < end; at = partition.index.FindFrom(at + 1, shape.size)) {
      if (visit(partition.nodes[at])) return partition.nodes[at];
    }
  }
  return {};
}

/// Looks for a node for one ask; changes nothing. Placing asks it in earnest, `why` with obstacles thought away. Both
/// go through the indexes, O(log nodes); `why` looks also at what they do not show: every node when overload is thought
/// away, every reservation when those are, the nodes of every named rack, and all of many named hosts, of which the
/// earnest search tries kTries.
class Finder {
 public:
  /// Hosts of one ask that are looked at in one try.
  static constexpr size_t kTries = 64;

  Finder(const Books& books, const FairleadConfig& config) : books_(books), config_(config) {}
  Finder(const Books& books, const FairleadConfig& config, const Relaxed& relaxed)
      : books_(books), config_(config), dry_(true), relaxed_(relaxed) {}

  /// `allowed`: how far from its places the ask may go, if not what its waits say.
  Found Find(const App& app, const Ask& ask, Instant now, const Locality* allowed = nullptr) const;
  /// How far from its places an ask may go: room elsewhere is left lying for node_locality_wait, then outside the rack
  /// for rack_locality_wait more (delay scheduling, Zaharia et al. 2010), counted from when such room was first
  /// refused. Places that can never hold the ask are not waited for. `until`: when it may go farther.
  Locality Allowed(const App& app, const Ask& ask, Instant now, Instant& until) const;
  /// The node could be kept for the ask. O(named places).
  bool MayReserve(const App& app, const Ask& ask, NodeIndex node) const;

 private:
  bool Fits(const App& app, NodeIndex node, const Shape& shape) const;
  bool HasRoom(NodeIndex node, const Shape& shape) const;
  Found FindNear(const App& app, const Ask& ask, Instant now, const Locality* allowed) const;
  Found FindNearCandidate(const App& app, const Ask& ask, Locality level) const;
  Found FindNearInIndex(const App& app, const Ask& ask, Locality level) const;
  NodeIndex FindInRack(const App& app, const Shape& shape, PlaceId rack) const;
  /// `excluded`: some node had room and is excluded.
  NodeIndex FindAnywhere(const App& app, const Shape& shape, bool& excluded) const;
  template <class May>
  NodeIndex FindBeyondIndex(const Shape& shape, May may) const;
  /// A node of its own reservations has got the room.
  bool ServesOwn(const App& app, const Ask& ask) const;

  const Books& books_;
  const FairleadConfig& config_;
  bool dry_ = false;
  Relaxed relaxed_;
};

}  // namespace fairlead::scheduler::native
