#include "profiles/sizes.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace fairlead::profiles {

using config::HadoopConf;

base::Result<ContainerSizes> ReadSizes(const HadoopConf& conf) {
  const auto max = INT64_MAX / 4;
  ContainerSizes sizes;
  sizes.minimum = model::Resources::Of(conf.Int("yarn.scheduler.minimum-allocation-mb", 1024, 0, max),
                                       conf.Int("yarn.scheduler.minimum-allocation-vcores", 1, 0, max));
  sizes.maximum = model::Resources::Of(conf.Int("yarn.scheduler.maximum-allocation-mb", 8192, 1, max),
                                       conf.Int("yarn.scheduler.maximum-allocation-vcores", 4, 1, max));
  sizes.increment = model::Resources::Of(conf.Int("yarn.scheduler.increment-allocation-mb", 1024, 1, max),
                                         conf.Int("yarn.scheduler.increment-allocation-vcores", 1, 1, max));
  const auto increment = [&](const char* key, size_t type) {
    if (conf.IsSet(key)) sizes.increment[type] = std::max<int64_t>(1, std::atoll(conf.String(key).c_str()));
  };
  increment("yarn.resource-types.memory-mb.increment-allocation", 0);
  increment("yarn.resource-types.vcores.increment-allocation", 1);
  for (size_t type = 2; type < model::ResourceTypes::Count(); ++type) {
    const std::string prefix = "yarn.resource-types." + std::string(model::ResourceTypes::Name(type));
    sizes.maximum[type] = conf.Int(prefix + ".maximum-allocation", max, 0);
    sizes.minimum[type] = conf.Int(prefix + ".minimum-allocation", 0, 0);
    sizes.increment[type] = conf.Int(prefix + ".increment-allocation", 1, 1);
  }
  for (size_t type = 0; type < 2; ++type) {
    if (sizes.minimum[type] > sizes.maximum[type]) {
      return base::Error{
          "yarn.scheduler.minimum-allocation-* is larger than yarn.scheduler.maximum-allocation-*; write "
          "a minimum of at most " +
          std::to_string(sizes.maximum[type])};
    }
  }
  return sizes;
}

}  // namespace fairlead::profiles
