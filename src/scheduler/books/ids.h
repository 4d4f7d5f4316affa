#pragma once

#include "base/ids.h"
#include "model/ids.h"

// The numbers of everything in the books. Each kind has a type of its own, so that none can stand for another.

namespace fairlead::scheduler::native {

using model::AppIndex;
using model::NodeIndex;

using QueueId = base::Index<struct QueueTag>;
using UserId = base::Index<struct UserTag>;
/// An application while the books know it; AppIndex is its number for ever.
using AppSlot = base::Index<struct AppSlotTag>;
using ShapeId = base::Index<struct ShapeTag>;
using LabelId = base::Index<struct LabelTag>;
/// A host or a rack, by name.
using PlaceId = base::Index<struct PlaceTag>;
using WaiterId = base::Index<struct WaiterTag>;
using ContainerSlot = base::Index<struct ContainerSlotTag>;
using ReservationId = base::Index<struct ReservationTag>;

inline constexpr QueueId kRoot{0};

}  // namespace fairlead::scheduler::native
