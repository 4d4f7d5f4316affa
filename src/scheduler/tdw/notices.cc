#include "scheduler/tdw/notices.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fairlead::scheduler::tdw {

int32_t JavaHash(std::string_view text) {
  uint32_t hash = 0;
  for (const char c : text) hash = 31 * hash + static_cast<unsigned char>(c);
  return static_cast<int32_t>(hash);
}

Notices::Message& Notices::Of(model::AppIndex session, const model::ApplicationId& name) {
  const size_t thread = static_cast<size_t>(JavaHash(model::ToString(name)) & INT32_MAX) % threads_.size();
  std::vector<Message>& messages = threads_[thread];
  const auto at =
      std::find_if(messages.begin(), messages.end(), [&](const Message& one) { return one.session == session; });
  if (at != messages.end()) return *at;
  return messages.emplace_back(Message{thread, session, {}, {}});
}

void Notices::Granted(model::AppIndex session, const model::ContainerId& container) {
  Of(session, container.attempt.app).granted.push_back(container);
}

void Notices::Preempted(model::AppIndex session, const model::ContainerId& container) {
  Of(session, container.attempt.app).preempted.push_back(container);
}

std::vector<Notices::Message> Notices::Take() {
  std::vector<Message> all;
  for (std::vector<Message>& messages : threads_) {
    std::move(messages.begin(), messages.end(), std::back_inserter(all));
    messages.clear();
  }
  return all;
}

}  // namespace fairlead::scheduler::tdw
