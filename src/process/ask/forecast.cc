#include "process/ask/forecast.h"

#include <algorithm>

#include "base/text.h"
#include "process/ask/learned.h"
#include "report/words.h"

namespace fairlead::process::ask {

namespace {

/// The moment by which so many of the futures have come to it.
std::optional<base::Duration> Reached(std::vector<base::Duration> times, int per_cent) {
  const size_t rank = (size_t{Forecast::kFutures} * static_cast<size_t>(per_cent) + 99) / 100;
  if (times.size() < rank) return {};
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(rank - 1), times.end());
  return times[rank - 1];
}

/// When the first of them starts; `futures`: the starts of each, in order.
When FirstOf(const std::vector<std::vector<base::Duration>>& futures) {
  std::vector<base::Duration> first;
  for (const auto& starts : futures) {
    if (!starts.empty()) first.push_back(starts.front());
  }
  return {Reached(first, 50), Reached(first, 90)};
}

}  // namespace

Forecast::Forecast(std::shared_ptr<const Present> present, std::shared_ptr<const scheduler::RunTimes> learned,
                   Bounds bounds, Correction correction)
    : Forecast(
          present, [&](uint64_t future) { return FromLearned(*present, learned, {future}); }, bounds,
          std::move(correction)) {}

Forecast::Forecast(std::shared_ptr<const Present> present, const Drawn& drawn, Bounds bounds, Correction correction)
    : present_(std::move(present)), correction_(std::move(correction)), ahead_(bounds.ahead) {
  for (int i = 0; i < kFutures; ++i) {
    Future future(*present_, drawn(static_cast<uint64_t>(i)), bounds);
    (void)future.Run();  // no job is submitted
    ended_ = bounds.ended && bounds.ended();
    if (ended_) break;
    const Outcome& outcome = future.outcome();
    ahead_ = std::min(ahead_, outcome.until - present_->now);
    endless_ = std::max(endless_, outcome.endless);
    std::map<model::NodeIndex, model::AppIndex> freed;
    auto end = outcome.ends.begin();
    std::map<model::AppIndex, int64_t> own;
    int64_t before = 0;
    for (const Outcome::Start& start : outcome.starts) {
      const Key key{start.priority, start.request};
      auto& futures = starts_[start.app][key];
      futures.resize(kFutures);
      futures[static_cast<size_t>(i)].push_back(start.at - present_->now);
      for (; end != outcome.ends.end() && end->at <= start.at; ++end) freed[end->node] = end->app;
      const auto by = freed.find(start.node);
      first_.try_emplace({start.app, key}, First{by == freed.end() ? model::AppIndex{} : by->second,
                                                 start.at - present_->now, before - own[start.app]});
      ++before;
      ++own[start.app];
    }
  }
  if (ended_) {  // some of the futures alone say another thing than all
    starts_.clear();
    ahead_ = {};
  }
  ListNexts();
}

void Forecast::ListNexts() {
  for (const Present::App& app : present_->apps) {
    const auto known = starts_.find(app.index);
    if (known == starts_.end()) continue;
    for (const auto& [key, futures] : known->second) {
      const When foreseen = FirstOf(futures);
      const When when = correction_.Of(foreseen);
      if (when.p50 && when.p90) nexts_.push_back({app.id, key.first, key.second, *foreseen.p50, when});
    }
  }
}

std::string Forecast::ReasonOf(model::AppIndex app, const Key& key, const AskWhen& ask, const Visible& visible) const {
  if (ended_) return "unknown: it takes longer than a question may";
  if (!ask.first.p50) {
    if (endless_ == 0) return "not within " + report::TimeText(ahead_);
    return "unknown: of " + base::Counted(endless_, "container") +
           " nobody knows how long they run, as too few of their kinds have ended";
  }
  const auto foreseen = first_.find({app, key});
  if (foreseen == first_.end()) return "";
  const First& how = foreseen->second;
  const auto who = std::find_if(present_->apps.begin(), present_->apps.end(),
                                [&](const Present::App& one) { return one.index == how.frees; });
  std::string reason = "in about " + report::TimeText(how.at);
  if (who != present_->apps.end()) {
    const std::string whose = who->index == app ? "its own" : visible(*who) ? ToString(who->id) : "somebody else's";
    reason = "after a container of " + whose + " ends, " + reason;
  }
  if (how.before > 0)
    reason +=
        "; " + base::Counted(how.before, "container") + " of others start" + (how.before == 1 ? "s before" : " before");
  return reason;
}

std::vector<AskWhen> Forecast::Of(model::AppIndex app, const Visible& visible) const {
  std::map<Key, AskWhen> asks;
  for (const model::scheduler::Pending& pending : present_->scheduler->Why(app, present_->now)) {
    AskWhen& ask = asks[{pending.ask.priority, pending.ask.allocation_request_id}];
    if (pending.ask.count <= ask.count) continue;  // said again of a place
    ask.priority = pending.ask.priority;
    ask.request = pending.ask.allocation_request_id;
    ask.size = pending.ask.capability;
    ask.count = pending.ask.count;
  }
  std::vector<AskWhen> all;
  static const Starts kNone;
  const auto known = starts_.find(app);
  for (auto& [key, ask] : asks) {
    const bool starts_at_all = known != starts_.end() && known->second.contains(key);
    const Starts& futures = starts_at_all ? known->second.at(key) : kNone;
    std::vector<base::Duration> last;
    for (const auto& starts : futures) {
      if (starts.size() >= static_cast<size_t>(ask.count)) last.push_back(starts[static_cast<size_t>(ask.count) - 1]);
    }
    ask.first = correction_.Of(FirstOf(futures));
    ask.all = correction_.Of({Reached(last, 50), Reached(last, 90)});
    ask.reason = ReasonOf(app, key, ask, visible);
    all.push_back(std::move(ask));
  }
  return all;
}

}  // namespace fairlead::process::ask
