#include "model/rejection.h"

namespace fairlead::model {

std::string PriorityAccessText(const Refused& refused) {
  const auto name = [&](size_t i) { return i < refused.names.size() ? refused.names[i] : std::string(); };
  const std::string priority = refused.numbers.empty() ? "" : std::to_string(refused.numbers[0]);
  return "org.apache.hadoop.security.AccessControlException: User " + name(0) +
         " (auth:SIMPLE) does not have permission to submit/update " + name(1) + " for {Priority: " + priority + "}";
}

std::string RejectionText(const Refused& refused) {
  using enum Refusal;
  const auto name = [&](size_t i) { return i < refused.names.size() ? refused.names[i] : std::string(); };
  switch (refused.why) {
    case kBadQueueName:
      return "Illegal queue name '" + name(0) + "': " + name(1);
    case kNotPlaced:
      return "Application rejected by queue placement policy";
    case kUnknownQueue:
      if (!name(1).empty()) return name(1);
      return "Application submitted to unknown queue: " + name(0);
    case kQueueFull:  // the queue; then, where the scheduler has more to say, its sentence
      if (!name(1).empty()) return name(1);
      return "Queue " + name(0) + " takes no more applications now";
    case kNotALeaf:
      if (!name(1).empty()) return name(1);
      return name(0) + " is not a leaf queue";
    case kUserAccess:
      return "User " + name(0) + " does not have permission to submit " + name(1) + " to queue " + name(2);
    case kQueueLacksType:
      return "Cannot submit application " + name(0) + " to queue " + name(1) +
             " because it has zero amount of resource for a requested resource! Invalid requested AM resources: " +
             name(2);
    case kWorkflowPriorityAccess:
      return "Failed to submit application " + name(1) + " submitted by user " + name(0) +
             " reason: " + PriorityAccessText(refused);
    default:
      return ToString(refused);
  }
}

}  // namespace fairlead::model
