#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "process/ask/forecast.h"
#include "process/ask/learned.h"
#include "process/ask/track_record.h"
#include "sim/traces/profiles.h"
#include "sim/traces/read.h"
#include "sim/traces/run.h"
#include "sim/traces/scheduler.h"
#include "sim/traces/synthetic.h"

// How well `fairlead when` holds (docs/ask.md): a day that is drawn from a seed runs under a profile, and at most every
// half minute a forecast is made of all that waits, as the resource manager makes it, from what was learned so far.
//
//   bench_when_calibration [--true-run-times] google|tdw|- SEED SCALE HOURS NODES PROFILE
//
// -: the jobs are those that standard input, a trace of any format that `fairlead sim` reads, has in its first HOURS,
// on nodes of 16 cores and 48 GiB. They come SCALE times as fast, and are dealt over four queues of five users each.
//
// --true-run-times: forecasts know how long each container runs. So the day is run once before, without a forecast;
// what is learned counts for containers that did not run to their end there. What is missed then is the forecast's: it
// knows neither the jobs to come nor what masters will ask for.
//
// Counted are asks that come after the first half hour, still wait at the first forecast behind them, and start within
// two hours of it. `ms_an_ask`: CPU of the forecasts, by asks that waited. One line of JSON.

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

/// How long containers ran that ended by themselves.
using Ran = std::unordered_map<model::ContainerId, Duration>;

struct Tally {
  int64_t asks = 0;
  int64_t told = 0;
  int64_t with_p90 = 0;
  int64_t within_p90 = 0;
  int64_t close = 0;  // p50 within a minute or a tenth of the wait
  std::vector<double> errors;
  int64_t forecasts = 0;
  int64_t answered = 0;  // asks by all forecasts, with an estimate or without
  double cpu_ms = 0;     // of this thread
};

double CpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class Watch final : public sim::TraceTarget {
 public:
  /// A forecast at most every so often, or none. `known`: null, or what a forecast knows of run times.
  Watch(sim::TraceTarget& inner, const scheduler::Scheduler& scheduler, std::optional<Duration> every, const Ran* known)
      : inner_(inner), scheduler_(scheduler), every_(every), known_(known) {}

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
    if (every_ && fresh_ && now >= next_) Ask(now);
  }
  Instant NextDeadline() const override { return inner_.NextDeadline(); }
  std::vector<ms::Pending> Why(model::AppIndex app, Instant now) const override { return inner_.Why(app, now); }
  void Prefetch(const model::ContainerId& container, int step) const override { inner_.Prefetch(container, step); }
  std::string Finish() override { return inner_.Finish(); }

  Tally& tally() { return tally_; }
  Ran& ran() { return ran_; }

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
      ran_[effect.container] = now - one.started;
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
    next_ = now + *every_;
    fresh_ = false;
    auto present = std::make_shared<ask::Present>();
    present->scheduler = scheduler_.Fork();
    present->now = now;
    for (const auto& [index, app] : apps_) present->apps.push_back(app);
    for (const auto& [index, node] : nodes_) present->nodes.push_back(node);
    for (const auto& [id, one] : containers_) present->containers.push_back(one);
    const double begun = CpuMs();
    const ask::Forecast forecast(
        present, [&](uint64_t future) { return RunTimes(*present, future); }, kBounds, record_.correction());
    tally_.cpu_ms += CpuMs() - begun;
    ++tally_.forecasts;
    tally_.answered += static_cast<int64_t>(waiting_.size());
    record_.Foresee(forecast);
    for (auto& [key, waits] : waiting_) {
      if (waits.asked) continue;
      const auto& [app, priority, request] = key;
      const double asked = CpuMs();
      const auto all = forecast.Of(app, [](const ask::Present::App&) { return true; });
      tally_.cpu_ms += CpuMs() - asked;
      for (const ask::AskWhen& one : all) {
        if (one.priority != priority || one.request != request) continue;
        waits.asked = now;
        waits.when = one.first;
      }
    }
  }

  ask::RunTimeOf RunTimes(const ask::Present& present, uint64_t future) {
    ask::RunTimeOf learned = ask::FromLearned(present, learned_, {future});
    if (known_ == nullptr) return learned;
    return [this, learned](const ask::Running& one) {
      const auto found = known_->find(one.id);
      return found == known_->end() ? learned(one) : std::optional(found->second);
    };
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
  const std::optional<Duration> every_;
  const Ran* known_;
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
  Ran ran_;
  Tally tally_;
};

double Part(int64_t part, int64_t of) { return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of); }

struct Arguments {
  bool true_run_times = false;
  std::string trace;
  sim::SyntheticOptions options;
  size_t nodes = 0;
  std::string profile;
};

/// What is run, as often as it is wanted.
struct Day {
  std::vector<sim::TraceNode> nodes;
  model::QueueTree queues;
  model::Resources master_size = model::Resources::Of(1024, 1);
  std::vector<sim::TraceJob> jobs;  // of a file
};

sim::SyntheticWorkload Draw(const Arguments& arguments) {
  return arguments.trace == "tdw" ? sim::TdwDay(arguments.options) : sim::GoogleMix(arguments.options);
}

