#include "process/rm/large_answers.h"

#include <utility>

namespace fairlead::process::rm {

namespace {
constexpr base::Duration kLook = base::Duration::Millis(5);  // whether peers have taken enough
}

LargeAnswers::~LargeAnswers() = default;

void LargeAnswers::Add(std::weak_ptr<const void> asker, std::function<Work()> begin, std::function<void()> send) {
  turns_.push_back({std::move(asker), std::move(begin), std::move(send)});
  if (!timer_.waits()) Next();
}

bool LargeAnswers::MustWait() {
  if (unsent_() <= kUnsentHigh) return waits_no_more_ = false;
  waits_no_more_ = waits_no_more_ || loop_.Now() - made_ >= kPatience;
  return !waits_no_more_;
}

void LargeAnswers::Next() {
  while (!making_ && !turns_.empty() && turns_.front().asker.expired()) turns_.pop_front();
  if (making_ || turns_.empty()) return;
  if (MustWait()) {
    timer_.After(kLook, [this] { Next(); });
    return;
  }
  Turn turn = std::move(turns_.front());
  turns_.pop_front();
  making_ = true;
  loop_.Offload(turn.begin(), alive_([this, send = std::move(turn.send)] {
                  making_ = false;
                  made_ = loop_.Now();
                  send();
                  Next();
                }));
}

}  // namespace fairlead::process::rm
