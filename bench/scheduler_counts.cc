#include <cstdio>
#include <cstring>

#include "sim/traces/profiles.h"
#include "sim/traces/scheduler.h"
#include "sim/traces/synthetic.h"

// Fixed workloads of the scheduler whose instructions are counted (tests/instruction_counts.py): an hour of a small TDW
// cluster under each profile, and for `fairlead` one with preemption and lost racks, both without wishes and with those
// of the default. Prints a hash over all decisions.

namespace {

struct Count {
  const char* name;
  const char* profile;
  bool rough;
  bool wishes = true;  // the default's
};
constexpr Count kCounts[] = {{"fairlead", "fairlead", false, false},
                             {"fairlead-rough", "fairlead", true, false},
                             {"fairlead-default", "fairlead", false},
                             {"fairlead-default-rough", "fairlead", true},
                             {"yarn-fair", "yarn-fair", false},
                             {"tdw", "tdw", false},
                             {"spark-standalone", "spark-standalone", false}};

int Run(const Count& count) {
  using namespace fairlead::sim;
  SyntheticWorkload workload = TdwDay({0.005, 11, 0.5, false});
  ProfileOptions options;
  options.queues = workload.queues;
  options.preemption = count.rough;
  if (!count.wishes) options.keys["fairlead.scheduler.wishes"] = "none";
  auto profile = MakeProfile(count.profile, options);
  if (!profile) return 1;
  FaultOptions faults;
  faults.rack_losses = count.rough ? 2 : 0;
  profile->setup.faults = PlanFaults(faults, workload.nodes, workload.span_ms);
  SchedulerTarget target(*profile->scheduler);
  TraceRun run(target, workload.nodes, *workload.jobs, profile->setup);
  const RunResult result = run.Run();
  std::printf("%016llx\n", static_cast<unsigned long long>(result.decisions));
  return result.unfinished == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Count& count : kCounts) {
    if (argc == 2 && std::strcmp(argv[1], count.name) == 0) return Run(count);
  }
  for (const Count& count : kCounts) std::printf("%s\n", count.name);
  return argc == 1 ? 0 : 2;
}
