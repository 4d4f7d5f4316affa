#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sim/traces/read.h"

// Any bytes: a trace or an error that names a place, within bounds of memory and time.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fairlead::sim::TraceOptions options;
  options.tasks_of_job = 1000;
  options.tasks = 10'000;
  options.jobs = 1000;
  options.stages_of_job = 50;
  const auto trace = fairlead::sim::ReadTrace(text, "t", options);
  if (trace) {
    for (const auto& job : trace->jobs) FL_CHECK(job.submit_ms >= 0, "a job before the first one");
  } else {
    FL_CHECK(trace.error().message.starts_with("t:"), "an error without a place");
  }
  if (const auto nodes = fairlead::sim::ReadNodes(text, "t", fairlead::model::Resources::Of(1024, 1)); !nodes) {
    FL_CHECK(nodes.error().message.starts_with("t:"), "an error without a place");
  }
  return 0;
}
