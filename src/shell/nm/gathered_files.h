#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "model/ids.h"
#include "shell/nm/beneath.h"

namespace fairlead::shell {

/// The files of one application, in the place of one format.
class GatheredFiles {
 public:
  virtual ~GatheredFiles() = default;
  /// None where there is no such place.
  virtual base::Result<std::vector<std::string>> Names() const = 0;
  virtual base::Result<Fd> Open(const std::string& name) const = 0;
};
/// The places of all configured formats that can be read here. `owner`: the application's; `user`: who reads, in HDFS.
std::vector<std::unique_ptr<GatheredFiles>> FindGatheredFiles(const config::HadoopConf& conf,
                                                              const model::ApplicationId& app, const std::string& owner,
                                                              const std::string& user);

}  // namespace fairlead::shell
