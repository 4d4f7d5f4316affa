#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/setting.h"
#include "base/time.h"
#include "config/hadoop_conf.h"

// A daemon's or a profile's keys as a table: one row names the key, its field and its meaning. What reads the
// configuration, `fairlead config keys` and the documents come from it; the default is the field's own. A Source has
// what is written: Hadoop's files, or the properties of a daemon of Spark (shell/base/spark_keys.h). Both have
// String, Int, Double, Bool, Time, List and Refuse.

namespace fairlead::config {

using base::Setting;

/// What a number may be. `unit`: what 1 stands for: for a number, so many of the field's; for a time without a unit of
/// its own, nanoseconds. 0: one, and a millisecond.
struct Range {
  int64_t low = 0;
  int64_t high = INT32_MAX;
  int64_t unit = 0;
};

/// How a field of this type is read, and told in documents: `Read(source, key, range, field)` and `Text(field, range)`.
template <class Field>
struct KeyValue;

template <std::integral Number>
struct KeyValue<Number> {
  static int64_t UnitOf(Range range) { return range.unit == 0 ? 1 : range.unit; }
  template <class Source>
  static void Read(Source& conf, const char* key, Range range, Number& value) {
    if (conf.String(key).empty()) return;
    const int64_t unit = UnitOf(range);
    value = static_cast<Number>(conf.Int(key, static_cast<int64_t>(value) / unit, range.low, range.high) * unit);
  }
  static std::string Text(Number value, Range range) {
    return std::to_string(static_cast<int64_t>(value) / UnitOf(range));
  }
};

template <>
struct KeyValue<bool> {
  template <class Source>
  static void Read(Source& conf, const char* key, Range /*range*/, bool& value) {
    value = conf.Bool(key, value);
  }
  static std::string Text(bool value, Range /*range*/) { return value ? "true" : "false"; }
};

template <>
struct KeyValue<double> {
  template <class Source>
  static void Read(Source& conf, const char* key, Range /*range*/, double& value) {
    value = conf.Double(key, value);
  }
  static std::string Text(double value, Range range);
};

template <>
struct KeyValue<base::Duration> {
  static base::Duration UnitOf(Range range) {
    return range.unit == 0 ? base::Duration::Millis(1) : base::Duration{range.unit};
  }
  template <class Source>
  static void Read(Source& conf, const char* key, Range range, base::Duration& value) {
    const base::Duration read = conf.Time(key, value, UnitOf(range));
    if (read.ns < 0 && range.low == 0) return conf.Refuse(key, "a time cannot be negative; write 0 or more");
    value = read;
  }
  static std::string Text(base::Duration value, Range range) { return std::to_string(value.ns / UnitOf(range).ns); }
};

template <>
struct KeyValue<std::string> {
  template <class Source>
  static void Read(Source& conf, const char* key, Range /*range*/, std::string& value) {
    value = conf.String(key, value);
  }
  static std::string Text(const std::string& value, Range /*range*/) { return value; }
};

template <>
struct KeyValue<std::vector<std::string>> {
  template <class Source>
  static void Read(Source& conf, const char* key, Range /*range*/, std::vector<std::string>& value) {
    value = conf.List(key, value);
  }
  static std::string Text(const std::vector<std::string>& value, Range range);
};

/// A row. `read` is nullptr where code reads the key that no field's type can; then `fallback` says what counts, and
/// without it Hadoop's default does.
template <class Config, class Source = const HadoopConf>
struct Key {
  const char* name;
  const char* meaning;
  void (*read)(Source&, const Key&, Config&);
  std::string (*text)(const Config&, Range);
  Range range;
  const char* fallback = nullptr;  // shown instead of the field

  /// The same row with this shown as its default: for fields that are completed once all keys are read.
  constexpr Key Shown(const char* text_of_default) const {
    Key row = *this;
    row.fallback = text_of_default;
    return row;
  }
};

/// A field's row; `Value` is KeyValue or its like.
template <class Source, template <class> class Value, auto First, auto... Rest>
struct FieldPath;
template <class Source, template <class> class Value, class Config, class Field, Field Config::*First, auto... Rest>
struct FieldPath<Source, Value, First, Rest...> {
  static constexpr Key<Config, Source> Make(const char* name, const char* meaning, Range range) {
    return {name, meaning,
            [](Source& source, const Key<Config, Source>& key, Config& config) {
              auto& field = ((config.*First).*....*Rest);
              Value<std::remove_reference_t<decltype(field)>>::Read(source, key.name, key.range, field);
            },
            [](const Config& config, Range of) {
              const auto& field = ((config.*First).*....*Rest);
              return Value<std::remove_cvref_t<decltype(field)>>::Text(field, of);
            },
            range};
  }
};
/// The row of a field: KeyOf<&Config::part, &Part::field>("name", "meaning").
template <auto First, auto... Rest>
constexpr auto KeyOf(const char* name, const char* meaning, Range range = {}) {
  return FieldPath<const HadoopConf, KeyValue, First, Rest...>::Make(name, meaning, range);
}
inline constexpr const char* kHadoops = nullptr;  // as fallback: hadoop_defaults.cc has it
/// The row of a key that code reads.
template <class Config, class Source = const HadoopConf>
constexpr Key<Config, Source> ReadByHand(const char* name, const char* fallback, const char* meaning) {
  return {name, meaning, nullptr, nullptr, {}, fallback};
}

/// Hadoop's default of the key, for people: "none" where it is empty.
std::string TextOfHadoopDefault(const char* key);

template <class Config, class Source = const HadoopConf>
void ReadKeys(Source& source, std::type_identity_t<std::span<const Key<Config, Source>>> keys, Config& config) {
  for (const Key<Config, Source>& key : keys) {
    if (key.read != nullptr) key.read(source, key, config);
  }
}

/// Rows for people; defaults are those of `config`.
template <class Config, class Source = const HadoopConf>
void AppendSettings(std::type_identity_t<std::span<const Key<Config, Source>>> keys, const Config& config,
                    std::vector<Setting>& out) {
  for (const Key<Config, Source>& key : keys) {
    out.push_back({key.name,
                   key.fallback != nullptr ? key.fallback
                   : key.text != nullptr   ? key.text(config, key.range)
                                           : TextOfHadoopDefault(key.name),
                   key.meaning});
  }
}

/// A value that would change what a daemon promises, and that Fairlead does not have.
struct Unsupported {
  const char* key;
  const char* refused;  // this value, or "*": every value but `accepted`
  const char* accepted;
  const char* reason;
  const char* remedy;
};
void RefuseUnsupported(const HadoopConf& conf, std::span<const Unsupported> table);
/// Their rows for people.
void AppendSettings(std::span<const Unsupported> table, std::vector<Setting>& out);

/// A table of docs/configuration.md.
std::string Markdown(const std::vector<Setting>& settings);

}  // namespace fairlead::config
