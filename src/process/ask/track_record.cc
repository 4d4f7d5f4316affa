#include "process/ask/track_record.h"

#include <algorithm>
#include <utility>

namespace fairlead::process::ask {

namespace {

/// Estimates are told in seconds.
base::Duration Latest(const When& when) { return *when.p90 + base::Duration::Seconds(1); }

/// Of the wait, of a second at least: estimates are told in seconds.
float PartOf(base::Duration error, base::Duration wait) {
  return static_cast<float>(error.ns) / static_cast<float>(std::max(wait, base::Duration::Seconds(1)).ns);
}

}  // namespace

void TrackRecord::Foresee(const Forecast& forecast) {
  if (forecast.present().now <= latest_) return;
  latest_ = forecast.present().now;
  std::unordered_map<model::ApplicationId, std::vector<Followed>> still;
  count_ = 0;
  for (const Present::App& app : forecast.present().apps) {
    const auto found = followed_.find(app.id);
    if (found == followed_.end()) continue;
    count_ += found->second.size();
    still.insert(followed_.extract(found));
  }
  followed_ = std::move(still);
  for (const Forecast::Next& next : forecast.nexts()) {
    if (count_ >= kFollowed) return;
    std::vector<Followed>& of_app = followed_[next.app];
    const bool known = std::any_of(of_app.begin(), of_app.end(), [&](const Followed& one) {
      return one.priority == next.priority && one.request == next.request;
    });
    if (known) continue;
    of_app.push_back({next.priority, next.request, latest_, next.foreseen, next.when});
    ++count_;
  }
}

void TrackRecord::Take(base::Instant now, std::span<const model::scheduler::Effect> effects) {
  if (count_ == 0) return;
  for (const model::scheduler::Effect& effect : effects) {
    const auto* granted = std::get_if<model::scheduler::Granted>(&effect);
    if (!granted) continue;
    const auto found = followed_.find(granted->container.attempt.app);
    if (found == followed_.end()) continue;
    std::vector<Followed>& of_app = found->second;
    const auto one = std::find_if(of_app.begin(), of_app.end(), [&](const Followed& followed) {
      return followed.priority == granted->priority && followed.request == granted->allocation_request_id;
    });
    if (one == of_app.end()) continue;
    const base::Duration after = now - one->since;
    const base::Duration error = std::max(after - *one->when.p50, *one->when.p50 - after);
    ++held_.estimates;
    if (after <= Latest(one->when)) ++held_.within_p90;
    if (error <= std::max(kClose, base::Duration{after.ns / 10})) ++held_.close;
    errors_.resize(std::min(errors_.size() + 1, kErrors));
    errors_[std::exchange(next_error_, (next_error_ + 1) % kErrors)] = PartOf(error, after);
    correction_.Learn(one->foreseen, after);
    of_app.erase(one);
    --count_;
  }
}

TrackRecord::Held TrackRecord::held(base::Instant now) const {
  Held held = held_;
  for (const auto& [app, of_app] : followed_) {
    held.estimates += std::count_if(of_app.begin(), of_app.end(),
                                    [&](const Followed& one) { return now - one.since > Latest(one.when); });
  }
  if (errors_.empty()) return held;
  std::vector<float> errors = errors_;
  const auto middle = errors.begin() + static_cast<ptrdiff_t>((errors.size() - 1) / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  held.median_error = *middle;
  return held;
}

}  // namespace fairlead::process::ask
