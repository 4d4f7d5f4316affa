#include "endpoints/yarn/refusals.h"

#include "model/rejection.h"

namespace fairlead::endpoints::yarn {
namespace {

namespace ex = exceptions;

constexpr char kAsks[] = "Invalid resource request";

RemoteException InvalidAsk(std::string why) {
  return {std::string(ex::kInvalidResourceRequest), kAsks + std::move(why)};
}
RemoteException InvalidMaster(std::string message) {
  return {std::string(ex::kInvalidApplicationMasterRequest), std::move(message)};
}
RemoteException Yarn(std::string message) { return {std::string(ex::kYarn), std::move(message)}; }

/// What a refusal is about, by place; "" or 0 where the core gave less.
struct About {
  const model::Refused& refused;
  std::string name(size_t i) const { return i < refused.names.size() ? refused.names[i] : ""; }
  std::string size(size_t i) const { return i < refused.sizes.size() ? ToString(refused.sizes[i]) : ""; }
  std::string number(size_t i) const { return std::to_string(i < refused.numbers.size() ? refused.numbers[i] : 0); }
};

}  // namespace

// One line or two for each reason: as long as there are reasons.
RemoteException ExceptionOf(const model::Refused& refused) {
  using enum model::Refusal;
  const About about{refused};
  switch (refused.why) {
    case kNone:
      return Yarn("The call was refused without a reason.");
    // Asks.
    case kNoAsk:
      return InvalidAsk(", no resources requested");
    case kTwoAsksAnywhere:
      return InvalidAsk(", only one resource request with * is allowed");
    case kNoAskAnywhere:
      return InvalidAsk(", no resource request specified with *");
    case kLabelsOff:
      return {std::string(ex::kInvalidLabelResourceRequest),
              std::string(kAsks) + ", node label not enabled but request contains label expression"};
    case kAskLabelUnknown:
      return {std::string(ex::kInvalidLabelResourceRequest),
              "Invalid label resource request, cluster do not contain , label= " + about.name(0)};
    case kAskLabelQueue:
      return {std::string(ex::kInvalidLabelResourceRequest),
              std::string(kAsks) + ", queue=" + about.name(0) +
                  " doesn't have permission to access all labels in resource request. labelExpression of resource "
                  "request=" +
                  about.name(1) + ". Queue labels=" + about.name(2)};
    case kAskLabelPlace:
      return {std::string(ex::kInvalidLabelResourceRequest),
              std::string(kAsks) + ", queue=" + about.name(0) +
                  " specified node label expression in a resource request has resource name = " + about.name(1)};
    case kBadCount:
      return InvalidAsk(": count " + about.number(0) + " at '" + about.name(0) + "'");
    case kEmptySize:
      return InvalidAsk(": size " + about.size(0));
    case kNegativeAmount:
      return InvalidAsk("! Cannot allocate containers as requested resource is less than 0! Requested resource type=[" +
                        about.name(0) + "], Requested resource=" + about.size(0));
    case kAboveMaximum:
      return InvalidAsk(
          "! Cannot allocate containers as requested resource is greater than maximum allowed allocation. Requested "
          "resource type=[" +
          about.name(0) + "], Requested resource=" + about.size(0) + ", maximum allowed allocation=" + about.size(1) +
          ", please note that maximum allowed allocation is calculated by scheduler based on maximum resource of "
          "registered NodeManagers, which might be less than configured maximum allocation=" +
          about.size(2));
    case kUnknownType:
      return InvalidAsk(": unknown resource type in " + about.size(0));
    case kTooMuch:
      return InvalidAsk(": " + about.number(0) + " times " + about.size(0) + " is more than can be counted");
    case kTooManyLabels:
      return InvalidAsk(": unknown label '" + about.name(0) + "', and the cluster knows " + about.number(0) +
                        " labels already");
    case kTooManyEntries:
      return InvalidAsk(": " + about.name(0) + " has " + about.number(0) + " entries, and a call may carry " +
                        about.number(1) + "; split it");
    case kTooManyKeys:
      return InvalidAsk(": more than " + about.number(0) +
                        " different keys (priority, allocation request id, size, label) would be pending; ask for "
                        "fewer at a time");
    case kTooManySizes:
      return InvalidAsk(": more than " + about.number(0) +
                        " different sizes would be pending; ask for fewer at a time, or round them");
    case kTooManyPlaces:
      return InvalidAsk(": more than " + about.number(0) +
                        " lines (key and place) would be pending; ask for fewer, or for fewer places");
    case kQueueHasNone:  // DefaultAMSProcessor wraps what the FairScheduler throws
      return Yarn("SchedulerInvalidResoureRequestException: Resource request is invalid for application " +
                  about.name(0) + " because queue " + about.name(1) + " has 0 amount of " + about.name(2));
    case kBlacklistAnywhere:
      return {std::string(ex::kInvalidResourceBlacklistRequest), "Cannot add * to the blacklist!"};
    case kForeignContainer:
      return {std::string(ex::kInvalidContainerRelease),
              "Cannot release container : " + about.name(0) +
                  " not belonging to this application attempt : " + about.name(1)};
    // Submissions.
    case kBadLifetime:
      return Yarn("Invalid application timeout, value=" + about.number(0) + " for type=LIFETIME");
    case kNoQueue:
      return Yarn("Failed to place application " + about.name(0) +
                  " in a queue and submit context queue is null or empty");
    case kBadPlacement:
      return Yarn("Application submitted by user " + about.name(0) + "with illegal queue name '" + about.name(1) +
                  "'.");
    case kNoGroups:
      return Yarn("Group resolution failed: user " + about.name(0) + " has no groups here");
    case kBadQueueName:
    case kNotPlaced:
    case kUnknownQueue:
    case kQueueFull:
    case kNotALeaf:
    case kUserAccess:
    case kQueueLacksType:
      return Yarn(model::RejectionText(refused));
    case kAccessLists:
      return Yarn(std::string(ex::kAccessControl) + ": User " + about.name(0) + " does not have permission to submit " +
                  about.name(1) + " to queue " + about.name(2) + " denied by ACL for queue " + about.name(3));
    case kPriorityAccess:
      return Yarn(model::PriorityAccessText(refused));
    case kWorkflowPriorityAccess:
      return Yarn(model::RejectionText(refused));
    case kNotStored:
      return Yarn("Application " + about.name(0) +
                  " is not accepted: the state store could not keep it: " + about.name(1));
    case kChangeNotStored:
      return Yarn("The state store could not keep the change: " + about.name(0));
    // Applications and attempts.
    case kUnknownApplication:
      return {std::string(ex::kApplicationNotFound),
              "Application with id '" + about.name(0) +
                  "' doesn't exist in RM. Please check that the job submission was successful."};
    case kUnknownApplicationToKill:
      return {std::string(ex::kApplicationNotFound), "Trying to kill an absent application " + about.name(0)};
    case kUnknownAttempt:
      return {std::string(ex::kApplicationAttemptNotFound),
              "ApplicationAttempt with id '" + about.name(0) + "' doesn't exist in RM."};
    case kUnknownContainerToSignal:
      return Yarn("Trying to signal an absent container " + about.name(0));
    case kCannotBeMoved:
      return Yarn("App in " + about.name(0) + " state cannot be moved.");
    case kPriorityIsSettled:
      return Yarn("Application in " + about.name(0) + " state cannot update priority.");
    case kLifetimeIsSettled:
      return Yarn("Application is in " + about.name(0) + " state can not update timeout.");
    case kLifetimeIsOver:
      return Yarn("Expire time is less than current time, current-time=" + about.number(0) +
                  " expire-time=" + about.number(1));
    case kPriorityIsFixed:
      return Yarn("Update application priority is not supported in Fair Scheduler");
    case kMoveUnknownApplication:
      return Yarn("App to be moved is not found.");
    case kMoveStopped:
      return Yarn("Application " + about.name(0) + " is stopped and can't be moved!");
    case kMoveToNoLeaf:
      return Yarn("Target queue " + about.name(0) + " not found or is not a leaf queue.");
    case kMoveQueueFull:
      return Yarn("Moving app to queue " + about.name(0) + " would violate queue maxRunningApps constraints on queue " +
                  about.name(1));
    case kMoveQueueMaximum:
      return Yarn("Moving app to queue " + about.name(0) + " would violate queue maxShare constraints on queue " +
                  about.name(1));
    case kMoveNotRunnable:
      return Yarn("Should have already verified that app " + about.name(0) + " would be runnable in new queue");
    // Masters.
    case kMasterUnknown:
      return InvalidMaster("Application doesn't exist in cache " + about.name(0));
    case kMasterRegistered:
      return InvalidMaster("Application Master is already registered : " + about.name(0));
    case kMasterTooEarly:
      return InvalidMaster("Unmanaged AM must register after AM attempt reaches LAUNCHED state.");
    case kAttemptNotServed:
      return {std::string(ex::kApplicationAttemptNotFound),
              "Application attempt " + about.name(0) + " doesn't exist in ApplicationMasterService cache."};
    case kMasterNotRegistered:
      return {std::string(ex::kApplicationMasterNotRegistered),
              "AM is not registered for known application attempt: " + about.name(0) +
                  " or RM had restarted after AM registered.  AM should re-register."};
    case kMasterFinishesTooEarly:
      return {std::string(ex::kApplicationMasterNotRegistered),
              "Application Master is trying to unregister before registering for: " + about.name(0)};
    case kResponseId:
      return InvalidMaster("Invalid responseId in AllocateRequest from application attempt: " + about.name(0) +
                           " expect responseId to be " + about.number(0) + " but get " + about.number(1));
    case kAttemptEnded:
      return {std::string(ex::kApplicationAttemptNotFound), "The application attempt has ended."};
    // Updates of containers.
    case kUpdateUnknownContainer:
      return Yarn("INVALID_CONTAINER_ID");
    case kUpdateOutstanding:
      return Yarn("UPDATE_OUTSTANDING_ERROR");
    case kUpdateVersion:
      return Yarn("INCORRECT_CONTAINER_VERSION_ERROR");
    case kUpdateKind:
      return Yarn("UPDATE_TYPE_NOT_SUPPORTED");
    case kUpdateRange:
      return Yarn("RESOURCE_OUTSIDE_ALLOWED_RANGE");
    case kResizeSize:
      return Yarn("invalid size " + about.size(0));
    case kResizeNodeFull:
      return Yarn("node has no room for " + about.size(0));
    case kResizeQueueMaximum:
      return Yarn("queue " + about.name(0) + " is at its maximum");
    case kResizeUserMaximum:
      return Yarn(about.name(0) + " is at the maximum of all queues together");
    case kResizeFixed:
      return Yarn("containers keep their size under this scheduler");
    // Administration.
    case kUnknownNode:
      return Yarn("Node " + about.name(0) + " is not registered.");
    case kLabelName:
      return Yarn(
          "java.io.IOException: label name should only contains {0-9, a-z, A-Z, -, _} and should not started "
          "with {-,_}, now it is= " +
          about.name(0));
    case kLabelExclusivity:
      return Yarn("java.io.IOException: Exclusivity cannot be modified for an existing label with : <" + about.name(0) +
                  ":exclusivity=" + about.name(1) + ">");
    case kLabelNotThere:
      return Yarn("java.io.IOException: Node label=" + about.name(0) +
                  " to be removed doesn't existed in cluster node labels collection.");
    case kLabelInUse:
      return Yarn("java.io.IOException: Cannot remove label=" + about.name(0) + ", because queue=" + about.name(1) +
                  " is using this label. Please remove label on queue before remove the label");
    case kLabelsUnknown:
      return Yarn(
          "java.io.IOException: Not all labels being replaced contained by known label collections, please "
          "check, new labels=[" +
          about.name(0) + "]");
    case kLabelNodes:
      return Yarn("java.io.IOException: Failed to replace labels as there are unknown nodes:[" + about.name(0) + "]");
    case kBadQueues:  // ResourceScheduler.reinitialize
      return {std::string(ex::kIo), about.name(0)};
  }
  return Yarn("The call was refused.");
}

}  // namespace fairlead::endpoints::yarn
