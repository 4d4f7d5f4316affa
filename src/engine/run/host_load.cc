#include "engine/run/host_load.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace fairlead::engine {

namespace {

int64_t Known(int64_t amount) { return std::max<int64_t>(amount, 0); }
int64_t Share(int64_t amount, int64_t of) {
  return of <= 0 ? 0
                 : static_cast<int64_t>(std::min(1.0, static_cast<double>(amount) / static_cast<double>(of)) * 1000);
}

}  // namespace

int64_t HostLoad(const model::MeasuredUse& host, const model::MeasuredUse& own, int64_t processors) {
  const int64_t cores = Known(host.milli_cores) - Known(own.milli_cores);
  const int64_t network = Known(host.network_bytes) - Known(own.network_bytes);
  // A disk's time is not told by process: the executor's part of its bytes stands for its part of the time.
  const int64_t disk_bytes = Known(host.disk_bytes);
  const int64_t own_part = disk_bytes == 0 ? 0 : Share(Known(own.disk_bytes), disk_bytes);
  const int64_t disk = Known(host.disk_busy) * (1000 - own_part) / 1000;
  return std::clamp<int64_t>(std::max({Share(Known(cores), processors * 1000), std::min<int64_t>(disk, 1000),
                                       Share(Known(network), kNetworkBytes)}),
                             0, 1000);
}

int64_t HostLoadMeter::Measure(base::Instant now) {
  if (!file_.empty()) return FromFile();
  const model::MeasuredUse host = machine_.Measure(now, env_posix::CountMachine());
  const model::MeasuredUse own = self_.Measure(now, env_posix::CountProcesses({{::getpid()}, {}}));
  return HostLoad(host, own, std::max(1u, std::thread::hardware_concurrency()));
}

int64_t HostLoadMeter::FromFile() const {
  std::ifstream in(file_);
  std::string host;
  for (int64_t load = 0; in >> host >> load;) {
    if (host == host_) return std::clamp<int64_t>(load, 0, 1000);
  }
  return 0;
}

}  // namespace fairlead::engine
