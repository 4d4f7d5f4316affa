#pragma once

#include <cstdint>
#include <string_view>

// States that Spark's messages carry as values of Scala's enumerations.

namespace fairlead::endpoints::spark {

struct Enumeration;

/// org.apache.spark.deploy.ExecutorState by its ids.
enum class ExecutorState : int32_t {
  kLaunching = 0,
  kRunning = 1,
  kKilled = 2,
  kFailed = 3,
  kLost = 4,
  kExited = 5,
  kDecommissioned = 6,
};
std::string_view Name(ExecutorState state);
/// None more will follow for this executor.
bool IsFinished(ExecutorState state);
const Enumeration& ExecutorStates();

/// org.apache.spark.deploy.master.DriverState by its ids.
enum class DriverState : int32_t {
  kSubmitted = 0,
  kRunning = 1,
  kFinished = 2,
  kRelaunching = 3,
  kUnknown = 4,
  kKilled = 5,
  kFailed = 6,
  kError = 7,
};
std::string_view Name(DriverState state);
const Enumeration& DriverStates();

}  // namespace fairlead::endpoints::spark
