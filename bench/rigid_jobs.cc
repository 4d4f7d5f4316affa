#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/promises.h"

// bench_rigid_jobs PROCESSORS PROMISES SLACK_PERCENT < JOBS: rigid jobs of one sequence through profile `fairlead`, on
// one node with so many processors. A line of JOBS is SUBMIT RUN ESTIMATE PROCESSORS, in whole seconds. Each job is an
// application of a user of its own that asks for one container. Run times are learned as everywhere: before the
// sequence begins each user runs three containers that take the estimate. The scheduler is stepped when jobs come or
// end. Prints one line of JSON; PROMISES 0 is the profile without promises, and without reservations too: whatever fits
// starts. `use`: of the processors up to the end of the last job; `use_while_coming`: until the last one comes.

namespace {

namespace ev = fairlead::model::scheduler;
using fairlead::base::Duration;
using fairlead::base::Instant;
using fairlead::model::Resources;

struct Job {
  int64_t submit = 0;
  int64_t run = 0;
  int64_t estimate = 0;
  int64_t processors = 0;
  int64_t started = -1;
};

class Sequence {
 public:
  Sequence(std::vector<Job> jobs, int64_t processors, int32_t promises, int32_t slack_percent)
      : jobs_(std::move(jobs)), processors_(processors) {
    fairlead::scheduler::FairleadConfig config;
    config.queues.wishes.small_jobs = true;
    config.backfill.promises = promises;
    config.backfill.slack_percent = slack_percent;
    config.reservations.after = Duration::Seconds(int64_t{100} * 365 * 86'400);
    scheduler_ = fairlead::scheduler::MakeFairlead(config);
    Step({ev::NodeAdded{{0}, "node", 1, "/rack", Resources::Of(processors, processors), {}}});
  }

  void Run() {
    Learn();
    const int64_t shift = now_ + 1 - jobs_.front().submit;
    size_t next = 0;
    while (next < jobs_.size() || !ends_.empty()) {
      int64_t at = next < jobs_.size() ? jobs_[next].submit + shift : INT64_MAX;
      if (!ends_.empty()) at = std::min(at, ends_.begin()->first);
      now_ = at;
      std::vector<ev::Event> events;
      while (!ends_.empty() && ends_.begin()->first == now_) {
        events.emplace_back(ev::NodeUpdated{{0}, {}, {{ends_.begin()->second, 0}}});
        ends_.erase(ends_.begin());
      }
      for (; next < jobs_.size() && jobs_[next].submit + shift == now_; ++next) Submit(next, First() + next, events);
      Step(events);
    }
    for (Job& job : jobs_) job.started -= shift;
  }

  void Print() const {
    double slowdowns = 0;
    double waits = 0;
    double work = 0;
    double work_before = 0;  // the last job comes
    int64_t end = 0;
    const int64_t last = jobs_.back().submit;
    std::vector<double> all;
    for (const Job& job : jobs_) {
      const auto waited = static_cast<double>(job.started - job.submit);
      const auto run = static_cast<double>(job.run);
      all.push_back(std::max(1.0, (waited + run) / std::max(run, 10.0)));
      slowdowns += all.back();
      waits += waited;
      work += run * static_cast<double>(job.processors);
      work_before += static_cast<double>(std::clamp<int64_t>(last - job.started, 0, job.run) * job.processors);
      end = std::max(end, job.started + job.run);
    }
    std::sort(all.begin(), all.end());
    const auto jobs = static_cast<double>(jobs_.size());
    const auto span_until = [&](int64_t until) {
      return static_cast<double>(std::max<int64_t>(until - jobs_.front().submit, 1) * processors_);
    };
    const fairlead::scheduler::PromiseCounts counts = fairlead::scheduler::PromisesOf(*scheduler_).counts;
    std::printf(
        "{\"slowdown\": %.6f, \"p99\": %.2f, \"worst\": %.2f, \"wait\": %.3f, \"use\": %.6f, "
        "\"use_while_coming\": %.6f, ",
        slowdowns / jobs, all[all.size() * 99 / 100], all.back(), waits / jobs, work / span_until(end),
        work_before / span_until(last));
    std::printf("\"made\": %lld, \"served\": %lld, \"missed\": %lld, \"late_ms\": %lld, \"off_ms\": %lld}\n",
                static_cast<long long>(counts.made), static_cast<long long>(counts.served),
                static_cast<long long>(counts.missed), static_cast<long long>(counts.late_ms),
                static_cast<long long>(counts.off_ms));
  }

 private:
  static constexpr uint32_t kLessons = 3;
  uint32_t First() const { return kLessons * static_cast<uint32_t>(jobs_.size()); }

  void Submit(size_t job, size_t index, std::vector<ev::Event>& events) const {
    ev::AppAdded added;
    added.app = {static_cast<uint32_t>(index)};
    added.id = {1, static_cast<int32_t>(index) + 1};
    added.queue = "root.all";
    added.user = "u" + std::to_string(job);
    added.place = false;
    added.unmanaged = true;
    ev::AttemptAdded attempt;
    attempt.app = added.app;
    attempt.attempt = 1;
    ev::Allocate call;
    call.app = added.app;
    const Resources size = Resources::Of(jobs_[job].processors, jobs_[job].processors);
    call.asks = {{1, -1, "*", true, size, 1, ""}};
    events.insert(events.end(), {added, attempt, call});
  }

  /// Each user's containers take the estimate, one after the other.
  void Learn() {
    for (uint32_t index = 0; index < First(); ++index) {
      const size_t job = index % jobs_.size();
      std::vector<ev::Event> events;
      Submit(job, index, events);
      Step(events);
      now_ += jobs_[job].estimate;
      Step({ev::NodeUpdated{{0}, {}, {{granted_, 0}}}, ev::AttemptRemoved{{index}, 1}, ev::AppRemoved{{index}}});
    }
  }

  void Step(const std::vector<ev::Event>& events) {
    fairlead::scheduler::EffectSink effects;
    scheduler_->Step(Instant{} + Duration::Seconds(now_), events, effects);
    for (const ev::Effect& effect : effects) {
      const auto* granted = std::get_if<ev::Granted>(&effect);
      if (!granted) continue;
      granted_ = granted->container;
      if (granted->app.value < First()) continue;
      Job& job = jobs_[granted->app.value - First()];
      job.started = now_;
      ends_.emplace(now_ + job.run, granted->container);
    }
  }

  std::vector<Job> jobs_;
  int64_t processors_;
  std::unique_ptr<fairlead::scheduler::Scheduler> scheduler_;
  int64_t now_ = 0;
  fairlead::model::ContainerId granted_;
  std::set<std::pair<int64_t, fairlead::model::ContainerId>> ends_;
};

int Fail(const char* why) {
  std::fprintf(stderr, "bench_rigid_jobs: %s\n", why);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return Fail("usage: bench_rigid_jobs PROCESSORS PROMISES SLACK_PERCENT < JOBS");
  const int64_t processors = std::strtoll(argv[1], nullptr, 10);
  std::vector<Job> jobs;
  long long submit = 0;
  long long run = 0;
  long long estimate = 0;
  long long size = 0;
  while (std::scanf("%lld %lld %lld %lld", &submit, &run, &estimate, &size) == 4) {
    if (run <= 0 || estimate <= 0 || size <= 0 || size > processors || jobs.size() == 4096)
      return Fail("a job is not of this kind");
    if (!jobs.empty() && submit < jobs.back().submit) return Fail("jobs are not in the order in which they come");
    jobs.push_back({submit, run, estimate, size});
  }
  if (jobs.empty()) return Fail("no jobs");
  const auto promises = static_cast<int32_t>(std::strtol(argv[2], nullptr, 10));
  Sequence sequence(std::move(jobs), processors, promises, static_cast<int32_t>(std::strtol(argv[3], nullptr, 10)));
  sequence.Run();
  sequence.Print();
  return 0;
}
