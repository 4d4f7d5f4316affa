#include "scheduler/yarn_capacity/recording.h"

#include <utility>

namespace fairlead::scheduler::yarn_capacity {

/// ActivitiesLogger.getRequestName.
static std::string NameOf(const RequestKey& key) {
  return "request_" + std::to_string(key.priority) + "_" + std::to_string(key.id);
}

void Recording::OfQueue(const Queue& queue, ActivityState state, std::string_view why) const {
  if (!on()) return;
  const std::string parent = queue.parent.valid() ? books_.queues[queue.parent].path : "";
  records_->Add({ActivityLevel::kQueue, parent, queue.path, state, std::string(why)});
}

void Recording::OfApp(AttemptId id, ActivityState state, std::string_view why) const {
  if (!on()) return;
  const Attempt& attempt = books_.attempts[id];
  records_->Add({ActivityLevel::kApp, books_.queues[attempt.queue].path, model::ToString(books_.apps[attempt.app].id),
                 state, std::string(why), attempt.priority});
}

void Recording::OfRequest(AttemptId id, const RequestKey& key, ActivityState state, std::string_view why) const {
  if (!on()) return;
  const std::string app = model::ToString(books_.apps[books_.attempts[id].app].id);
  records_->Add({ActivityLevel::kRequest, app, NameOf(key), state, std::string(why), key.priority, key.id});
  OfApp(id, state, "");
}

void Recording::OfNode(AttemptId id, const RequestKey& key, ActivityState state, std::string_view why,
                       std::string container) const {
  if (!on()) return;
  records_->Add({ActivityLevel::kNode, NameOf(key), std::move(container), state, std::string(why)});
  OfRequest(id, key, state, "");
}

void Recording::Finish(AttemptOutcome outcome, const std::string& container) const {
  if (on()) records_->Finish(outcome, container);
}

}  // namespace fairlead::scheduler::yarn_capacity
