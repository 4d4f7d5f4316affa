#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/time.h"
#include "env_posix/use_meter.h"

namespace fairlead::engine {

/// How busy others keep a host, in thousandths: the largest of its shares of processors, busiest disk and network that
/// `own` does not use. A network is taken to carry kNetworkBytes a second. What is unknown counts as idle.
int64_t HostLoad(const model::MeasuredUse& host, const model::MeasuredUse& own, int64_t processors);
inline constexpr int64_t kNetworkBytes = 1'250'000'000;  // 10 Gbit/s

/// Measures this executor's host besides the executor itself (env_posix/use_meter.h).
class HostLoadMeter {
 public:
  /// `file` not empty: a file that says it instead, a line "HOST THOUSANDTHS" for each host, for tests and for hosts
  /// whose load somebody else knows; a host that it does not name, and a missing file, count as idle.
  HostLoadMeter(std::string host, std::string file) : host_(std::move(host)), file_(std::move(file)) {}
  /// Thousandths, 0 to 1000, since the last call; the first gives 0.
  int64_t Measure(base::Instant now);

 private:
  int64_t FromFile() const;

  const std::string host_;
  const std::string file_;
  env_posix::UseMeter machine_;
  env_posix::UseMeter self_;
};

}  // namespace fairlead::engine
