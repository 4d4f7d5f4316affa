#include "scheduler/fairlead/measured_finder.h"

#include <algorithm>

#include "scheduler/fairlead/overcommit.h"

namespace fairlead::scheduler::native {
namespace {

/// A MiB at one Mbit/s.
constexpr int64_t kMsPerMiB = 8389;

int64_t ReadMs(const MeasuredLoadConfig& config, Locality locality) {
  if (locality == Locality::kNodeLocal) return 0;
  return config.input_mib * kMsPerMiB / (locality == Locality::kRackLocal ? config.rack_mbit : config.cluster_mbit);
}

}  // namespace

Found MeasuredFinder::Find(const App& app, const Ask& ask, Instant now) const {
  const Found plain = Finder(books_, config_).Find(app, ask, now);
  const bool found = plain.verdict == Found::Verdict::kFound;
  if (!found && plain.verdict != Found::Verdict::kWaiting) return plain;
  const bool by_load = books_.queues.tree().wishes.measured_load;
  if (!by_load && (!found || Takes(app, books_.shapes[ask.shape], plain.spot.node))) return plain;
  std::optional<Candidate> best;
  if (!ask.places.empty()) {
    AtHosts(app, ask, best);
    InRacks(app, ask, best);
  }
  if (ask.places.empty() || ask.relax_any) Anywhere(app, ask, best);
  if (best && by_load && !ask.places.empty()) return Decide(ask, plain, *best, now);
  if (best) return {Found::Verdict::kFound, best->spot};
  if (!found) return plain;
  return {Found::Verdict::kExcluded, {app.needs_master ? NodeIndex{} : plain.spot.node}};
}

bool MeasuredFinder::Takes(const App& app, const Shape& shape, NodeIndex node) const {
  const Node& one = books_.nodes[node];
  if ((one.used + shape.size).FitsIn(one.capacity)) return true;
  if (app.needs_master) return FitsWithin(books_, node, shape.size);
  const UseForecast::Measured* measured = forecast_.Fresh(node, books_.now);
  return measured != nullptr && FitsAbove(config_.overcommit, forecast_, one, *measured, shape.size, expected_);
}

MeasuredFinder::Candidate MeasuredFinder::CandidateAt(const Shape& shape, const Spot& spot) const {
  const MeasuredLoadConfig& config = config_.measured_load;
  const int64_t load = forecast_.LoadWith(books_, spot.node, shape.size, expected_);
  const int64_t longer_ms = config.run.millis() / 1000 * std::max<int64_t>(load - 1000, 0);
  return {spot, ReadMs(config, spot.locality) + longer_ms, load};
}

void MeasuredFinder::Consider(const App& app, const Shape& shape, const Spot& spot,
                              std::optional<Candidate>& best) const {
  if (!books_.Fits(app, spot.node, shape) || !Takes(app, shape, spot.node)) return;
  const Candidate candidate = CandidateAt(shape, spot);
  if (!best || candidate < *best) best = candidate;
}

void MeasuredFinder::AtHosts(const App& app, const Ask& ask, std::optional<Candidate>& best) const {
  const Shape& shape = books_.shapes[ask.shape];
  for (size_t i = 0; i < std::min(ask.places.size(), Finder::kTries); ++i) {
    const size_t at = (ask.cursor + i) % ask.places.size();
    const NamedPlace& place = ask.places[at];
    if (place.rack || place.count == 0) continue;
    for (const NodeIndex node : books_.places[place.place].nodes) {
      if (books_.nodes[node].host == place.place) {
        Consider(app, shape, {node, Locality::kNodeLocal, at}, best);
      }
    }
  }
}

void MeasuredFinder::InRacks(const App& app, const Ask& ask, std::optional<Candidate>& best) const {
  const Shape& shape = books_.shapes[ask.shape];
  size_t tries = 0;
  for (const NamedPlace& place : ask.places) {
    if (!place.rack || place.count == 0 || !place.relax) continue;
    for (const NodeIndex node : books_.places[place.place].nodes) {
      if (++tries > Finder::kTries) return;
      Consider(app, shape, {node, Locality::kRackLocal}, best);
    }
  }
}

/// On the ring, from where the search without measures begins.
void MeasuredFinder::Anywhere(const App& app, const Ask& ask, std::optional<Candidate>& best) const {
  const Shape& shape = books_.shapes[ask.shape];
  size_t tries = 0;
  if (shape.exact) {
    for (const NodeIndex node : shape.candidates) {
      if (++tries > Finder::kTries) return;
      Consider(app, shape, {node}, best);
    }
    return;
  }
  FindOnRing(books_, config_.node_order, shape, [&](NodeIndex node) {
    // Masters look on: the nodes with room within their capacity may be few.
    if (++tries > Finder::kTries && (best || !app.needs_master)) return true;
    Consider(app, shape, {node}, best);
    return false;
  });
}

/// The best now, or to wait for a place. A named host costs, once it has room, what its load does.
Found MeasuredFinder::Decide(const Ask& ask, const Found& plain, const Candidate& best, Instant now) const {
  const Found take{Found::Verdict::kFound, best.spot};
  if (best.spot.locality == Locality::kNodeLocal) return take;
  const Shape& shape = books_.shapes[ask.shape];
  int64_t host_ms = INT64_MAX;
  for (size_t i = 0; i < std::min(ask.places.size(), Finder::kTries); ++i) {
    const NamedPlace& place = ask.places[(ask.cursor + i) % ask.places.size()];
    if (place.rack || place.count == 0) continue;
    for (const NodeIndex node : books_.places[place.place].nodes) {
      if (!books_.nodes[node].open() || !shape.size.FitsIn(books_.nodes[node].capacity)) continue;
      // In the room of something that ends there.
      host_ms = std::min(host_ms, CandidateAt({}, {node, Locality::kNodeLocal}).cost_ms);
    }
  }
  if (host_ms >= best.cost_ms) return take;
  const Instant since = ask.refusing_since == Instant::Max() ? now : ask.refusing_since;
  const Instant until = since + base::Duration::Millis(best.cost_ms - host_ms);
  if (now >= until) return take;
  Found wait = plain;
  wait.verdict = Found::Verdict::kWaiting;
  wait.until = until;
  wait.for_host = false;
  return wait;
}

}  // namespace fairlead::scheduler::native
