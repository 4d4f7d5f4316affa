#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "process/ask/forecast.h"
#include "process/ask/learned.h"
#include "process/ask/track_record.h"
#include "sim/traces/profiles.h"
#include "sim/traces/run.h"
#include "sim/traces/scheduler.h"
#include "sim/traces/synthetic.h"

// How well `fairlead when` holds (docs/ask.md): a day that is drawn from a seed runs under a profile, and at most every
// half minute a forecast is made of all that waits, as the resource manager makes it, from what was learned so far.
//
//   bench_when_calibration google|tdw SEED SCALE HOURS NODES PROFILE
//
// Counted are asks that come after the first half hour, still wait at the first forecast behind them, and start within
// two hours of it. One line of JSON.

namespace {

using namespace fairlead;
namespace ms = model::scheduler;
namespace ask = process::ask;
using base::Duration;
using base::Instant;

constexpr Duration kWarm = Duration::Seconds(1800);
constexpr Duration kAhead = Duration::Seconds(7200);
constexpr Duration kClose = Duration::Seconds(60);
const ask::Bounds kBounds = {.ahead = kAhead, .events = 50'000, .limits = false};

using Key = std::tuple<model::AppIndex, int32_t, int64_t>;  // application, priority, allocation request id

struct Waiting {
  Instant since;
  std::optional<Instant> asked;  // of the forecast
  ask::When when;
};

struct Tally {
  int64_t asks = 0;
  int64_t told = 0;
  int64_t with_p90 = 0;
  int64_t within_p90 = 0;
  int64_t close = 0;  // p50 within a minute or a tenth of the wait
  std::vector<double> errors;
};

class Watch final : public sim::TraceTarget {
 public:
  Watch(sim::TraceTarget& inner, const scheduler::Scheduler& scheduler, Duration every)
      : inner_(inner), scheduler_(scheduler), every_(every) {}

  void Step(Instant now, std::vector<ms::Event>& events, scheduler::EffectSink& out) override {
    for (const ms::Event& event : events) {
      std::visit([&](const auto& one) { Hear(now, one); }, event);
    }
    const size_t before = out.size();
    inner_.Step(now, events, out);
    record_.Take(now, std::span(out.begin() + static_cast<ptrdiff_t>(before), out.end()));
    for (size_t i = before; i < out.size(); ++i) {
      std::visit([&](const auto& one) { See(now, one); }, out[i]);
    }
    if (fresh_ && now >= next_) Ask(now);
  }
  Instant NextDeadline() const override { return inner_.NextDeadline(); }
  std::vector<ms::Pending> Why(model::AppIndex app, Instant now) const override { return inner_.Why(app, now); }
  void Prefetch(const model::ContainerId& container, int step) const override { inner_.Prefetch(container, step); }
  std::string Finish() override { return inner_.Finish(); }

  Tally& tally() { return tally_; }
  int forecasts() const { return forecasts_; }

 private:
  void Hear(Instant, const ms::NodeAdded& event) {
    nodes_[event.node] = {event.node, event.host, event.port, event.rack, event.capacity, event.labels, {}, false};
  }
  void Hear(Instant, const ms::NodeRemoved& event) { nodes_.erase(event.node); }
  void Hear(Instant now, const ms::AppAdded& event) {
    apps_[event.app] = {event.app,          event.id, "job", event.user, event.queue,
                        event.session.kind, 1,        false, true,       event.master_asks};
    for (const model::Ask& one : event.master_asks) Want(now, event.app, one);
  }
  void Hear(Instant, const ms::AppRemoved& event) { leaving_.insert(event.app); }
  void Hear(Instant now, const ms::Allocate& event) {
    for (const model::Ask& one : event.asks) {
      if (one.name == "*" && one.count > 0) Want(now, event.app, one);
    }
  }
  void Hear(Instant, const ms::NodeUpdated& event) {
    for (const model::ContainerId& id : event.launched) {
      if (const auto found = containers_.find(id); found != containers_.end()) found->second.launched = true;
    }
  }
  template <class Other>
  void Hear(Instant, const Other&) {}

  void See(Instant now, const ms::Granted& effect) {
    containers_[effect.container] = {
        effect.container, effect.app,       effect.node, effect.resources, now, effect.priority,
        effect.is_master, effect.is_master, false};
    if (!effect.is_master) unheard_[effect.app].push_back(effect.container);
    const auto found = waiting_.find({effect.app, effect.priority, effect.allocation_request_id});
    if (found == waiting_.end()) return;
    if (found->second.asked) Count(now, found->second);
    waiting_.erase(found);
  }
  void See(Instant, const ms::AllocateAnswered& effect) {
    for (const model::ContainerId& id : std::exchange(unheard_[effect.app], {})) {
      if (const auto one = containers_.find(id); one != containers_.end()) one->second.acquired = true;
    }
  }
  void See(Instant now, const ms::Finished& effect) {
    const auto found = containers_.find(effect.container);
    if (found == containers_.end()) return;
    const ask::Present::Container one = found->second;
    containers_.erase(found);
    const auto app = apps_.find(one.app);
    if (app == apps_.end()) return;
    if (effect.exit_status == 0) {
      if (learned_.use_count() > 1) learned_ = std::make_shared<scheduler::RunTimes>(*learned_);
      for (const auto& kind : ask::KindsOf(app->second.user, app->second.kind, one.priority, one.master, one.size))
        learned_->Learn(kind, now - one.started, now);
    }
    if (!one.master || !leaving_.contains(one.app)) return;
    leaving_.erase(one.app);
    unheard_.erase(one.app);
    apps_.erase(app);
    std::erase_if(waiting_, [&](const auto& waits) { return std::get<0>(waits.first) == one.app; });
  }
  template <class Other>
  void See(Instant, const Other&) {}

  void Want(Instant now, model::AppIndex app, const model::Ask& one) {
    const bool made = waiting_.try_emplace({app, one.priority, one.allocation_request_id}, Waiting{now, {}, {}}).second;
    fresh_ = fresh_ || made;
  }

  void Ask(Instant now) {
    next_ = now + every_;
    fresh_ = false;
    ++forecasts_;
    auto present = std::make_shared<ask::Present>();
    present->scheduler = scheduler_.Fork();
    present->now = now;
    for (const auto& [index, app] : apps_) present->apps.push_back(app);
    for (const auto& [index, node] : nodes_) present->nodes.push_back(node);
    for (const auto& [id, one] : containers_) present->containers.push_back(one);
    const ask::Forecast forecast(present, learned_, kBounds, record_.correction());
    record_.Foresee(forecast);
    for (auto& [key, waits] : waiting_) {
      if (waits.asked) continue;
      const auto& [app, priority, request] = key;
      for (const ask::AskWhen& one : forecast.Of(app, [](const ask::Present::App&) { return true; })) {
        if (one.priority != priority || one.request != request) continue;
        waits.asked = now;
        waits.when = one.first;
      }
    }
  }

  void Count(Instant now, const Waiting& waits) {
    const Duration after = now - *waits.asked;
    if (waits.since < Instant{} + kWarm || after > kAhead) return;
    ++tally_.asks;
    if (waits.when.p90) {
      ++tally_.with_p90;
      if (after <= *waits.when.p90 + Duration::Seconds(1)) ++tally_.within_p90;
    }
    if (!waits.when.p50) return;
    ++tally_.told;
    const double wait = std::max((now - waits.since).seconds(), 1.0);
    const double error = std::abs((after - *waits.when.p50).seconds());
    if (error <= std::max(kClose.seconds(), wait / 10)) ++tally_.close;
    tally_.errors.push_back(error / wait);
  }

  sim::TraceTarget& inner_;
  const scheduler::Scheduler& scheduler_;
  const Duration every_;
  std::map<model::NodeIndex, ask::Present::Node> nodes_;
  std::map<model::AppIndex, ask::Present::App> apps_;
  std::set<model::AppIndex> leaving_;  // their masters have said so
  std::map<model::ContainerId, ask::Present::Container> containers_;
  std::map<model::AppIndex, std::vector<model::ContainerId>> unheard_;  // granted, their masters do not know
  std::map<Key, Waiting> waiting_;
  std::shared_ptr<scheduler::RunTimes> learned_ = std::make_shared<scheduler::RunTimes>();
  ask::TrackRecord record_;
  bool fresh_ = false;
  Instant next_ = Instant{} + kWarm;
  int forecasts_ = 0;
  Tally tally_;
};

double Part(int64_t part, int64_t of) { return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s google|tdw SEED SCALE HOURS NODES PROFILE\n", argv[0]);
    return 2;
  }
  const std::string name = argv[1];
  sim::SyntheticOptions options;
  options.seed = std::strtoull(argv[2], nullptr, 10);
  options.scale = std::strtod(argv[3], nullptr);
  options.hours = std::strtod(argv[4], nullptr);
  options.network_and_disk = false;
  sim::SyntheticWorkload work = name == "tdw" ? sim::TdwDay(options) : sim::GoogleMix(options);
  const auto nodes = std::strtoul(argv[5], nullptr, 10);
  if (nodes > 0 && nodes < work.nodes.size()) work.nodes.resize(nodes);
  auto profile = sim::MakeProfile(argv[6], sim::ProfileOptions{.queues = work.queues, .keys = {}});
  if (!profile.ok()) {
    std::fprintf(stderr, "%s\n", profile.error().message.c_str());
    return 2;
  }
  profile->setup.master_size = work.master_size;
  profile->setup.keep_jobs = false;
  sim::SchedulerTarget inner(*profile->scheduler);
  // At most some 240 forecasts a run.
  const auto every = Duration::Seconds(std::max<int64_t>(30, static_cast<int64_t>(options.hours * 15)));
  Watch watch(inner, *profile->scheduler, every);
  sim::TraceRun run(watch, work.nodes, *work.jobs, profile->setup);
  const sim::RunResult result = run.Run();
  Tally& tally = watch.tally();
  std::sort(tally.errors.begin(), tally.errors.end());
  std::printf(
      "{\"trace\": \"%s\", \"seed\": %s, \"profile\": \"%s\", \"nodes\": %lld, \"jobs\": %lld, \"forecasts\": %d, "
      "\"asks\": "
      "%lld, \"told\": %.4f, \"within_p90\": %.4f, \"close\": %.4f, \"median_error\": %.4f}\n",
      argv[1], argv[2], argv[6], static_cast<long long>(result.nodes), static_cast<long long>(result.jobs),
      watch.forecasts(), static_cast<long long>(tally.asks), Part(tally.told, tally.asks),
      Part(tally.within_p90, tally.with_p90), Part(tally.close, tally.told), sim::Quantile(tally.errors, 0.5));
  return 0;
}
