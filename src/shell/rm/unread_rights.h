#pragma once

#include <string>
#include <vector>

#include "config/hadoop_conf.h"

namespace fairlead::shell {

struct UnreadRight {
  std::string key;
  std::string near;  // a key that is read and may be meant, or ""
};

/// Keys about rights and web ports (hadoop.security., hadoop.http., yarn.webapp., yarn.authorization-provider) that the
/// files have, that the resource manager, which has read all it needs, has not read, and that say something else than
/// Hadoop's default. Keys that change nothing here, whatever their value, are left out: those of clients and of
/// threads, and those beneath a key that is read and that refuses or switches off the whole. At most 200.
std::vector<UnreadRight> UnreadRights(const config::HadoopConf& conf);

}  // namespace fairlead::shell
