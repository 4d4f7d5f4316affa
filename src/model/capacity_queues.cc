#include "model/capacity_queues.h"

namespace fairlead::model {

std::string_view EnumName(CapacityQueueState state) {
  switch (state) {
    case CapacityQueueState::kRunning:
      return "RUNNING";
    case CapacityQueueState::kStopped:
      return "STOPPED";
    case CapacityQueueState::kDraining:
      return "DRAINING";
  }
  return "?";
}

}  // namespace fairlead::model
