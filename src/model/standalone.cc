#include "model/standalone.h"

namespace fairlead::model::standalone {

std::string_view EnumName(ExecutorState state) {
  switch (state) {
    case ExecutorState::kLaunching:
      return "LAUNCHING";
    case ExecutorState::kRunning:
      return "RUNNING";
    case ExecutorState::kKilled:
      return "KILLED";
    case ExecutorState::kFailed:
      return "FAILED";
    case ExecutorState::kLost:
      return "LOST";
    case ExecutorState::kExited:
      return "EXITED";
    case ExecutorState::kDecommissioned:
      return "DECOMMISSIONED";
  }
  return "?";
}

std::string_view EnumName(AppState state) {
  switch (state) {
    case AppState::kWaiting:
      return "WAITING";
    case AppState::kRunning:
      return "RUNNING";
    case AppState::kFinished:
      return "FINISHED";
    case AppState::kFailed:
      return "FAILED";
    case AppState::kKilled:
      return "KILLED";
    case AppState::kUnknown:
      return "UNKNOWN";
  }
  return "?";
}

std::string_view EnumName(DriverState state) {
  switch (state) {
    case DriverState::kSubmitted:
      return "SUBMITTED";
    case DriverState::kRunning:
      return "RUNNING";
    case DriverState::kFinished:
      return "FINISHED";
    case DriverState::kRelaunching:
      return "RELAUNCHING";
    case DriverState::kUnknown:
      return "UNKNOWN";
    case DriverState::kKilled:
      return "KILLED";
    case DriverState::kFailed:
      return "FAILED";
    case DriverState::kError:
      return "ERROR";
  }
  return "?";
}

std::string_view EnumName(WorkerState state) {
  switch (state) {
    case WorkerState::kAlive:
      return "ALIVE";
    case WorkerState::kDead:
      return "DEAD";
    case WorkerState::kDecommissioned:
      return "DECOMMISSIONED";
    case WorkerState::kUnknown:
      return "UNKNOWN";
  }
  return "?";
}

}  // namespace fairlead::model::standalone
