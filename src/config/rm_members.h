#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"

// The resource managers of a cluster that has several (yarn.resourcemanager.ha.enabled).

namespace fairlead::config {

/// yarn.resourcemanager.ha.rm-ids; empty when one manager runs alone.
std::vector<std::string> RmIds(const HadoopConf& conf);

/// The configuration as the manager `id` has it: the keys of addresses ("yarn.resourcemanager.address") have the values
/// of that member's ("yarn.resourcemanager.address.ID", else its hostname with the usual port), as
/// org.apache.hadoop.yarn.conf.HAUtil does it. An Error when neither is there.
base::Result<HadoopConf> OfMember(const HadoopConf& conf, const std::string& id);

/// What a key of addresses says for each manager; one value when one runs alone.
base::Result<std::vector<std::string>> OfEveryMember(const HadoopConf& conf, const std::string& key);

}  // namespace fairlead::config
