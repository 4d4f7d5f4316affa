#include "model/tasks.h"

namespace fairlead::model::tasks {

std::string_view EnumName(Level level) {
  switch (level) {
    case Level::kProcessLocal:
      return "PROCESS_LOCAL";
    case Level::kNodeLocal:
      return "NODE_LOCAL";
    case Level::kNoPref:
      return "NO_PREF";
    case Level::kRackLocal:
      return "RACK_LOCAL";
    case Level::kAny:
      return "ANY";
  }
  return "?";
}

std::string_view EnumName(LossKind kind) {
  switch (kind) {
    case LossKind::kExitedByApp:
      return "exited, caused by the application";
    case LossKind::kExitedNotByApp:
      return "exited, not caused by the application";
    case LossKind::kKilled:
      return "killed by the driver";
    case LossKind::kDecommissioned:
      return "decommissioned";
    case LossKind::kProcessLost:
      return "connection lost";
  }
  return "?";
}

std::string_view EnumName(FailureKind kind) {
  switch (kind) {
    case FailureKind::kException:
      return "exception";
    case FailureKind::kKilled:
      return "killed";
    case FailureKind::kCommitDenied:
      return "commit_denied";
    case FailureKind::kResultLost:
      return "result_lost";
    case FailureKind::kFetchFailed:
      return "fetch_failed";
  }
  return "?";
}

std::string_view EnumName(EndKind kind) {
  switch (kind) {
    case EndKind::kSuccess:
      return "success";
    case EndKind::kException:
      return "exception";
    case EndKind::kKilled:
      return "killed";
    case EndKind::kCommitDenied:
      return "commit_denied";
    case EndKind::kResultLost:
      return "result_lost";
    case EndKind::kFetchFailed:
      return "fetch_failed";
    case EndKind::kExecutorLost:
      return "executor_lost caused_by_app=false";
    case EndKind::kExecutorLostByApp:
      return "executor_lost caused_by_app=true";
    case EndKind::kResubmitted:
      return "resubmitted";
  }
  return "?";
}

}  // namespace fairlead::model::tasks
