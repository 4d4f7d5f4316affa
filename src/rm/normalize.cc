#include "rm/normalize.h"

#include <algorithm>
#include <string>

namespace fairlead::rm {

model::Resources Normalize(const Config& config, const model::Resources& wanted) {
  model::Resources result;
  for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) {
    int64_t value = std::max(wanted[type], config.minimum[type]);
    const int64_t step = config.increment[type];
    if (step > 0 && value % step != 0) value += step - value % step;
    result[type] = std::min(value, config.maximum[type]);
  }
  return result;
}

model::Refused CheckSize(const Config& config, const model::Resources& maximum, const model::Resources& size) {
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    const std::string name(model::ResourceTypes::Name(type));
    if (size[type] < 0) return {model::Refusal::kNegativeAmount, {name}, {size}, {}};
    if (size[type] > maximum[type]) return {model::Refusal::kAboveMaximum, {name}, {size, maximum, config.maximum}, {}};
  }
  return {};
}

model::Refused NormalizeAsk(const Config& config, const model::Resources& maximum, const std::string& default_label,
                            model::Ask& ask) {
  if (ask.label.empty() && ask.name == "*") ask.label = default_label;
  if (!ask.label.empty() && !config.node_labels) return {model::Refusal::kLabelsOff, {}, {}, {}};
  if (model::Refused refused = CheckSize(config, maximum, ask.capability)) return refused;
  ask.capability = Normalize(config, ask.capability);
  ask.count = std::max(ask.count, 0);
  return {};
}

}  // namespace fairlead::rm
