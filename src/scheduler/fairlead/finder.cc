#include "scheduler/fairlead/finder.h"

#include <algorithm>

namespace fairlead::scheduler::native {

using Verdict = Found::Verdict;

Found Finder::Find(const App& app, const Ask& ask, Instant now, const Locality* allowed) const {
  const Shape& shape = books_.shapes[ask.shape];
  if (!relaxed_.room) {
    if (books_.nodes.alive() == 0) return {Verdict::kNoNodes, {}};
    if (books_.nodes.partition(shape.label).open_nodes == 0) {
      return {shape.label.valid() ? Verdict::kNoLabel : Verdict::kNoNodes, {}};
    }
  }
  if (dry_ && ServesOwn(app, ask)) return {Verdict::kFound, {}};
  Found near;
  if (!ask.places.empty() && !relaxed_.place) {
    near = FindNear(app, ask, now, allowed);
    if (near.verdict == Verdict::kFound) return near;
  }
  bool excluded = false;
  const NodeIndex node = relaxed_.room ? NodeIndex{} : FindAnywhere(app, shape, excluded);
  if (!node.valid() && !relaxed_.room) return {excluded ? Verdict::kExcluded : Verdict::kNoRoom, {}};
  if (near.verdict == Verdict::kWaiting || near.verdict == Verdict::kStrict) return near;
  return {Verdict::kFound, {node}};
}

/// The places that the ask names: its hosts, then its racks as soon as it may. When neither has room: kStrict or
/// kWaiting when no other place will do (yet), else kNoRoom.
Found Finder::FindNear(const App& app, const Ask& ask, Instant now, const Locality* fixed) const {
  const bool exact = !dry_ && books_.shapes[ask.shape].exact;
  Found found =
      exact ? FindNearCandidate(app, ask, Locality::kNodeLocal) : FindNearInIndex(app, ask, Locality::kNodeLocal);
  if (found.verdict == Verdict::kFound) return found;
  const Locality allowed = fixed ? *fixed : Allowed(app, ask, now, found.until);
  if (allowed >= Locality::kRackLocal) {
    const Found rack =
        exact ? FindNearCandidate(app, ask, Locality::kRackLocal) : FindNearInIndex(app, ask, Locality::kRackLocal);
    if (rack.verdict == Verdict::kFound) return rack;
  }
  if (!ask.relax_any) {
    found.verdict = allowed < Locality::kRackLocal ? Verdict::kWaiting : Verdict::kStrict;
  } else if (allowed < Locality::kOffSwitch) {
    found.verdict = Verdict::kWaiting;
  }
  // Of a long list only a part was looked at: whatever wakes the ask brings the next part.
  found.for_host = allowed == Locality::kNodeLocal && ask.places.size() <= kTries;
  return found;
}

/// Of the few nodes that have room for the shape, one that the ask names (by host, or by rack).
Found Finder::FindNearCandidate(const App& app, const Ask& ask, Locality level) const {
  const Shape& shape = books_.shapes[ask.shape];
  for (const NodeIndex index : shape.candidates) {
    const Node& node = books_.nodes[index];
    const PlaceId place = level == Locality::kNodeLocal ? node.host : node.rack;
    const auto at = std::lower_bound(ask.places.begin(), ask.places.end(), place,
                                     [](const NamedPlace& one, PlaceId id) { return one.place < id; });
    if (at == ask.places.end() || at->place != place || at->count == 0) continue;
    if (level == Locality::kRackLocal && !at->relax) continue;
    if (Fits(app, index, shape)) {
      return {Verdict::kFound, {index, level, static_cast<size_t>(at - ask.places.begin())}};
    }
  }
  return {};
}

Found Finder::FindNearInIndex(const App& app, const Ask& ask, Locality level) const {
  const Shape& shape = books_.shapes[ask.shape];
  if (level == Locality::kRackLocal) {
    for (const NamedPlace& one : ask.places) {
      if (!one.rack || one.count == 0 || !one.relax) continue;
      const NodeIndex node = FindInRack(app, shape, one.place);
      if (node.valid()) return {Verdict::kFound, {node, Locality::kRackLocal}};
    }
    return {};
  }
  // A long list is searched a part at a time: the rest of it comes with the next tries.
  const size_t places = ask.places.size();
  for (size_t i = 0; i < (dry_ ? places : std::min(places, kTries)); ++i) {
    const size_t at = (ask.cursor + i) % places;
    if (ask.places[at].rack || ask.places[at].count == 0) continue;
    for (const NodeIndex node : books_.places[ask.places[at].place].nodes) {
      if (books_.nodes[node].host == ask.places[at].place && Fits(app, node, shape)) {
        return {Verdict::kFound, {node, Locality::kNodeLocal, at}};
      }
    }
  }
  return {};
}

NodeIndex Finder::FindInRack(const App& app, const Shape& shape, PlaceId rack) const {
  const Partition* made = dry_ ? nullptr : books_.nodes.rack(rack);
  if (!made) {
    for (const NodeIndex node : books_.places[rack].nodes) {
      if (Fits(app, node, shape)) return node;
    }
    return {};
  }
  for (uint32_t at = made->index.FindFrom(0, shape.size); at != FreeIndex::kNone;
       at = made->index.FindFrom(at + 1, shape.size)) {
    if (Fits(app, made->nodes[at], shape)) return made->nodes[at];
  }
  return {};
}

NodeIndex Finder::FindAnywhere(const App& app, const Shape& shape, bool& excluded) const {
  const auto may = [&](NodeIndex node) {
    if (relaxed_.exclusions || !books_.Excluded(app, node)) return true;
    excluded = true;
    return false;
  };
  if (!dry_ && shape.exact) {
    const auto at = std::find_if(shape.candidates.begin(), shape.candidates.end(),
                                 [&](NodeIndex node) { return HasRoom(node, shape) && may(node); });
    return at == shape.candidates.end() ? NodeIndex{} : *at;
  }
  const NodeIndex found = FindOnRing(books_, config_.node_order, shape, may);
  return found.valid() ? found : FindBeyondIndex(shape, may);
}

/// A node that the index does not show, and that has room once its obstacles are thought away.
template <class May>
NodeIndex Finder::FindBeyondIndex(const Shape& shape, May may) const {
  const auto look = [&](NodeIndex node) { return HasRoom(node, shape) && may(node); };
  if (relaxed_.busy) {
    for (uint32_t i = 0; i < books_.nodes.size(); ++i) {
      if (look(NodeIndex{i})) return NodeIndex{i};
    }
  } else if (relaxed_.reservations) {
    for (const ReservationId id : books_.reservations) {
      if (look(books_.reservations[id].node)) return books_.reservations[id].node;
    }
  }
  return {};
}

bool Finder::HasRoom(NodeIndex index, const Shape& shape) const {
  const Node& node = books_.nodes[index];
  if (!node.serves() || (node.busy && !relaxed_.busy)) return false;
  const bool fits = relaxed_.reservations ? shape.size.FitsIn(node.free() + node.reserved) : node.Holds(shape.size);
  if (!fits) return false;
  return books_.nodes.HasLabel(index, shape.label);
}

bool Finder::Fits(const App& app, NodeIndex node, const Shape& shape) const {
  return HasRoom(node, shape) && (relaxed_.exclusions || !books_.Excluded(app, node));
}

/// What is reserved for it, it takes however far its places are.
bool Finder::ServesOwn(const App& app, const Ask& ask) const {
  for (uint32_t i = 0; ask.reserved > 0 && i < books_.reservations.slots(); ++i) {
    const ReservationId id{i};
    if (!books_.reservations.Has(id)) continue;
    const Reservation& one = books_.reservations[id];
    const Node& node = books_.nodes[one.node];
    if (one.ask != ask.serial || !node.open()) continue;
    const Resources room = node.free() + (relaxed_.reservations ? node.reserved : one.size);
    if (one.size.FitsIn(room) && (relaxed_.exclusions || !books_.Excluded(app, one.node))) return true;
  }
  return false;
}

Locality Finder::Allowed(const App& app, const Ask& ask, Instant now, Instant& until) const {
  const Shape& shape = books_.shapes[ask.shape];
  bool hosts = false;
  bool racks = false;
  for (const NamedPlace& one : ask.places) {
    if (one.count == 0 || (one.rack ? racks : hosts)) continue;
    for (const NodeIndex index : books_.places[one.place].nodes) {
      const Node& node = books_.nodes[index];
      if (!node.open() || !shape.size.FitsIn(node.capacity) || !books_.nodes.HasLabel(index, shape.label) ||
          books_.Excluded(app, index)) {
        continue;
      }
      (one.rack ? racks : hosts) = true;
      break;
    }
  }
  Instant relax = ask.refusing_since == Instant::Max() ? now : ask.refusing_since;
  if (hosts) {
    relax = relax + config_.node_locality_wait;
    until = relax;
    if (now < relax) return Locality::kNodeLocal;
  }
  if (racks && hosts) {
    relax = relax + config_.rack_locality_wait;
    until = relax;
    if (now < relax) return Locality::kRackLocal;
  }
  return Locality::kOffSwitch;
}

bool Finder::MayReserve(const App& app, const Ask& ask, NodeIndex index) const {
  const Node& node = books_.nodes[index];
  const Shape& shape = books_.shapes[ask.shape];
  if (!node.open() || !node.reservations.empty() || !shape.size.FitsIn(node.capacity)) return false;
  if (!books_.nodes.HasLabel(index, shape.label) || books_.Excluded(app, index)) return false;
  if (ask.relax_any) return true;
  return std::any_of(ask.places.begin(), ask.places.end(), [&](const NamedPlace& one) {
    return one.count > 0 && (one.place == node.host || (one.place == node.rack && one.relax));
  });
}

}  // namespace fairlead::scheduler::native
