#include "process/rm/questions.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "base/freed_pages.h"
#include "endpoints/v1/amount.h"

namespace fairlead::process::rm {

namespace {

constexpr int kPauseOfMany = 5, kPauseOfLong = 30;  // seconds after which it may be asked again

http::Response ComeBack(const std::string& why, int seconds) {
  http::Response response = http::JsonResponse(503, endpoints::v1::Text(endpoints::v1::Error{why}));
  response.headers.emplace_back("Retry-After", std::to_string(seconds));
  return response;
}

}  // namespace

http::Response Questions::TooMany() {
  return ComeBack("too many questions are being answered; ask again in some seconds", kPauseOfMany);
}

http::Response Questions::OutOfTime(const std::string& why) { return ComeBack(why, kPauseOfLong); }

bool Questions::Ask(const std::string& user, std::weak_ptr<const void> asker, Begin begin, std::function<void()> done) {
  std::erase_if(turns_, [](const Turn& turn) { return turn.asker.expired(); });
  const auto own = std::count_if(turns_.begin(), turns_.end(), [&](const Turn& turn) { return turn.user == user; });
  if (turns_.size() >= kWaiting || static_cast<size_t>(own) >= kWaitingOfOne) return false;
  turns_.push_back({user, std::move(asker), std::move(begin), std::move(done)});
  Next();
  return true;
}

void Questions::Next() {
  const auto working = [this](const Turn& turn) { return at_work_.contains(turn.user) ? at_work_[turn.user] : 0; };
  const auto all = [this] {
    return std::accumulate(at_work_.begin(), at_work_.end(), size_t{0},
                           [](size_t sum, const auto& one) { return sum + one.second; });
  };
  while (all() < kAtOnce && !turns_.empty()) {
    const auto next = std::min_element(turns_.begin(), turns_.end(),
                                       [&](const Turn& a, const Turn& b) { return working(a) < working(b); });
    Turn turn = std::move(*next);
    turns_.erase(next);
    if (turn.asker.expired()) continue;
    Start(std::move(turn));
  }
}

void Questions::Start(Turn turn) {
  ++at_work_[turn.user];
  base::KeepLargeFreedPages(true);
  idle_.After(kKeepPages, [this] { loop_.Offload([] { base::KeepLargeFreedPages(false); }, [] {}); });
  const auto late = std::make_shared<std::atomic<bool>>(false);
  const uint64_t number = ++begun_;
  longest_.try_emplace(number, loop_).first->second.After(kLongest, [late] { *late = true; });
  Work work = turn.begin([late, asker = std::move(turn.asker)] { return *late || asker.expired(); });
  loop_.Offload(std::move(work), alive_([this, number, user = turn.user, done = std::move(turn.done)] {
                  longest_.erase(number);
                  if (--at_work_[user] == 0) at_work_.erase(user);
                  done();
                  Next();
                }));
}

bool Questions::AskForecast(base::Instant since, const std::function<std::function<Forecasts()>(Ended)>& make,
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
  const auto begin = [made, make](const Ended& ended) { return [made, work = make(ended)] { *made = work(); }; };
  const auto tell = [this, made] {
    forecast_ = *made;
    for (const auto& one : std::exchange(for_forecast_, {})) one(forecast_);
  };
  if (Ask("", made, begin, tell)) return true;
  for_forecast_.clear();
  return false;
}

}  // namespace fairlead::process::rm
