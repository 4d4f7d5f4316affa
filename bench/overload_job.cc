// The job of bench/overload.py: overload_job TASKS MS. One stage of tasks that wait, so that many fit on a small
// machine.
#include <chrono>
#include <thread>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

struct Waiting {
  int64_t ms = 0;
  bool operator()(int64_t) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return true;
  }
};

void OverloadJob(Context& context, const Arguments& arguments) {
  const long tasks = arguments.Number(0, 1);
  context.Range(0, tasks, Partitions(static_cast<int32_t>(tasks))).Filter(Waiting{arguments.Number(1, 1000)}).Count();
}

}  // namespace

FAIRLEAD_JOB(OverloadJob)
