#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/hadoop_conf.h"
#include "model/resources.h"
#include "model/wishes.h"
#include "profiles/profile.h"
#include "scheduler/fairlead/config.h"

// A profile's keys as a table: one row names the key, its field and its meaning, and both the reader and the documents
// come from it.

namespace fairlead::profiles {

/// What a whole number may be.
struct Range {
  int64_t low = 0;
  int64_t high = INT32_MAX;
};

inline void ReadValue(const config::HadoopConf& conf, const char* key, Range range, int32_t& value) {
  value = static_cast<int32_t>(conf.Int(key, value, range.low, range.high));
}
inline void ReadValue(const config::HadoopConf& conf, const char* key, Range range, int64_t& value) {
  value = conf.Int(key, value, range.low, range.high);
}
inline void ReadValue(const config::HadoopConf& conf, const char* key, Range /*range*/, bool& value) {
  value = conf.Bool(key, value);
}
inline void ReadValue(const config::HadoopConf& conf, const char* key, Range /*range*/, base::Duration& value) {
  const base::Duration read = conf.Time(key, value);
  if (read.ns < 0) return conf.Refuse(key, "a time cannot be negative; write 0 or more");
  value = read;
}
inline void ReadValue(const config::HadoopConf& conf, const char* key, Range /*range*/, scheduler::NodeOrder& value) {
  const std::string text = conf.String(key);
  if (text == "spread") {
    value = scheduler::NodeOrder::kSpread;
  } else if (text == "pack") {
    value = scheduler::NodeOrder::kPack;
  } else if (!text.empty()) {
    conf.Refuse(key, "'" + text + "' is not an order of nodes; write spread or pack");
  }
}
inline void ReadValue(const config::HadoopConf& conf, const char* key, Range /*range*/, model::Wishes& value) {
  if (!conf.IsSet(key)) return;
  const base::Result<model::Wishes> read = model::ParseWishes(conf.String(key));
  if (!read.ok()) return conf.Refuse(key, read.error().message);
  value = *read;
}
/// The name of a resource type.
inline void ReadValue(const config::HadoopConf& conf, const char* key, Range /*range*/, std::string& value) {
  const std::string text = conf.String(key, value);
  if (text != value && model::ResourceTypes::Find(text) < 0) {
    return conf.Refuse(key, "'" + text + "' is not a resource type; add it to yarn.resource-types");
  }
  value = text;
}
/// Milliseconds with commas between.
void ReadValue(const config::HadoopConf& conf, const char* key, Range range, std::vector<base::Duration>& value);
std::string TextOf(const std::vector<base::Duration>& value);
/// QUEUE=AMOUNT TYPE/PERIOD, with " hard" behind it or not, and commas between: root.batch=1000 vcores/7d hard.
void ReadValue(const config::HadoopConf& conf, const char* key, Range range,
               std::vector<scheduler::BudgetConfig>& value);
std::string TextOf(const std::vector<scheduler::BudgetConfig>& value);
inline std::string TextOf(const std::string& value) { return value; }
inline std::string TextOf(scheduler::NodeOrder value) {
  return value == scheduler::NodeOrder::kPack ? "pack" : "spread";
}
inline std::string TextOf(const model::Wishes& value) { return model::ToString(value); }
inline std::string TextOf(int64_t value) { return std::to_string(value); }
inline std::string TextOf(int32_t value) { return std::to_string(value); }
inline std::string TextOf(bool value) { return value ? "true" : "false"; }
inline std::string TextOf(base::Duration value) { return std::to_string(value.millis()); }

template <class Config>
struct Key {
  const char* name;
  const char* meaning;
  void (*read)(const config::HadoopConf&, const Key&, Config&);
  std::string (*text)(const Config&);
  Range range;
};

/// The row of a field: KeyOf<&Config::part, &Part::field>("name", "meaning").
template <auto First, auto... Rest>
struct FieldPath;
template <class Config, class Field, Field Config::*First, auto... Rest>
struct FieldPath<First, Rest...> {
  static constexpr Key<Config> Make(const char* name, const char* meaning, Range range = {}) {
    return {name, meaning,
            [](const config::HadoopConf& conf, const Key<Config>& key, Config& config) {
              ReadValue(conf, key.name, key.range, ((config.*First).*....*Rest));
            },
            [](const Config& config) { return TextOf(((config.*First).*....*Rest)); }, range};
  }
};
template <auto First, auto... Rest>
constexpr auto KeyOf(const char* name, const char* meaning, Range range = {}) {
  return FieldPath<First, Rest...>::Make(name, meaning, range);
}

template <class Config>
void ReadKeys(const config::HadoopConf& conf, std::span<const Key<Config>> keys, Config& config) {
  for (const Key<Config>& key : keys) key.read(conf, key, config);
}

/// Rows for the documents; defaults are those of `config`.
template <class Config>
void AppendSettings(std::span<const Key<Config>> keys, const Config& config, std::vector<Setting>& out) {
  for (const Key<Config>& key : keys) out.push_back({key.name, key.text(config), key.meaning});
}

}  // namespace fairlead::profiles
