#include <gtest/gtest.h>

#include "base/codec.h"
#include "base/rng.h"
#include "base/stored.h"
#include "sim/traces/profiles.h"
#include "sim/traces/scheduler.h"
#include "sim/traces/synthetic.h"

// Determinism: a journal of a scheduler's events, drawn from a seed, replays with the same effects batch by batch, and
// so does what is left of it on a fork made at any point.

namespace fairlead::sim {
namespace {

namespace ms = model::scheduler;

struct Batch {
  base::Instant now;
  std::string events;  // as the journal holds them
  uint64_t effects = 0;
};

uint64_t HashOf(std::span<const ms::Effect> effects) {
  base::StateHasher hasher;
  std::string bytes;
  for (const ms::Effect& effect : effects) {
    bytes.clear();
    base::Encode(bytes, effect);
    hasher.Mix(std::string_view(bytes));
  }
  return hasher.value();
}

/// Passes everything on and writes it down.
class Recorder final : public scheduler::Scheduler {
 public:
  Recorder(std::unique_ptr<scheduler::Scheduler> inner, std::vector<Batch>& batches, int64_t& events)
      : inner_(std::move(inner)), batches_(batches), events_(events) {}
  void Step(base::Instant now, std::span<const ms::Event> events, scheduler::EffectSink& out) override {
    const size_t before = out.size();
    inner_->Step(now, events, out);
    Batch batch{now, {}, HashOf(std::span(out).subspan(before))};
    for (const ms::Event& event : events) base::Encode(batch.events, event);
    events_ += static_cast<int64_t>(events.size());
    batches_.push_back(std::move(batch));
  }
  base::Instant NextDeadline() const override { return inner_->NextDeadline(); }
  std::string CheckInvariants() const override { return inner_->CheckInvariants(); }
  uint64_t StateHash() const override { return inner_->StateHash(); }
  std::unique_ptr<scheduler::Scheduler> Fork() const override { return inner_->Fork(); }
  std::string State() const override { return inner_->State(); }
  bool ReadState(std::string_view bytes) override { return inner_->ReadState(bytes); }
  scheduler::View GetView() const override { return inner_->GetView(); }
  scheduler::View GetQueues() const override { return inner_->GetQueues(); }
  int64_t PendingContainers(model::AppIndex app) const override { return inner_->PendingContainers(app); }
  std::vector<ms::Pending> Why(model::AppIndex app, base::Instant now) const override { return inner_->Why(app, now); }

 private:
  std::unique_ptr<scheduler::Scheduler> inner_;
  std::vector<Batch>& batches_;
  int64_t& events_;
};

/// The first batch from `from` on whose effects differ, or the number of batches.
size_t Replay(scheduler::Scheduler& scheduler, const std::vector<Batch>& batches, size_t from, size_t to) {
  std::vector<ms::Event> events;
  scheduler::EffectSink effects;
  for (size_t i = from; i < to; ++i) {
    events.clear();
    effects.clear();
    base::Budget budget(base::kStoredKind, batches[i].events.size());
    base::ByteReader reader(batches[i].events, budget);
    while (reader.remaining() > 0 && !reader.failed()) base::Decode(reader, events.emplace_back());
    scheduler.Step(batches[i].now, events, effects);
    if (reader.failed() || HashOf(effects) != batches[i].effects) return i;
  }
  return to;
}

void RecordAndReplay(const std::string& name, int64_t least_events, const SyntheticOptions& day, int forks) {
  SyntheticWorkload workload = TdwDay(day);
  ProfileOptions options;
  options.queues = workload.queues;
  options.preemption = true;
  auto profile = MakeProfile(name, options);
  ASSERT_TRUE(profile.ok());
  FaultOptions faults;
  faults.rack_losses = 2;
  faults.slow_nodes = 0.1;
  profile->setup.faults = PlanFaults(faults, workload.nodes, workload.span_ms);
  std::vector<Batch> batches;
  int64_t events = 0;
  Recorder recorder(std::move(profile->scheduler), batches, events);
  SchedulerTarget target(recorder);
  TraceRun run(target, workload.nodes, *workload.jobs, profile->setup);
  const RunResult result = run.Run();
  ASSERT_EQ(result.unfinished, 0) << result.first_problem;
  ASSERT_GE(events, least_events);
  const uint64_t end = recorder.StateHash();

  auto fresh = MakeProfile(name, options);
  const auto replayed = std::move(fresh->scheduler);
  base::Rng rng(7);
  size_t at = 0;
  for (int fork = 0; fork <= forks; ++fork) {
    const size_t cut = fork == forks ? batches.size() : at + rng.Below((batches.size() - at) / 2 + 1);
    ASSERT_EQ(Replay(*replayed, batches, at, cut), cut) << "batch with other effects";
    at = cut;
    if (fork == forks) break;
    const auto copy = replayed->Fork();
    ASSERT_EQ(Replay(*copy, batches, cut, batches.size()), batches.size()) << "on a fork made at batch " << cut;
    EXPECT_EQ(copy->StateHash(), end);
    const auto other = MakeProfile(name, options);
    const std::string state = replayed->State();
    ASSERT_TRUE(other->scheduler->ReadState(state)) << "the state at batch " << cut;
    ASSERT_EQ(other->scheduler->State(), state) << "the state at batch " << cut;
    ASSERT_EQ(Replay(*other->scheduler, batches, cut, batches.size()), batches.size())
        << "from the state at batch " << cut;
    EXPECT_EQ(other->scheduler->StateHash(), end);
  }
  EXPECT_EQ(replayed->StateHash(), end);
  EXPECT_EQ(replayed->CheckInvariants(), "");
}

TEST(TraceReplayTest, AMillionEventsReplayAlikeAlsoFromForks) {
  RecordAndReplay("fairlead", 1'000'000, {0.01, 3, 24}, 2);
}

TEST(TraceReplayTest, TheOtherProfilesReplayAlikeToo) {
  for (const char* name : {"yarn-fair", "tdw", "spark-standalone"}) {
    SCOPED_TRACE(name);
    RecordAndReplay(name, 5'000, {0.004, 4, 0.3}, 2);
  }
}

}  // namespace
}  // namespace fairlead::sim
