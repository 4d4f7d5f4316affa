#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "model/ids.h"
#include "shell/nm/beneath.h"

namespace fairlead::shell {

/// The files of one application, in the place that the configuration names for the first of its formats.
class GatheredFiles {
 public:
  virtual ~GatheredFiles() = default;
  virtual base::Result<std::vector<std::string>> Names() const = 0;
  virtual base::Result<Fd> Open(const std::string& name) const = 0;
};
/// `owner`: the application's; `user`: who reads, in HDFS. Error: there is no such place.
base::Result<std::unique_ptr<GatheredFiles>> FindGatheredFiles(const config::HadoopConf& conf,
                                                               const model::ApplicationId& app,
                                                               const std::string& owner, const std::string& user);

}  // namespace fairlead::shell
