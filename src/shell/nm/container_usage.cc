#include "shell/nm/container_usage.h"

#include <unistd.h>

#include <algorithm>

#include "shell/nm/supervisor_process_tree.h"

namespace fairlead::shell {

model::nm::Usage UsageMeter::Measure(const std::vector<Tree>& trees) {
  static const int64_t ticks_per_second = ::sysconf(_SC_CLK_TCK);
  model::nm::Usage usage;
  const std::vector<ProcessInfo> all = ListProcesses();
  const int64_t interval_ms = std::max<int64_t>(1, interval_.millis());
  std::map<model::ContainerId, uint64_t> ticks;
  for (const Tree& tree : trees) {
    model::nm::ContainerUsage& sample = usage.containers.emplace_back();
    sample.container = tree.container;
    sample.enforced = tree.enforced;
    uint64_t& sum = ticks[tree.container];
    for (const ProcessInfo& info : DescendantsOf(tree.supervisor, all)) {
      sample.physical_bytes += info.resident_bytes;
      sample.virtual_bytes += info.virtual_bytes;
      sum += info.cpu_ticks;
    }
    const auto before = ticks_.find(tree.container);
    if (before != ticks_.end() && sum > before->second)
      sample.milli_cores = static_cast<int64_t>(sum - before->second) * 1'000'000 / ticks_per_second / interval_ms;
  }
  for (const ProcessInfo& info : all) {
    usage.node_physical_bytes += info.resident_bytes;
    usage.node_virtual_bytes += info.virtual_bytes;
  }
  ticks_ = std::move(ticks);
  return usage;
}

}  // namespace fairlead::shell
