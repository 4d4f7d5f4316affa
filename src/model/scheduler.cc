#include "model/scheduler.h"

namespace fairlead::model {

std::string_view EnumName(Locality locality) {
  switch (locality) {
    case Locality::kNodeLocal:
      return "NODE_LOCAL";
    case Locality::kRackLocal:
      return "RACK_LOCAL";
    case Locality::kOffSwitch:
      return "OFF_SWITCH";
  }
  return "?";
}

namespace scheduler {

std::string_view EnumName(PreemptionStep step) {
  switch (step) {
    case PreemptionStep::kMarked:
      return "marked";
    case PreemptionStep::kKilled:
      return "killed";
    case PreemptionStep::kDropped:
      return "dropped";
    case PreemptionStep::kSpared:
      return "spared";
  }
  return "?";
}

std::string_view EnumName(PendingReason reason) {
  switch (reason) {
    case PendingReason::kNone:
      return "NONE";
    case PendingReason::kNoNodes:
      return "NO_NODES";
    case PendingReason::kLargerThanAnyNode:
      return "LARGER_THAN_ANY_NODE";
    case PendingReason::kClusterFull:
      return "CLUSTER_FULL";
    case PendingReason::kNodesExcluded:
      return "NODES_EXCLUDED";
    case PendingReason::kWaitingForLocality:
      return "WAITING_FOR_LOCALITY";
    case PendingReason::kStrictLocality:
      return "STRICT_LOCALITY";
    case PendingReason::kQueueMaximum:
      return "QUEUE_MAXIMUM";
    case PendingReason::kFairShare:
      return "FAIR_SHARE";
    case PendingReason::kMasterShare:
      return "MASTER_SHARE";
    case PendingReason::kMaxRunningApps:
      return "MAX_RUNNING_APPS";
    case PendingReason::kUserLimit:
      return "USER_LIMIT";
    case PendingReason::kLabel:
      return "LABEL";
    case PendingReason::kReserved:
      return "RESERVED";
    case PendingReason::kGang:
      return "GANG";
    case PendingReason::kLowerPriority:
      return "LOWER_PRIORITY";
    case PendingReason::kNodesBusy:
      return "NODES_BUSY";
    case PendingReason::kUserMaximum:
      return "USER_MAXIMUM";
    case PendingReason::kNextRound:
      return "NEXT_ROUND";
  }
  return "?";
}

}  // namespace scheduler
}  // namespace fairlead::model
