#include "scheduler/tdw/sizes.h"

#include <algorithm>

namespace fairlead::scheduler::tdw {

using model::Resources;
using model::ResourceTypes;

Sizes::Sizes(const TdwConfig& config) : master_memory_(config.master_memory), most_(config.base.maximum_allocation) {
  const int network = ResourceTypes::Find(config.network_type);
  const int disk = ResourceTypes::Find(config.disk_type);
  untested_ = network >= 0 && !config.test_network ? static_cast<size_t>(network) : SIZE_MAX;
  const TdwTaskSize* sizes[kTaskTypes] = {&config.jobtracker, &config.map, &config.reduce};
  for (size_t type = 0; type < kTaskTypes; ++type) {
    set_[type][1] = sizes[type]->vcores;
    if (network >= 0) set_[type][static_cast<size_t>(network)] = sizes[type]->network_mbit;
    if (disk >= 0) set_[type][static_cast<size_t>(disk)] = sizes[type]->disk_gb;
    any_ = any_ || !set_[type].IsZero();
  }
  any_ = any_ || master_memory_.base_mb > 0;
}

Resources Sizes::Of(const Resources& asked, TaskType type, const model::scheduler::SessionTraits& session) const {
  Resources size = asked;
  const auto set = [&](size_t t, int64_t amount) {
    if (amount > 0) size[t] = most_[t] > 0 ? std::min(amount, most_[t]) : amount;
  };
  for (size_t t = 0; t < Resources::kMaxTypes; ++t) set(t, set_[At(type)][t]);
  if (type == TaskType::kJobtracker && master_memory_.base_mb > 0 && session.maps + session.reduces > 0) {
    const TdwMasterMemory& by = master_memory_;
    const int64_t tasks = int64_t{by.per_map_mb} * session.maps + int64_t{by.per_reduce_mb} * session.reduces;
    set(0, std::min<int64_t>(by.base_mb + tasks, by.most_mb));
  }
  return size;
}

}  // namespace fairlead::scheduler::tdw
