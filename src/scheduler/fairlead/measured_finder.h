#pragma once

#include <optional>

#include "scheduler/fairlead/finder.h"
#include "scheduler/fairlead/use_forecast.h"

namespace fairlead::scheduler::native {

/// Looks for a node for one ask while nodes tell what they use (wishes measured-load and overcommit); changes nothing.
/// What Finder finds is compared with other nodes that have room: the cheapest in expected seconds is taken, and of
/// those alike the one with the least load. A node costs what reading the input from its distance takes, and by how
/// much a task takes longer where more is wanted than there is. While the ask still waits for its places, it waits as
/// long as reading from the best of the others would take longer, from when it was refused: then the gain is gone.
/// O(kTries) nodes are looked at a kind of place.
class MeasuredFinder {
 public:
  /// `expected`: what a container of the ask is expected to use.
  MeasuredFinder(const Books& books, const FairleadConfig& config, const UseForecast& forecast,
                 const UseAmounts& expected)
      : books_(books), config_(config), forecast_(forecast), expected_(expected) {}

  Found Find(const App& app, const Ask& ask, Instant now) const;
  /// One more of the shape fits within the node's capacity, or above it by what is expected there; a master within it.
  bool Takes(const App& app, const Shape& shape, NodeIndex node) const;

 private:
  struct Candidate {
    Spot spot;
    int64_t cost_ms = 0;
    int64_t load = 0;
    bool operator<(const Candidate& other) const {
      return cost_ms != other.cost_ms ? cost_ms < other.cost_ms : load < other.load;
    }
  };
  Candidate CandidateAt(const Shape& shape, const Spot& spot) const;
  void Consider(const App& app, const Shape& shape, const Spot& spot, std::optional<Candidate>& best) const;
  void AtHosts(const App& app, const Ask& ask, std::optional<Candidate>& best) const;
  void InRacks(const App& app, const Ask& ask, std::optional<Candidate>& best) const;
  void Anywhere(const App& app, const Ask& ask, std::optional<Candidate>& best) const;
  Found Decide(const Ask& ask, const Found& plain, const Candidate& best, Instant now) const;

  const Books& books_;
  const FairleadConfig& config_;
  const UseForecast& forecast_;
  UseAmounts expected_;
};

}  // namespace fairlead::scheduler::native
