#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "env/loop.h"
#include "process/nm/ports.h"
#include "shell/nm/errands.h"

namespace fairlead::shell {

struct LocalizerOptions {
  LocalizerLimits limits;
  /// WebHDFS of a name node: "hdfs://host:port" -> "http://host:port"; "" when unknown.
  std::function<std::string(const std::string& scheme, const std::string& authority)> web_address;
};

/// Fetches resources from file systems that this machine sees (file:, plain paths), from HDFS by WebHDFS and from
/// http(s), checks that they did not change since they were named, unpacks archives (tar, tgz, zip, jar), refuses
/// whatever would leave its directory (Hadoop: FSDownload, ContainerLocalizer). Each fetch is an errand of the user's,
/// or, for PUBLIC resources, of an account without rights.
std::unique_ptr<process::nm::Localizer> MakeLocalizer(env::Loop& loop, Errands& errands, LocalizerOptions options);

/// The errand's work: fetches into `plan.directory`, whatever was there before.
process::nm::Fetched FetchResource(const process::nm::FetchPlan& plan, const LocalizerLimits& limits,
                                   const std::string& web_address, base::WallTime now);

}  // namespace fairlead::shell
