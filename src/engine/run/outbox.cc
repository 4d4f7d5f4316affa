#include "engine/run/outbox.h"

#include <utility>

namespace fairlead::engine {

namespace we = wire::engine;

void Outbox::Send(we::Message message, bool more) {
  bool wait = more;
  {
    const std::lock_guard lock(mutex_);
    const bool started = std::holds_alternative<we::TaskStarted>(message);
    const auto* const done = std::get_if<we::TaskDone>(&message);
    const auto* const last = messages_.empty() ? nullptr : std::get_if<we::TaskStarted>(&messages_.back());
    if (done != nullptr && last != nullptr && done->task == last->task) {
      messages_.back() = std::move(message);  // its end says that it had begun
    } else {
      messages_.push_back(std::move(message));
    }
    wait = wait && messages_.size() < kMessagesMax;
    if (started && wait && starts_expected_) return;
    const Wake wanted = wait ? Wake::kWaiting : Wake::kNow;
    if (wake_ >= wanted) return;
    wake_ = wanted;
  }
  loop_.Post([self = shared_from_this(), wait] {
    if (!wait) return self->Flush();
    self->loop_.After(kWait, [self] { self->Flush(); });
  });
}

void Outbox::ExpectStarts() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(starts_expected_, true)) return;
  }
  loop_.After(kStartedWait, [self = shared_from_this()] {
    {
      const std::lock_guard lock(self->mutex_);
      self->starts_expected_ = false;
    }
    self->Flush();
  });
}

void Outbox::Flush() {
  std::vector<we::Message> messages;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(messages_);
    wake_ = Wake::kNone;
  }
  if (!deliver_) return;
  for (we::Message& message : messages) deliver_(std::move(message));
}

void Outbox::Close() {
  Flush();
  deliver_ = nullptr;
}

}  // namespace fairlead::engine
