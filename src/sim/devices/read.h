#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/devices/devices.h"

// Files of Alibaba's GPU cluster of 2023, as FGD publishes them.

namespace fairlead::sim {

struct DeviceWorkload {
  std::vector<DeviceNode> nodes;  // empty
  std::vector<DeviceAsk> asks;
};

/// `nodes`: rows "sn,cpu_milli,memory_mib,gpu,model"; `pods`: rows whose first columns are
/// "name,cpu_milli,memory_mib,num_gpu,gpu_milli", the next one "gpu_spec" if there are more; each after a line with the
/// names of its columns, as many as every row has. An Error names the file's kind, the line and what is wrong. At most
/// 64 models.
base::Result<DeviceWorkload> ReadDevices(std::string_view nodes, std::string_view pods);

}  // namespace fairlead::sim
