#include "process/rm/questions.h"

#include <utility>

#include "base/freed_pages.h"

namespace fairlead::process::rm {

bool Questions::Ask(std::weak_ptr<const void> asker, std::function<Work()> begin, std::function<void()> done) {
  std::erase_if(turns_, [](const Turn& turn) { return turn.asker.expired(); });
  if (turns_.size() >= kWaiting) return false;
  turns_.push_back({std::move(asker), std::move(begin), std::move(done)});
  Next();
  return true;
}

void Questions::Next() {
  while (at_work_ < kAtOnce && !turns_.empty()) {
    Turn turn = std::move(turns_.front());
    turns_.pop_front();
    if (turn.asker.expired()) continue;
    ++at_work_;
    base::KeepLargeFreedPages(true);
    idle_.After(kKeepPages, [this] { loop_.Offload([] { base::KeepLargeFreedPages(false); }, [] {}); });
    loop_.Offload(turn.begin(), alive_([this, done = std::move(turn.done)] {
                    --at_work_;
                    done();
                    Next();
                  }));
  }
}

bool Questions::AskForecast(base::Instant since, const std::function<std::function<Forecasts()>()>& make,
                            std::function<void(const Forecasts&)> done) {
  if (forecast_ && forecast_->present().now >= since && loop_.Now() - forecast_->present().now < kFresh) {
    done(forecast_);
    return true;
  }
  if (for_forecast_.size() >= kWaiting) return false;
  for_forecast_.push_back(std::move(done));
  if (for_forecast_.size() > 1) return true;
  // Nobody's alone: whoever comes next waits for it, too.
  const auto made = std::make_shared<Forecasts>();
  const auto begin = [made, make] { return [made, work = make()] { *made = work(); }; };
  const auto tell = [this, made] {
    forecast_ = *made;
    for (const auto& one : std::exchange(for_forecast_, {})) one(forecast_);
  };
  if (Ask(made, begin, tell)) return true;
  for_forecast_.clear();
  return false;
}

}  // namespace fairlead::process::rm