base::Result<Day> DayOf(const Arguments& arguments) {
  Day day;
  if (arguments.trace != "-") {
    sim::SyntheticWorkload work = Draw(arguments);
    day = {std::move(work.nodes), std::move(work.queues), work.master_size, {}};
    if (arguments.nodes > 0 && arguments.nodes < day.nodes.size()) day.nodes.resize(arguments.nodes);
    return day;
  }
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  auto trace = sim::ReadTrace(text, "standard input");
  if (!trace) return trace.error();
  day.jobs = std::move(trace->jobs);
  std::erase_if(day.jobs, [&](const sim::TraceJob& job) {
    return static_cast<double>(job.submit_ms) >= arguments.options.hours * 3.6e6;
  });
  for (sim::TraceJob& job : day.jobs) {
    job.submit_ms = static_cast<int64_t>(static_cast<double>(job.submit_ms) / arguments.options.scale);
  }
  sim::Deal(day.jobs, 4, 5);
  for (size_t i = 0; i < arguments.nodes; ++i) {
    day.nodes.push_back({"n" + std::to_string(i), "/r" + std::to_string(i / 20), model::Resources::Of(49152, 16), {}});
  }
  return day;
}

struct Told {
  sim::RunResult result;
  Tally tally;
  Ran ran;
};

base::Result<Told> RunDay(const Arguments& arguments, const Day& day, std::optional<Duration> every, const Ran* known) {
  auto profile = sim::MakeProfile(arguments.profile, sim::ProfileOptions{.queues = day.queues, .keys = {}});
  if (!profile.ok()) return profile.error();
  profile->setup.master_size = day.master_size;
  profile->setup.keep_jobs = false;
  sim::SchedulerTarget inner(*profile->scheduler);
  Watch watch(inner, *profile->scheduler, every, known);
  sim::JobList list(day.jobs);
  const sim::SyntheticWorkload drawn = arguments.trace == "-" ? sim::SyntheticWorkload{} : Draw(arguments);
  sim::TraceRun run(watch, day.nodes, drawn.jobs ? *drawn.jobs : list, profile->setup);
  sim::RunResult result = run.Run();
  return Told{std::move(result), std::move(watch.tally()), std::move(watch.ran())};
}

void Print(const Arguments& arguments, Told& told) {
  Tally& tally = told.tally;
  std::sort(tally.errors.begin(), tally.errors.end());
  std::printf(
      "{\"trace\": \"%s\", \"seed\": %llu, \"profile\": \"%s\", \"true_run_times\": %s, \"nodes\": %lld, \"jobs\": "
      "%lld, \"forecasts\": %lld, \"asks\": %lld, \"told\": %.4f, \"within_p90\": %.4f, \"close\": %.4f, "
      "\"median_error\": %.4f, \"ms_an_ask\": %.3f}\n",
      arguments.trace.c_str(), static_cast<unsigned long long>(arguments.options.seed), arguments.profile.c_str(),
      arguments.true_run_times ? "true" : "false", static_cast<long long>(told.result.nodes),
      static_cast<long long>(told.result.jobs), static_cast<long long>(tally.forecasts),
      static_cast<long long>(tally.asks), Part(tally.told, tally.asks), Part(tally.within_p90, tally.with_p90),
      Part(tally.close, tally.told), sim::Quantile(tally.errors, 0.5),
      tally.answered == 0 ? 0 : tally.cpu_ms / static_cast<double>(tally.answered));
}

int Complain(const base::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 2;
}

int Calibrate(const Arguments& arguments) {
  const auto day = DayOf(arguments);
  if (!day.ok()) return Complain(day.error());
  Ran known;
  if (arguments.true_run_times) {
    auto before = RunDay(arguments, *day, {}, nullptr);
    if (!before.ok()) return Complain(before.error());
    known = std::move(before->ran);
  }
  // At most some 240 forecasts a day that is drawn; of a file, 900 in the time in which its jobs come.
  const double often = arguments.trace == "-" ? 4 / arguments.options.scale : 15;
  const auto every = Duration::Seconds(std::max<int64_t>(30, static_cast<int64_t>(arguments.options.hours * often)));
  auto told = RunDay(arguments, *day, every, arguments.true_run_times ? &known : nullptr);
  if (!told.ok()) return Complain(told.error());
  Print(arguments, *told);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  Arguments arguments;
  arguments.true_run_times = std::erase(words, "--true-run-times") > 0;
  const bool known = words.size() == 6 && (words[0] == "google" || words[0] == "tdw" || words[0] == "-");
  const auto number = [&](size_t at) { return known ? std::strtod(words[at].c_str(), nullptr) : 0; };
  if (!known || !(number(2) > 0) || !(number(3) > 0) || !(number(4) >= (words[0] == "-" ? 1 : 0))) {
    std::fprintf(stderr, "usage: %s [--true-run-times] google|tdw|- SEED SCALE HOURS NODES PROFILE\n", argv[0]);
    return 2;
  }
  arguments.trace = words[0];
  arguments.options.seed = std::strtoull(words[1].c_str(), nullptr, 10);
  arguments.options.scale = number(2);
  arguments.options.hours = number(3);
  arguments.options.network_and_disk = false;
  arguments.nodes = static_cast<size_t>(number(4));
  arguments.profile = words[5];
  return Calibrate(arguments);
}
