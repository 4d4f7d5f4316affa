#pragma once

#include <string>
#include <vector>

#include "config/keys.h"
#include "model/wishes.h"
#include "profiles/profile.h"
#include "scheduler/fairlead/config.h"

// Values that profiles alone have in their keys (config/keys.h).

namespace fairlead::config {

template <>
struct KeyValue<scheduler::NodeOrder> {
  static void Read(const HadoopConf& conf, const char* key, Range /*range*/, scheduler::NodeOrder& value) {
    const std::string text = conf.String(key);
    if (text == "spread") {
      value = scheduler::NodeOrder::kSpread;
    } else if (text == "pack") {
      value = scheduler::NodeOrder::kPack;
    } else if (!text.empty()) {
      conf.Refuse(key, "'" + text + "' is not an order of nodes; write spread or pack");
    }
  }
  static std::string Text(scheduler::NodeOrder value, Range /*range*/) {
    return value == scheduler::NodeOrder::kPack ? "pack" : "spread";
  }
};

template <>
struct KeyValue<model::Wishes> {
  static void Read(const HadoopConf& conf, const char* key, Range /*range*/, model::Wishes& value) {
    if (!conf.IsSet(key)) return;
    const base::Result<model::Wishes> read = model::ParseWishes(conf.String(key));
    if (!read.ok()) return conf.Refuse(key, read.error().message);
    value = *read;
  }
  static std::string Text(const model::Wishes& value, Range /*range*/) { return model::ToString(value); }
};

/// Milliseconds with commas between.
template <>
struct KeyValue<std::vector<base::Duration>> {
  static void Read(const HadoopConf& conf, const char* key, Range range, std::vector<base::Duration>& value);
  static std::string Text(const std::vector<base::Duration>& value, Range range);
};

/// QUEUE=AMOUNT TYPE/PERIOD, with " hard" behind it or not, and commas between: root.batch=1000 vcores/7d hard.
template <>
struct KeyValue<std::vector<scheduler::BudgetConfig>> {
  static void Read(const HadoopConf& conf, const char* key, Range range, std::vector<scheduler::BudgetConfig>& value);
  static std::string Text(const std::vector<scheduler::BudgetConfig>& value, Range range);
};

}  // namespace fairlead::config

namespace fairlead::profiles {

using config::AppendSettings;
using config::Key;
using config::KeyOf;
using config::Range;
using config::ReadKeys;

}  // namespace fairlead::profiles
