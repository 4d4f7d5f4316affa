#pragma once

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "model/resources.h"

namespace fairlead::profiles {

/// What containers may be asked for: yarn.scheduler.{minimum,maximum,increment}-allocation-* and
/// yarn.resource-types.*. The named resource types must have been registered before.
struct ContainerSizes {
  model::Resources minimum;
  model::Resources maximum;
  model::Resources increment;
};
base::Result<ContainerSizes> ReadSizes(const config::HadoopConf& conf);

}  // namespace fairlead::profiles
