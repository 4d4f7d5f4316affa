#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "profiles/profile.h"
#include "sim/traces/both.h"
#include "sim/traces/profiles.h"

namespace fairlead::sim {
namespace {

/// Small numbers from a fuzzer's bytes; 0 when there are no more.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  uint32_t Next(uint32_t below) { return at_ == end_ ? 0 : *at_++ % below; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

/// Many are shorter than a heartbeat.
uint32_t Millis(Bytes& bytes) {
  constexpr uint32_t kMillis[] = {0, 1, 2, 50, 499, 999, 1000, 1001, 2500};
  return kMillis[bytes.Next(std::size(kMillis))];
}

/// Of something: the readers of traces refuse tasks of nothing.
model::Resources Size(Bytes& bytes) {
  const uint32_t cores = bytes.Next(4);
  return model::Resources::Of(1 + bytes.Next(5) * 512, 1 + cores);
}

std::vector<TraceNode> Nodes(Bytes& bytes) {
  std::vector<TraceNode> nodes;
  for (uint32_t i = bytes.Next(5); i > 0; --i) {
    const uint32_t cores = bytes.Next(5);
    nodes.push_back(
        {"n" + std::to_string(i), i % 2 == 0 ? "/r" : "/s", model::Resources::Of(bytes.Next(5) * 1024, cores), {}});
  }
  return nodes;
}

TraceJob Job(Bytes& bytes) {
  TraceJob job{.name = "j", .queue = bytes.Next(2) == 0 ? "a" : "b", .user = "u", .submit_ms = 0, .stages = {}};
  for (uint32_t stages = bytes.Next(4); stages > 0; --stages) {
    TraceStage& stage = job.stages.emplace_back();
    stage.priority = static_cast<int32_t>(bytes.Next(3));
    stage.size = Size(bytes);
    stage.after = base::Duration::Millis(Millis(bytes));
    stage.waits_for_previous = bytes.Next(2) == 1;
    for (uint32_t tasks = bytes.Next(40); tasks > 0; --tasks) stage.run_ms.push_back(Millis(bytes));
    for (uint32_t hosts = bytes.Next(3); hosts > 0; --hosts) stage.hosts.push_back("n" + std::to_string(bytes.Next(6)));
    if (stage.hosts.empty() || bytes.Next(2) == 0) continue;
    for (size_t task = 0; task < stage.run_ms.size(); ++task) stage.wishes.push_back({bytes.Next(3), kNoHost, kNoHost});
  }
  return job;
}

FaultPlan Faults(Bytes& bytes, size_t nodes) {
  FaultPlan plan;
  int64_t at_ms = 0;
  for (uint32_t losses = nodes == 0 ? 0 : bytes.Next(3); losses > 0; --losses) {
    at_ms += Millis(bytes);
    plan.losses.push_back({at_ms, at_ms + Millis(bytes), bytes.Next(static_cast<uint32_t>(nodes))});
  }
  return plan;
}

void Run(const std::string& name, Bytes bytes) {
  ProfileOptions options;
  options.preemption = bytes.Next(2) == 1;
  auto profile = MakeProfile(name, options);
  FL_CHECK(profile.ok(), "a profile without its keys");
  const std::vector<TraceNode> nodes = Nodes(bytes);
  profile->setup.faults = Faults(bytes, nodes.size());
  profile->setup.use.part = bytes.Next(4) == 1 ? 1 : 0;
  std::vector<TraceJob> jobs;
  int64_t submit_ms = 0;
  int64_t tasks = 0;
  for (uint32_t left = bytes.Next(6); left > 0; --left) {
    jobs.push_back(Job(bytes));
    jobs.back().submit_ms = submit_ms += Millis(bytes);
    for (const TraceStage& stage : jobs.back().stages) tasks += static_cast<int64_t>(stage.run_ms.size());
  }
  JobList list(jobs);
  BothTarget target(*profile->scheduler);
  const RunResult result = TraceRun(target, nodes, list, profile->setup).Run();
  FL_CHECK(!result.diverged, "the rm core and the scheduler differ");
  FL_CHECK(target.follower().machine().CheckInvariants().empty(), "an invariant");
  FL_CHECK(result.jobs + result.rejected + result.unfinished == list.jobs(), "a job is lost");
  FL_CHECK(result.tasks <= tasks, "more tasks than there are");
  FL_CHECK(result.jobs < list.jobs() || result.tasks == tasks, "all jobs ended, and not all tasks");
}

}  // namespace
}  // namespace fairlead::sim

// A few jobs of short tasks on a few nodes, some of them of no time, with lost nodes: every profile runs to an end, and
// the rm core beside it agrees.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const std::string& name : fairlead::profiles::Names()) {
    fairlead::sim::Run(name, fairlead::sim::Bytes(data, size));
  }
  return 0;
}
