#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "model/resources.h"

namespace fairlead::model {

/// Why a call is refused. A core says which reason it is and what the reason is about; endpoints/yarn/refusals.cc
/// spells Java's exception and sentence. Behind each value: what Refused::names, sizes and numbers hold, in order.
enum class Refusal : uint8_t {
  kNone,
  // Asks.
  kNoAsk,            // -
  kTwoAsksAnywhere,  // -
  kNoAskAnywhere,    // -
  kLabelsOff,        // -
  kBadCount,         // place; numbers: count
  kEmptySize,        // sizes: asked
  kNegativeAmount,   // type; sizes: asked
  kAboveMaximum,     // type; sizes: asked, maximum now, configured maximum
  kUnknownType,      // sizes: asked
  kTooMuch,          // sizes: asked; numbers: count
  kTooManyLabels,    // label; numbers: limit
  kTooManyKeys,      // numbers: limit
  kTooManySizes,     // numbers: limit
  kTooManyPlaces,    // numbers: limit
  kQueueHasNone,     // application, queue, type
  kBlacklistAnywhere,
  kForeignContainer,  // container, attempt
  // Submissions.
  kBadLifetime,      // numbers: seconds
  kNoQueue,          // application
  kBadQueueName,     // queue, what is wrong
  kBadPlacement,     // user, queue: by a placement rule
  kNoGroups,         // user
  kNotPlaced,        // -: no placement rule gives a queue
  kUnknownQueue,     // queue
  kNotALeaf,         // queue
  kUserAccess,       // user, application, queue
  kQueueLacksType,   // application, queue, type that the master needs
  kAccessLists,      // user, application, queue, the queue whose list decides
  kNotStored,        // application, error of the store
  kChangeNotStored,  // error of the store
  // Applications and attempts.
  kUnknownApplication,        // application
  kUnknownApplicationToKill,  // application
  kUnknownAttempt,            // attempt
  kUnknownContainerToSignal,  // container
  kCannotBeMoved,             // state
  kPriorityIsSettled,         // state
  kLifetimeIsSettled,         // state
  kLifetimeIsOver,            // numbers: now, end (milliseconds since 1970)
  kPriorityIsFixed,           // -: the scheduler knows no priorities of applications
  kMoveUnknownApplication,    // -
  kMoveStopped,               // application
  kMoveToNoLeaf,              // queue
  kMoveQueueFull,             // queue, the one above or itself that runs as many applications as it may
  kMoveQueueMaximum,          // queue, the one above or itself that would be above its maximum
  kMoveNotRunnable,           // application
  // Masters.
  kMasterUnknown,           // attempt
  kMasterRegistered,        // application
  kMasterTooEarly,          // -
  kAttemptNotServed,        // attempt
  kMasterNotRegistered,     // attempt
  kMasterFinishesTooEarly,  // application
  kResponseId,              // attempt; numbers: expected, given
  kAttemptEnded,            // -
  // Updates of containers.
  kUpdateUnknownContainer,
  kUpdateOutstanding,
  kUpdateVersion,
  kUpdateKind,
  kUpdateRange,
  kResizeSize,          // sizes: asked
  kResizeNodeFull,      // sizes: asked
  kResizeQueueMaximum,  // queue
  kResizeUserMaximum,   // user or group
  kResizeFixed,         // -: containers keep their size under this scheduler
  // Administration.
  kUnknownNode,  // node
  kBadQueues,    // what is wrong with the queues' configuration
  // Found before the call reaches the core.
  kTooManyEntries,  // list; numbers: entries, limit
  // Submissions to a queue that takes no more applications, or none.
  kQueueFull,  // queue
  // Node labels: what an ask says of them.
  kAskLabelUnknown,  // label
  kAskLabelQueue,    // queue, label, those of the queue
  kAskLabelPlace,    // queue, name of the place
  // Their administration.
  kLabelName,         // label
  kLabelExclusivity,  // label, as it was asked for
  kLabelNotThere,     // label
  kLabelInUse,        // label, queue
  kLabelsUnknown,     // label
  kLabelNodes,        // nodes
  // Priorities that are not everybody's; numbers: the priority.
  kPriorityAccess,          // user, application
  kWorkflowPriorityAccess,  // user, application: by its workflow
};
std::string_view EnumName(Refusal refusal);

/// One refusal: the reason and what it is about. Nothing of the refused call was applied.
struct Refused {
  Refusal why = Refusal::kNone;
  std::vector<std::string> names;
  std::vector<Resources> sizes;
  std::vector<int64_t> numbers;
  FL_FIELDS(why, names, sizes, numbers)
  friend bool operator==(const Refused&, const Refused&) = default;

  /// True when there is one.
  explicit operator bool() const { return why != Refusal::kNone; }
};
/// For logs: the name of the reason, then what it is about.
std::string ToString(const Refused& refused);

}  // namespace fairlead::model
