#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "env/loop.h"
#include "process/nm/ports.h"
#include "shell/nm/supervised_containers.h"

namespace fairlead::shell {

/// Bounds of one resource: what an archive may grow to.
struct LocalizerLimits {
  int64_t bytes_max = int64_t{64} << 30;
  int64_t entries_max = 1'000'000;
};

struct LocalizerOptions {
  int threads = 4;  // yarn.nodemanager.localizer.fetch.thread-count
  RunAs run_as;     // PRIVATE and APPLICATION resources are read and written as this user
  LocalizerLimits limits;
  /// WebHDFS of a name node: "hdfs://host:port" -> "http://host:port"; "" when unknown.
  std::function<std::string(const std::string& scheme, const std::string& authority)> web_address;
};

/// Fetches resources from file systems that this machine sees (file:, plain paths), from HDFS by WebHDFS and from
/// http(s), checks that they did not change since they were named, unpacks archives (tar, tgz, zip, jar), refuses
/// whatever would leave its directory (Hadoop: FSDownload, ContainerLocalizer).
std::unique_ptr<process::nm::Localizer> MakeLocalizer(env::Loop& loop, LocalizerOptions options);

/// The synchronous heart, for tests and fuzzing: fetches into `plan.directory`, which must not exist.
process::nm::Fetched FetchResource(const process::nm::FetchPlan& plan, const LocalizerOptions& options,
                                   base::WallTime now);

}  // namespace fairlead::shell
