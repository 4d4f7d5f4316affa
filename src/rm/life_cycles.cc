#include "rm/life_cycles.h"

namespace fairlead::rm {

using model::rm::AppState;
using model::rm::AttemptState;
using model::rm::ContainerState;
using model::rm::NodeState;

namespace {

constexpr Transition<AppState, AppEvent> kAppLines[] = {
    {AppState::kNew, AppEvent::kStart, AppState::kNewSaving},
    {AppState::kNew, AppEvent::kRejected, AppState::kSubmitted},
    {AppState::kNew, AppEvent::kRecover, AppState::kAccepted},
    {AppState::kNew, AppEvent::kRecover, AppState::kFinished},
    {AppState::kNew, AppEvent::kRecover, AppState::kFailed},
    {AppState::kNew, AppEvent::kRecover, AppState::kKilled},
    {AppState::kNewSaving, AppEvent::kNewSaved, AppState::kSubmitted},
    {AppState::kNewSaving, AppEvent::kKill, AppState::kFinalSaving},
    {AppState::kSubmitted, AppEvent::kAccepted, AppState::kAccepted},
    {AppState::kSubmitted, AppEvent::kRejected, AppState::kFinalSaving},
    {AppState::kSubmitted, AppEvent::kKill, AppState::kFinalSaving},
    {AppState::kAccepted, AppEvent::kRejected, AppState::kFinalSaving},
    {AppState::kAccepted, AppEvent::kAttemptRegistered, AppState::kRunning},
    {AppState::kAccepted, AppEvent::kAttemptUnregistered, AppState::kFinalSaving},
    {AppState::kAccepted, AppEvent::kAttemptFinished, AppState::kFinalSaving},
    {AppState::kAccepted, AppEvent::kAttemptFailed, AppState::kAccepted},
    {AppState::kAccepted, AppEvent::kAttemptFailed, AppState::kFinalSaving},
    {AppState::kAccepted, AppEvent::kAttemptKilled, AppState::kFinalSaving},
    {AppState::kAccepted, AppEvent::kKill, AppState::kKilling},
    {AppState::kRunning, AppEvent::kAttemptUnregistered, AppState::kFinalSaving},
    {AppState::kRunning, AppEvent::kAttemptFinished, AppState::kFinalSaving},
    {AppState::kRunning, AppEvent::kAttemptFailed, AppState::kAccepted},
    {AppState::kRunning, AppEvent::kAttemptFailed, AppState::kFinalSaving},
    {AppState::kRunning, AppEvent::kAttemptKilled, AppState::kFinalSaving},
    {AppState::kRunning, AppEvent::kKill, AppState::kKilling},
    {AppState::kKilling, AppEvent::kRejected, AppState::kFinalSaving},
    {AppState::kKilling, AppEvent::kAttemptUnregistered, AppState::kFinalSaving},
    {AppState::kKilling, AppEvent::kAttemptFinished, AppState::kFinalSaving},
    {AppState::kKilling, AppEvent::kAttemptFailed, AppState::kFinalSaving},
    {AppState::kKilling, AppEvent::kAttemptKilled, AppState::kFinalSaving},
    {AppState::kFinalSaving, AppEvent::kUpdateSaved, AppState::kFinishing},
    {AppState::kFinalSaving, AppEvent::kUpdateSaved, AppState::kFinished},
    {AppState::kFinalSaving, AppEvent::kUpdateSaved, AppState::kFailed},
    {AppState::kFinalSaving, AppEvent::kUpdateSaved, AppState::kKilled},
    {AppState::kFinishing, AppEvent::kAttemptFinished, AppState::kFinished},
};

constexpr Transition<AttemptState, AttemptEvent> kAttemptLines[] = {
    {AttemptState::kNew, AttemptEvent::kStart, AttemptState::kSubmitted},
    {AttemptState::kNew, AttemptEvent::kRecover, AttemptState::kLaunched},
    {AttemptState::kSubmitted, AttemptEvent::kAdded, AttemptState::kScheduled},
    {AttemptState::kSubmitted, AttemptEvent::kAdded, AttemptState::kLaunchedUnmanagedSaving},
    {AttemptState::kSubmitted, AttemptEvent::kFail, AttemptState::kFinalSaving},
    {AttemptState::kSubmitted, AttemptEvent::kKill, AttemptState::kFinalSaving},
    {AttemptState::kScheduled, AttemptEvent::kContainerAllocated, AttemptState::kAllocatedSaving},
    {AttemptState::kScheduled, AttemptEvent::kFail, AttemptState::kFinalSaving},
    {AttemptState::kScheduled, AttemptEvent::kKill, AttemptState::kFinalSaving},
    {AttemptState::kScheduled, AttemptEvent::kApplicationEnded, AttemptState::kFailed},
    {AttemptState::kAllocatedSaving, AttemptEvent::kNewSaved, AttemptState::kAllocated},
    {AttemptState::kAllocatedSaving, AttemptEvent::kFail, AttemptState::kFinalSaving},
    {AttemptState::kAllocatedSaving, AttemptEvent::kKill, AttemptState::kFinalSaving},
    {AttemptState::kAllocated, AttemptEvent::kLaunched, AttemptState::kLaunched},
    {AttemptState::kAllocated, AttemptEvent::kFail, AttemptState::kFinalSaving},
    {AttemptState::kAllocated, AttemptEvent::kKill, AttemptState::kFinalSaving},
    {AttemptState::kLaunchedUnmanagedSaving, AttemptEvent::kNewSaved, AttemptState::kLaunched},
    {AttemptState::kLaunchedUnmanagedSaving, AttemptEvent::kFail, AttemptState::kFinalSaving},
    {AttemptState::kLaunchedUnmanagedSaving, AttemptEvent::kKill, AttemptState::kFinalSaving},
    {AttemptState::kLaunched, AttemptEvent::kRegistered, AttemptState::kRunning},
    {AttemptState::kLaunched, AttemptEvent::kFail, AttemptState::kFinalSaving},
    {AttemptState::kLaunched, AttemptEvent::kKill, AttemptState::kFinalSaving},
    {AttemptState::kLaunched, AttemptEvent::kApplicationEnded, AttemptState::kFailed},
    {AttemptState::kRunning, AttemptEvent::kUnregistered, AttemptState::kFinalSaving},
    {AttemptState::kRunning, AttemptEvent::kFail, AttemptState::kFinalSaving},
    {AttemptState::kRunning, AttemptEvent::kKill, AttemptState::kFinalSaving},
    {AttemptState::kRunning, AttemptEvent::kApplicationEnded, AttemptState::kFailed},
    {AttemptState::kFinalSaving, AttemptEvent::kUpdateSaved, AttemptState::kFinishing},
    {AttemptState::kFinalSaving, AttemptEvent::kUpdateSaved, AttemptState::kFinished},
    {AttemptState::kFinalSaving, AttemptEvent::kUpdateSaved, AttemptState::kFailed},
    {AttemptState::kFinalSaving, AttemptEvent::kUpdateSaved, AttemptState::kKilled},
    {AttemptState::kFinishing, AttemptEvent::kContainerFinished, AttemptState::kFinished},
    {AttemptState::kFinishing, AttemptEvent::kExpire, AttemptState::kFinished},
};

constexpr Transition<ContainerState, ContainerEvent> kContainerLines[] = {
    {ContainerState::kAllocated, ContainerEvent::kAcquired, ContainerState::kAcquired},
    {ContainerState::kAllocated, ContainerEvent::kFinished, ContainerState::kCompleted},
    {ContainerState::kAllocated, ContainerEvent::kExpire, ContainerState::kExpired},
    {ContainerState::kAllocated, ContainerEvent::kPreempted, ContainerState::kKilled},
    {ContainerState::kAcquired, ContainerEvent::kLaunched, ContainerState::kRunning},
    {ContainerState::kAcquired, ContainerEvent::kFinished, ContainerState::kCompleted},
    {ContainerState::kAcquired, ContainerEvent::kExpire, ContainerState::kExpired},
    {ContainerState::kAcquired, ContainerEvent::kPreempted, ContainerState::kKilled},
    {ContainerState::kRunning, ContainerEvent::kFinished, ContainerState::kCompleted},
    {ContainerState::kRunning, ContainerEvent::kPreempted, ContainerState::kKilled},
    // Told of in the same step, before the scheduler has let go of it.
    {ContainerState::kExpired, ContainerEvent::kFinished, ContainerState::kCompleted},
    {ContainerState::kExpired, ContainerEvent::kPreempted, ContainerState::kKilled},
    {ContainerState::kCompleted, ContainerEvent::kFinished, ContainerState::kCompleted},
    {ContainerState::kCompleted, ContainerEvent::kPreempted, ContainerState::kKilled},
};

constexpr Transition<NodeState, NodeEvent> kNodeLines[] = {
    {NodeState::kNew, NodeEvent::kStarted, NodeState::kRunning},
    {NodeState::kNew, NodeEvent::kStarted, NodeState::kUnhealthy},
    {NodeState::kRunning, NodeEvent::kStatusUpdate, NodeState::kUnhealthy},
    {NodeState::kRunning, NodeEvent::kGracefulDecommission, NodeState::kDecommissioning},
    {NodeState::kRunning, NodeEvent::kDecommission, NodeState::kDecommissioned},
    {NodeState::kRunning, NodeEvent::kExpire, NodeState::kLost},
    {NodeState::kRunning, NodeEvent::kRebooting, NodeState::kRebooted},
    {NodeState::kRunning, NodeEvent::kShutdown, NodeState::kShutdown},
    {NodeState::kUnhealthy, NodeEvent::kStatusUpdate, NodeState::kRunning},
    {NodeState::kUnhealthy, NodeEvent::kDecommission, NodeState::kDecommissioned},
    {NodeState::kUnhealthy, NodeEvent::kExpire, NodeState::kLost},
    {NodeState::kUnhealthy, NodeEvent::kRebooting, NodeState::kRebooted},
    {NodeState::kUnhealthy, NodeEvent::kShutdown, NodeState::kShutdown},
    {NodeState::kDecommissioning, NodeEvent::kRecommission, NodeState::kRunning},
    {NodeState::kDecommissioning, NodeEvent::kDecommission, NodeState::kDecommissioned},
    {NodeState::kDecommissioning, NodeEvent::kExpire, NodeState::kLost},
    {NodeState::kDecommissioning, NodeEvent::kRebooting, NodeState::kRebooted},
    {NodeState::kDecommissioning, NodeEvent::kShutdown, NodeState::kShutdown},
};

constexpr AppLifeCycle kApp(kAppLines);
constexpr AttemptLifeCycle kAttempt(kAttemptLines);
constexpr ContainerLifeCycle kContainer(kContainerLines);
constexpr NodeLifeCycle kNode(kNodeLines);

}  // namespace

const AppLifeCycle& AppLife() { return kApp; }
const AttemptLifeCycle& AttemptLife() { return kAttempt; }
const ContainerLifeCycle& ContainerLife() { return kContainer; }
const NodeLifeCycle& NodeLife() { return kNode; }

std::string_view EnumName(AppEvent event) {
  switch (event) {
    case AppEvent::kStart:
      return "START";
    case AppEvent::kRecover:
      return "RECOVER";
    case AppEvent::kRejected:
      return "APP_REJECTED";
    case AppEvent::kNewSaved:
      return "APP_NEW_SAVED";
    case AppEvent::kAccepted:
      return "APP_ACCEPTED";
    case AppEvent::kAttemptRegistered:
      return "ATTEMPT_REGISTERED";
    case AppEvent::kAttemptUnregistered:
      return "ATTEMPT_UNREGISTERED";
    case AppEvent::kAttemptFinished:
      return "ATTEMPT_FINISHED";
    case AppEvent::kAttemptFailed:
      return "ATTEMPT_FAILED";
    case AppEvent::kAttemptKilled:
      return "ATTEMPT_KILLED";
    case AppEvent::kKill:
      return "KILL";
    case AppEvent::kUpdateSaved:
      return "APP_UPDATE_SAVED";
  }
  return "?";
}

std::string_view EnumName(AttemptEvent event) {
  switch (event) {
    case AttemptEvent::kStart:
      return "START";
    case AttemptEvent::kRecover:
      return "RECOVER";
    case AttemptEvent::kAdded:
      return "ATTEMPT_ADDED";
    case AttemptEvent::kContainerAllocated:
      return "CONTAINER_ALLOCATED";
    case AttemptEvent::kNewSaved:
      return "ATTEMPT_NEW_SAVED";
    case AttemptEvent::kLaunched:
      return "LAUNCHED";
    case AttemptEvent::kRegistered:
      return "REGISTERED";
    case AttemptEvent::kUnregistered:
      return "UNREGISTERED";
    case AttemptEvent::kFail:
      return "FAIL";
    case AttemptEvent::kKill:
      return "KILL";
    case AttemptEvent::kUpdateSaved:
      return "ATTEMPT_UPDATE_SAVED";
    case AttemptEvent::kContainerFinished:
      return "CONTAINER_FINISHED";
    case AttemptEvent::kExpire:
      return "EXPIRE";
    case AttemptEvent::kApplicationEnded:
      return "APP_COMPLETED";
  }
  return "?";
}

std::string_view EnumName(ContainerEvent event) {
  switch (event) {
    case ContainerEvent::kAcquired:
      return "ACQUIRED";
    case ContainerEvent::kLaunched:
      return "LAUNCHED";
    case ContainerEvent::kFinished:
      return "FINISHED";
    case ContainerEvent::kExpire:
      return "EXPIRE";
    case ContainerEvent::kPreempted:
      return "PREEMPTED";
  }
  return "?";
}

std::string_view EnumName(NodeEvent event) {
  switch (event) {
    case NodeEvent::kStarted:
      return "STARTED";
    case NodeEvent::kStatusUpdate:
      return "STATUS_UPDATE";
    case NodeEvent::kGracefulDecommission:
      return "GRACEFUL_DECOMMISSION";
    case NodeEvent::kRecommission:
      return "RECOMMISSION";
    case NodeEvent::kDecommission:
      return "DECOMMISSION";
    case NodeEvent::kExpire:
      return "EXPIRE";
    case NodeEvent::kRebooting:
      return "REBOOTING";
    case NodeEvent::kShutdown:
      return "SHUTDOWN";
  }
  return "?";
}

}  // namespace fairlead::rm
