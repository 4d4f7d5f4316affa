#include "model/refusal.h"

namespace fairlead::model {

std::string_view EnumName(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "NONE";
    case Refusal::kNoAsk:
      return "NO_ASK";
    case Refusal::kTwoAsksAnywhere:
      return "TWO_ASKS_ANYWHERE";
    case Refusal::kNoAskAnywhere:
      return "NO_ASK_ANYWHERE";
    case Refusal::kLabelsOff:
      return "LABELS_OFF";
    case Refusal::kBadCount:
      return "BAD_COUNT";
    case Refusal::kEmptySize:
      return "EMPTY_SIZE";
    case Refusal::kNegativeAmount:
      return "NEGATIVE_AMOUNT";
    case Refusal::kAboveMaximum:
      return "ABOVE_MAXIMUM";
    case Refusal::kUnknownType:
      return "UNKNOWN_TYPE";
    case Refusal::kTooMuch:
      return "TOO_MUCH";
    case Refusal::kTooManyLabels:
      return "TOO_MANY_LABELS";
    case Refusal::kTooManyEntries:
      return "TOO_MANY_ENTRIES";
    case Refusal::kQueueFull:
      return "QUEUE_FULL";
    case Refusal::kTooManyKeys:
      return "TOO_MANY_KEYS";
    case Refusal::kTooManySizes:
      return "TOO_MANY_SIZES";
    case Refusal::kTooManyPlaces:
      return "TOO_MANY_PLACES";
    case Refusal::kQueueHasNone:
      return "QUEUE_HAS_NONE";
    case Refusal::kBlacklistAnywhere:
      return "BLACKLIST_ANYWHERE";
    case Refusal::kForeignContainer:
      return "FOREIGN_CONTAINER";
    case Refusal::kBadLifetime:
      return "BAD_LIFETIME";
    case Refusal::kNoQueue:
      return "NO_QUEUE";
    case Refusal::kBadQueueName:
      return "BAD_QUEUE_NAME";
    case Refusal::kBadPlacement:
      return "BAD_PLACEMENT";
    case Refusal::kNoGroups:
      return "NO_GROUPS";
    case Refusal::kNotPlaced:
      return "NOT_PLACED";
    case Refusal::kUnknownQueue:
      return "UNKNOWN_QUEUE";
    case Refusal::kNotALeaf:
      return "NOT_A_LEAF";
    case Refusal::kUserAccess:
      return "USER_ACCESS";
    case Refusal::kQueueLacksType:
      return "QUEUE_LACKS_TYPE";
    case Refusal::kAccessLists:
      return "ACCESS_LISTS";
    case Refusal::kNotStored:
      return "NOT_STORED";
    case Refusal::kChangeNotStored:
      return "CHANGE_NOT_STORED";
    case Refusal::kUnknownApplication:
      return "UNKNOWN_APPLICATION";
    case Refusal::kUnknownApplicationToKill:
      return "UNKNOWN_APPLICATION_TO_KILL";
    case Refusal::kUnknownAttempt:
      return "UNKNOWN_ATTEMPT";
    case Refusal::kUnknownContainerToSignal:
      return "UNKNOWN_CONTAINER_TO_SIGNAL";
    case Refusal::kCannotBeMoved:
      return "CANNOT_BE_MOVED";
    case Refusal::kPriorityIsSettled:
      return "PRIORITY_IS_SETTLED";
    case Refusal::kLifetimeIsSettled:
      return "LIFETIME_IS_SETTLED";
    case Refusal::kLifetimeIsOver:
      return "LIFETIME_IS_OVER";
    case Refusal::kPriorityIsFixed:
      return "PRIORITY_IS_FIXED";
    case Refusal::kMoveUnknownApplication:
      return "MOVE_UNKNOWN_APPLICATION";
    case Refusal::kMoveStopped:
      return "MOVE_STOPPED";
    case Refusal::kMoveToNoLeaf:
      return "MOVE_TO_NO_LEAF";
    case Refusal::kMoveQueueFull:
      return "MOVE_QUEUE_FULL";
    case Refusal::kMoveQueueMaximum:
      return "MOVE_QUEUE_MAXIMUM";
    case Refusal::kMoveNotRunnable:
      return "MOVE_NOT_RUNNABLE";
    case Refusal::kMasterUnknown:
      return "MASTER_UNKNOWN";
    case Refusal::kMasterRegistered:
      return "MASTER_REGISTERED";
    case Refusal::kMasterTooEarly:
      return "MASTER_TOO_EARLY";
    case Refusal::kAttemptNotServed:
      return "ATTEMPT_NOT_SERVED";
    case Refusal::kMasterNotRegistered:
      return "MASTER_NOT_REGISTERED";
    case Refusal::kMasterFinishesTooEarly:
      return "MASTER_FINISHES_TOO_EARLY";
    case Refusal::kResponseId:
      return "RESPONSE_ID";
    case Refusal::kAttemptEnded:
      return "ATTEMPT_ENDED";
    case Refusal::kUpdateUnknownContainer:
      return "UPDATE_UNKNOWN_CONTAINER";
    case Refusal::kUpdateOutstanding:
      return "UPDATE_OUTSTANDING";
    case Refusal::kUpdateVersion:
      return "UPDATE_VERSION";
    case Refusal::kUpdateKind:
      return "UPDATE_KIND";
    case Refusal::kUpdateRange:
      return "UPDATE_RANGE";
    case Refusal::kResizeSize:
      return "RESIZE_SIZE";
    case Refusal::kResizeNodeFull:
      return "RESIZE_NODE_FULL";
    case Refusal::kResizeQueueMaximum:
      return "RESIZE_QUEUE_MAXIMUM";
    case Refusal::kResizeUserMaximum:
      return "RESIZE_USER_MAXIMUM";
    case Refusal::kResizeFixed:
      return "RESIZE_FIXED";
    case Refusal::kUnknownNode:
      return "UNKNOWN_NODE";
    case Refusal::kBadQueues:
      return "BAD_QUEUES";
  }
  return "?";
}

std::string ToString(const Refused& refused) {
  std::string text(EnumName(refused.why));
  for (const std::string& name : refused.names) text += " '" + name + "'";
  for (const Resources& size : refused.sizes) text += " " + ToString(size);
  for (const int64_t number : refused.numbers) text += " " + std::to_string(number);
  return text;
}

}  // namespace fairlead::model
