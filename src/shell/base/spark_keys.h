#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/keys.h"

// Settings of daemons of Spark, as its properties files and -D options have them.

namespace fairlead::shell {

/// Keys of Spark ("spark.deploy.defaultCores"), and of Fairlead, and their values.
using SparkProperties = std::map<std::string, std::string>;

/// A Spark properties file: `key value`, `key=value` or `key: value` a line, # and ! comments, as java.util.Properties.
SparkProperties ParseSparkProperties(std::string_view text);
/// "100m" -> bytes, as JavaUtils.byteStringAs with `unit` for a bare number.
base::Result<int64_t> ParseSparkBytes(std::string_view text, int64_t unit = 1);
/// "120s", "1min", as JavaUtils.timeStringAs with `unit` for a bare number.
base::Result<base::Duration> ParseSparkTime(std::string_view text, base::Duration unit);

/// Reads values; after the first that is wrong error() names its key, what it says and what it may say.
class SparkKeys {
 public:
  explicit SparkKeys(const SparkProperties& properties) : properties_(properties) {}

  bool Has(const std::string& key) const;
  std::string String(const std::string& key, const std::string& otherwise = "") const;
  /// Split at commas, trimmed, empty parts dropped.
  std::vector<std::string> List(const std::string& key, const std::vector<std::string>& otherwise = {}) const;
  bool Bool(const std::string& key, bool otherwise);
  int64_t Int(const std::string& key, int64_t otherwise, int64_t low, int64_t high);
  base::Duration Time(const std::string& key, base::Duration otherwise, base::Duration unit);
  /// A bare number counts in bytes.
  int64_t Bytes(const std::string& key, int64_t otherwise, int64_t low, int64_t high);
  void Refuse(const std::string& key, const std::string& why);
  /// A key of Fairlead ("fairlead.tls.key"), also with "spark." before it: programs of Spark pass over keys without
  /// that. "": it is not there.
  std::string Own(const std::string& key) const;
  /// fairlead.callers.uids.
  std::vector<std::string> Callers() const;
  const std::string& error() const { return error_; }
  base::Status status() const { return error_.empty() ? base::Status() : base::Error{error_}; }
  /// Keys that begin with `prefix` and that nobody has asked for.
  std::vector<std::string> Unread(std::string_view prefix) const;
  /// Keys that were asked for.
  const std::set<std::string>& Asked() const { return asked_; }

 private:
  const SparkProperties& properties_;
  std::string error_;
  mutable std::set<std::string> asked_;
};

/// A number of bytes with a unit, as a field of a row.
template <class Number>
struct SparkBytes {
  static void Read(SparkKeys& keys, const char* key, config::Range range, Number& value) {
    value = static_cast<Number>(keys.Bytes(key, static_cast<int64_t>(value), range.low, range.high));
  }
  /// "48m".
  static std::string Text(Number value, config::Range /*range*/) {
    constexpr int kUnit = 10;
    std::string unit;
    for (const char* next : {"k", "m", "g"}) {
      if (value == 0 || value % (Number{1} << kUnit) != 0) break;
      value >>= kUnit;
      unit = next;
    }
    return std::to_string(value) + unit;
  }
};

/// A second, for rows of times: Spark's daemons take bare numbers so.
inline constexpr int64_t kSparkSecond = 1'000'000'000;

/// Rows of fields, as config::KeyOf.
template <auto First, auto... Rest>
constexpr auto SparkKeyOf(const char* name, const char* meaning, config::Range range = {}) {
  return config::FieldPath<SparkKeys, config::KeyValue, First, Rest...>::Make(name, meaning, range);
}
template <auto First, auto... Rest>
constexpr auto SparkBytesOf(const char* name, const char* meaning, config::Range range = {1, INT64_MAX}) {
  return config::FieldPath<SparkKeys, SparkBytes, First, Rest...>::Make(name, meaning, range);
}

/// An environment variable, or "".
std::string Variable(const char* name);

}  // namespace fairlead::shell
