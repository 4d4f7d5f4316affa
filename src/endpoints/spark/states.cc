#include "endpoints/spark/states.h"

#include "endpoints/spark/message_values.h"

namespace fairlead::endpoints::spark {

const Enumeration& ExecutorStates() {
  static const Enumeration kStates = {
      "org.apache.spark.deploy.ExecutorState$",
      {"LAUNCHING", "RUNNING", "KILLED", "FAILED", "LOST", "EXITED", "DECOMMISSIONED"},
      {2, 5, 4, 1, 3, 6, 0},
      {2, 3, 4, 5},
  };
  return kStates;
}

const Enumeration& DriverStates() {
  static const Enumeration kStates = {
      "org.apache.spark.deploy.master.DriverState$",
      {"SUBMITTED", "RUNNING", "FINISHED", "RELAUNCHING", "UNKNOWN", "KILLED", "FAILED", "ERROR"},
      {2, 5, 4, 7, 1, 3, 6, 0},
      {},
  };
  return kStates;
}

std::string_view Name(ExecutorState state) { return ExecutorStates().values.at(static_cast<size_t>(state)); }
std::string_view Name(DriverState state) { return DriverStates().values.at(static_cast<size_t>(state)); }

bool IsFinished(ExecutorState state) {
  return state == ExecutorState::kKilled || state == ExecutorState::kFailed || state == ExecutorState::kLost ||
         state == ExecutorState::kExited;
}

}  // namespace fairlead::endpoints::spark
