#include "process/rm/large_answers.h"

#include <utility>

namespace fairlead::process::rm {

namespace {
constexpr base::Duration kLook = base::Duration::Millis(5);  // whether peers have taken enough
}

LargeAnswers::~LargeAnswers() {
  *alive_ = false;
  if (timer_ != 0) loop_.Cancel(timer_);
}

void LargeAnswers::Add(std::function<Work()> begin, std::function<void()> send) {
  turns_.push_back({std::move(begin), std::move(send)});
  if (turns_.size() == 1 && !making_) Next();
}

void LargeAnswers::Next() {
  if (making_ || turns_.empty()) return;
  if (unsent_() > kUnsentHigh && loop_.Now() - made_ < kPatience) {
    timer_ = loop_.After(kLook, [this] {
      timer_ = 0;
      Next();
    });
    return;
  }
  Turn turn = std::move(turns_.front());
  turns_.pop_front();
  making_ = true;
  loop_.Offload(turn.begin(), [this, alive = alive_, send = std::move(turn.send)] {
    if (!*alive) return;
    making_ = false;
    made_ = loop_.Now();
    send();
    Next();
  });
}

}  // namespace fairlead::process::rm
