#include "shell/nm/container_usage.h"

#include <utility>

#include "shell/nm/supervisor_process_tree.h"

namespace fairlead::shell {

model::nm::Usage UsageMeter::Measure(base::Instant now, const std::vector<Tree>& trees) {
  model::nm::Usage usage;
  usage.node = machine_.Measure(now, env_posix::CountMachine(part_));
  const std::vector<ProcessInfo> all = trees.empty() ? std::vector<ProcessInfo>() : ListProcesses();
  std::map<model::ContainerId, env_posix::UseMeter> meters;  // of those that are still there
  for (const Tree& tree : trees) {
    env_posix::Processes processes{{}, tree.control_groups};
    for (const ProcessInfo& info : DescendantsOf(tree.supervisor, all)) processes.pids.push_back(info.pid);
    env_posix::UseMeter& meter = meters[tree.container] = std::move(containers_[tree.container]);
    usage.containers.push_back(
        {tree.container, meter.Measure(now, env_posix::CountProcesses(processes)), tree.enforced});
  }
  containers_ = std::move(meters);
  return usage;
}

}  // namespace fairlead::shell
