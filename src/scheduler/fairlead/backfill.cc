#include "scheduler/fairlead/backfill.h"

#include <algorithm>
#include <utility>

#include "scheduler/books/core.h"
#include "scheduler/fairlead/policy.h"

namespace fairlead::scheduler::native {

using base::Duration;
using base::Instant;
using model::Resources;

namespace {

/// Masters are a kind of their own, whatever they were asked for with.
constexpr int32_t kMasterPriority = INT32_MIN;
constexpr int32_t kHalf = 500;
constexpr Duration kMostSlack = Duration::Seconds(365 * 86'400);

}  // namespace

void Backfill::Learn(const In& in, const Container& ended) {
  const int32_t priority = ended.is_master ? kMasterPriority : ended.priority;
  const Resources& size = in.books.shapes[ended.shape].size;
  run_times_.Learn(in.names.FullKindOf(ended.app, priority, size), in.books.now - ended.granted, in.books.now);
}

std::optional<Duration> Backfill::RunOf(const In& in, AppSlot slot, const Ask& ask, int32_t per_mille) const {
  const int32_t priority = in.books.apps[slot].needs_master ? kMasterPriority : ask.priority;
  const LearnedRunTimes* times = run_times_.Find(in.names.FullKindOf(slot, priority, in.books.shapes[ask.shape].size));
  return times ? times->Quantile({}, per_mille) : std::nullopt;
}

std::optional<Duration> Backfill::RunOf(const In& in, const Container& one) const {
  const int32_t priority = one.is_master ? kMasterPriority : one.priority;
  const LearnedRunTimes* times =
      run_times_.Find(in.names.FullKindOf(one.app, priority, in.books.shapes[one.shape].size));
  return times ? times->Quantile({}, kNineOfTen) : std::nullopt;
}

int64_t Backfill::MeanRunOf(const In& in, AppSlot slot) const {
  constexpr int64_t kMostWeight = int64_t{1} << 30;
  __int128 sum = 0;
  __int128 weights = 0;
  bool known = false;
  for (const Ask& ask : in.books.apps[slot].asks) {
    if (ask.count == 0) continue;
    const Share share = in.books.queues.ShareOf(model::OrderPolicy::kDrf, in.books.shapes[ask.shape].size * ask.count);
    const auto part = share.of == 0 ? __int128{1} : static_cast<__int128>(share.used) * kMostWeight / share.of;
    const __int128 weight = std::clamp<__int128>(part, 1, kMostWeight);
    const std::optional<Duration> run = RunOf(in, slot, ask, kHalf);
    known = known || run;
    sum += weight * (run ? std::max<int64_t>(1, run->millis()) : SmallJobs::kUnknownRun.millis());
    weights += weight;
  }
  return known ? static_cast<int64_t>(sum / weights) : 0;
}

Backfill::Start Backfill::StartOf(const In& in, AppSlot slot, const Ask& ask) const {
  return {ask.serial, in.books.shapes[ask.shape].size, RunOf(in, slot, ask, kNineOfTen).value_or(kForever)};
}

/// Not before now; now where it is due at this very moment, and only its node has not said so yet.
Instant Backfill::EndOf(const In& in, const Container& one) const {
  const Instant now = in.books.now;
  if (!one.app.valid()) return now + Duration::Millis(1);
  const int32_t priority = one.is_master ? kMasterPriority : one.priority;
  const Resources& size = in.books.shapes[one.shape].size;
  const LearnedRunTimes* times = run_times_.Find(in.names.FullKindOf(one.app, priority, size));
  if (!times || times->count() < LearnedRunTimes::kEnough) return Instant::Max();
  const Duration age = now - one.granted;
  if (const std::optional<Duration> run = times->Quantile(age, kNineOfTen)) return std::max(now, one.granted + *run);
  // Longer than nearly all of its kind: twice as long more as it is late by now, which is nothing at first.
  const Duration most = *times->Quantile({}, kNineOfTen);
  if (age < most) return one.granted + most;
  return now + Duration::Nanos(std::min((age - most).ns * 2, age.ns / 4));
}

Outlook Backfill::OutlookOf(const In& in, NodeIndex index) const {
  const Node& node = in.books.nodes[index];
  std::vector<Outlook::End> ends;
  ends.reserve(static_cast<size_t>(node.containers.count()));
  for (ContainerSlot slot = node.containers.first(); slot.valid(); slot = in.books.containers[slot].node_next) {
    const Container& one = in.books.containers[slot];
    ends.emplace_back(EndOf(in, one), in.books.shapes[one.shape].size);
  }
  Outlook outlook(in.books.now, node.free(), std::move(ends));
  for (const model::scheduler::Window& window : in.maintenance.Of(index)) {
    if (window.until <= in.books.now) continue;
    const Instant from = std::max(window.from, in.books.now);
    outlook.Take(from, window.until - from, node.capacity);
  }
  return outlook;
}

/// Each as soon as it can in the order in which they were made. Where one that came sooner than planned would put off
/// another one too far, each as soon as it can but not before it was planned: that plan is still good where nothing has
/// run for longer than expected.
bool Backfill::Plan(const In& in, NodeIndex node, const Start* start, std::vector<Instant>& starts) const {
  const Outlook outlook = OutlookOf(in, node);
  if (PlanFrom(in, node, start, outlook, false, starts)) return true;
  return PlanFrom(in, node, start, outlook, true, starts);
}

bool Backfill::PlanFrom(const In& in, NodeIndex node, const Start* start, Outlook outlook, bool as_planned,
                        std::vector<Instant>& starts) const {
  const Instant now = in.books.now;
  if (start) outlook.Take(now, start->run, start->size);
  bool kept = true;
  starts.clear();
  for (const Promise& one : promises_.at(node)) {
    if (start && one.ask == start->ask) {
      starts.push_back(now);
      continue;
    }
    const Instant at = outlook.Fit(one.size, one.run, as_planned ? std::max(one.start, now) : now);
    starts.push_back(at);
    if (at != Instant::Max()) outlook.Take(at, one.run, one.size);
    kept = kept && at <= std::max({one.latest, one.start, now});
  }
  return kept;
}

bool Backfill::Allows(const In& in, NodeIndex node, const Start& start) const {
  if (!promises_.contains(node)) return true;
  std::vector<Instant> starts;
  return Plan(in, node, &start, starts);
}

Duration Backfill::SlackOf(const Books& books, const Start& start) const {
  if (start.run == kForever) return {};
  const Share share = books.queues.ShareOf(model::OrderPolicy::kDrf, start.size);
  if (share.of == 0) return {};
  const __int128 slack = static_cast<__int128>(start.run.ns) * config_.slack_percent / 100 * share.used / share.of;
  return slack < kMostSlack.ns ? Duration::Nanos(static_cast<int64_t>(slack)) : kMostSlack;
}

void Backfill::Add(const In& in, AppSlot slot, const Start& start, NodeIndex node, Instant at) {
  const Instant latest = Later(at, SlackOf(in.books, start));
  promises_[node].push_back({slot, start.ask, start.size, start.run, at, latest, latest});
  unknown_.erase(start.ask);
  ++counts_.made;
}

bool Backfill::Started(const In& in, NodeIndex node, uint64_t ask) {
  NodeIndex promised;
  for (auto& [at, all] : promises_) {
    const auto one = std::find_if(all.begin(), all.end(), [&](const Promise& each) { return each.ask == ask; });
    if (one == all.end()) continue;
    promised = at;
    const int64_t off = (in.books.now - one->told).millis();
    ++counts_.served;
    counts_.off_ms += off;
    if (off > 0) {
      ++counts_.missed;
      counts_.late_ms += off;
    }
    all.erase(one);
    break;
  }
  if (promises_.contains(node)) ReplanNode(in, node);
  if (promised.valid() && promised != node) ReplanNode(in, promised);
  return promised.valid();
}

bool Backfill::ReplanNode(const In& in, NodeIndex node) {
  std::vector<Instant> starts;
  Plan(in, node, nullptr, starts);
  bool moved = false;
  std::vector<Promise>& all = promises_.at(node);
  std::vector<Promise> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    Promise& one = all[i];
    moved = moved || one.start != starts[i];
    one.start = starts[i];
    one.latest = std::max(one.latest, one.start);
    if (one.start == Instant::Max()) {
      ++counts_.withdrawn;
    } else {
      kept.push_back(one);
    }
  }
  if (kept.empty()) {
    promises_.erase(node);
  } else {
    all = std::move(kept);
  }
  return moved;
}

bool Backfill::Replan(const In& in) {
  bool moved = false;
  std::vector<NodeIndex> nodes;
  for (auto& [node, all] : promises_) {
    const bool open = in.books.nodes[node].open();
    const size_t gone = std::erase_if(all, [&](const Promise& one) {
      const App& app = in.books.apps[one.app];
      const Ask* ask = in.books.apps.FindAsk(one.app, one.ask);
      return !open || !ask || ask->count == 0 || !app.runnable || !app.active ||
             in.budgets.FindLimit(in.books, app, one.size, app.needs_master).kind != Limit::Kind::kFree;
    });
    counts_.withdrawn += static_cast<int64_t>(gone);
    moved = moved || gone > 0;
    nodes.push_back(node);
  }
  for (const NodeIndex node : nodes) {
    if (promises_[node].empty()) {
      promises_.erase(node);
    } else {
      moved = ReplanNode(in, node) || moved;
    }
  }
  return moved;
}

void Backfill::Withdraw(NodeIndex node) {
  const auto found = promises_.find(node);
  if (found == promises_.end()) return;
  counts_.withdrawn += static_cast<int64_t>(found->second.size());
  promises_.erase(found);
}

const Promise* Backfill::Of(uint64_t ask) const {
  for (const auto& [node, all] : promises_) {
    for (const Promise& one : all) {
      if (one.ask == ask) return &one;
    }
  }
  return nullptr;
}

std::string Backfill::Check(const Books& books) const {
  std::set<uint64_t> asks;
  for (const auto& [node, all] : promises_) {
    if (!books.nodes.Alive(node) && !all.empty()) continue;  // withdrawn with the next plan
    if (all.empty()) return "a node without promises among those with some";
    for (const Promise& one : all) {
      if (!asks.insert(one.ask).second) return "two promises for one ask";
      if (one.latest < one.told || one.start > one.latest) return "a promise later than its latest start";
    }
  }
  return "";
}

void Backfill::Mix(base::StateHasher& hash) const {
  if (!on()) {
    if (run_times_.kinds() > 0) hash.Mix(run_times_.kinds());
    return;
  }
  ForEach([&hash](NodeIndex node, const Promise& one) {
    hash.Mix(node.value);
    hash.Mix(one.app.value);
    hash.Mix(one.ask);
    for (const Instant at : {one.start, one.latest, one.told}) hash.Mix(static_cast<uint64_t>(at.ns));
  });
  for (const uint64_t ask : unknown_) hash.Mix(ask);
  hash.Mix(run_times_.kinds());
  hash.Mix(looked_);
}

}  // namespace fairlead::scheduler::native

namespace fairlead::scheduler {

Promises PromisesOf(const Scheduler& scheduler) {
  const auto* core = dynamic_cast<const native::Core*>(&scheduler);
  const auto* policy = core ? dynamic_cast<const native::FairPolicy*>(&core->policy()) : nullptr;
  if (!policy) return {};
  Promises out{policy->backfill().counts(), {}};
  policy->backfill().ForEach([&](native::NodeIndex node, const native::Promise& one) {
    out.now.push_back({core->books().apps[one.app].index, node, one.start, one.latest});
  });
  return out;
}

}  // namespace fairlead::scheduler
