#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "scheduler/books/books.h"
#include "scheduler/fairlead/config.h"
#include "scheduler/fairlead/use_forecast.h"

namespace fairlead::scheduler::native {

// Wish overcommit: a node that was measured to use little of what is booked on it offers more than it has. A container
// that is granted when those within the capacity leave no room for it is *above* the capacity; it comes within it when
// there is room at a report of the node, the oldest first, and never the other way. Masters and gangs start within it.

/// What the node may offer above its capacity by what it is expected to use: so much that its machine is used to
/// `fill_percent`, as if everything more would use `least_percent` of what it books (FitsAbove asks for each how much
/// it is), and at most `percent` of its capacity. Nothing of an amount that nobody measured.
model::Resources MayOffer(const OvercommitConfig& config, const UseForecast& forecast, const Node& node,
                          const UseForecast::Measured& measured, int64_t least_percent);

/// True when one more container of `size`, which is expected to use `expected`, still fits above the capacity by the
/// latest forecast. Asked again at the grant, because the node's load may have changed since its offer.
bool FitsAbove(const OvercommitConfig& config, const UseForecast& forecast, const Node& node,
               const UseForecast::Measured& measured, const model::Resources& size, const UseAmounts& expected);

/// One more of the size would be within the node's capacity. O(containers of the node).
bool FitsWithin(const Books& books, NodeIndex node, const model::Resources& size);

/// Notes that the container, which is there already, is above the capacity, if it is. O(containers of the node).
void NoteAbove(Books& books, ContainerSlot container);

/// Containers that are above the capacity come within it as far as there is room. O(containers of the node).
void BringWithin(Books& books, NodeIndex node);

/// Containers above the capacity that are to be ended, the newest first: when the machine is used to more than
/// `reclaim_percent`, so many that what they book brings it back to `fill_percent`. What is ending already counts.
/// O(containers of the node).
std::vector<ContainerSlot> ToReclaim(const Books& books, const OvercommitConfig& config, NodeIndex node,
                                     const UseForecast::Measured& measured);

}  // namespace fairlead::scheduler::native
