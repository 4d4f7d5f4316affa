#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sim/rigid/rigid.h"

// Any bytes: jobs within bounds, in order of submission, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto jobs = fairlead::sim::ReadPhilly({reinterpret_cast<const char*>(data), size});
  if (!jobs) return 0;
  int64_t last = 0;
  for (const auto& job : *jobs) {
    FL_CHECK(job.submit_s >= last && job.run_s > 0 && job.devices > 0, "a job that cannot run");
    last = job.submit_s;
  }
  return 0;
}
