#include "shell/base/spark_keys.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>

#include "base/text.h"
#include "shell/base/open_ports.h"

namespace fairlead::shell {

namespace {

struct Suffix {
  std::string_view name;
  int64_t factor;
};

base::Result<int64_t> ParseWithSuffix(std::string_view text, std::span<const Suffix> suffixes, int64_t unit) {
  const std::string lower = base::Lowered(base::Trimmed(text));
  int64_t number = 0;
  const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), number);
  const std::string_view rest = std::string_view(lower).substr(static_cast<size_t>(end - lower.data()));
  if (error == std::errc() && number >= 0) {
    if (rest.empty() && number <= INT64_MAX / unit) return number * unit;
    for (const Suffix& suffix : suffixes) {
      if (rest == suffix.name && number <= INT64_MAX / suffix.factor) return number * suffix.factor;
    }
  }
  return base::Error{"'" + std::string(text) + "' is not a number with a unit"};
}

}  // namespace

SparkProperties ParseSparkProperties(std::string_view text) {
  SparkProperties out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    const size_t key_end = std::min(line.find_first_of(" \t=:"), line.size());
    std::string_view value = base::Trimmed(line.substr(key_end));
    if (!value.empty() && (value[0] == '=' || value[0] == ':')) value = base::Trimmed(value.substr(1));
    out[std::string(line.substr(0, key_end))] = std::string(value);
  }
  return out;
}

base::Result<int64_t> ParseSparkBytes(std::string_view text, int64_t unit) {
  static constexpr Suffix kSuffixes[] = {{"b", 1},          {"k", 1LL << 10},  {"kb", 1LL << 10},
                                         {"m", 1LL << 20},  {"mb", 1LL << 20}, {"g", 1LL << 30},
                                         {"gb", 1LL << 30}, {"t", 1LL << 40},  {"tb", 1LL << 40}};
  return ParseWithSuffix(text, kSuffixes, unit);
}

base::Result<base::Duration> ParseSparkTime(std::string_view text, base::Duration unit) {
  static constexpr Suffix kSuffixes[] = {
      {"us", 1'000},           {"ms", 1'000'000},        {"s", 1'000'000'000},     {"m", 60'000'000'000},
      {"min", 60'000'000'000}, {"h", 3'600'000'000'000}, {"d", 86'400'000'000'000}};
  const auto ns = ParseWithSuffix(text, kSuffixes, unit.ns);
  if (!ns.ok()) return ns.error();
  return base::Duration::Nanos(*ns);
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool SparkKeys::Has(const std::string& key) const {
  asked_.insert(key);
  return properties_.contains(key);
}

std::string SparkKeys::String(const std::string& key, const std::string& otherwise) const {
  asked_.insert(key);
  const auto found = properties_.find(key);
  return found != properties_.end() ? found->second : otherwise;
}

std::vector<std::string> SparkKeys::List(const std::string& key, const std::vector<std::string>& otherwise) const {
  return Has(key) ? base::SplitTrimmed(String(key)) : otherwise;
}

std::vector<std::string> SparkKeys::Unread(std::string_view prefix) const {
  std::vector<std::string> out;
  for (auto at = properties_.lower_bound(std::string(prefix)); at != properties_.end() && at->first.starts_with(prefix);
       ++at) {
    if (!asked_.contains(at->first)) out.push_back(at->first);
  }
  return out;
}

std::string SparkKeys::Own(const std::string& key) const { return String(key, String("spark." + key)); }

std::vector<std::string> SparkKeys::Callers() const {
  std::string uids = Own(kCallersKey);
  std::ranges::replace(uids, ' ', ',');
  return base::SplitTrimmed(uids);
}

bool SparkKeys::Bool(const std::string& key, bool otherwise) {
  const std::string text = String(key, otherwise ? "true" : "false");
  const std::string lower = base::Lowered(text);
  if (lower != "true" && lower != "false") Refuse(key, text + " is neither true nor false");
  return lower == "true";
}

int64_t SparkKeys::Int(const std::string& key, int64_t otherwise, int64_t low, int64_t high) {
  if (!Has(key)) return otherwise;
  const std::string text = String(key);
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && number >= low && number <= high) return number;
  Refuse(key, text + " is no number from " + std::to_string(low) + " to " + std::to_string(high));
  return otherwise;
}

base::Duration SparkKeys::Time(const std::string& key, base::Duration otherwise, base::Duration unit) {
  if (!Has(key)) return otherwise;
  const auto time = ParseSparkTime(String(key), unit);
  if (time.ok()) return *time;
  Refuse(key, time.error().message);
  return otherwise;
}

int64_t SparkKeys::Bytes(const std::string& key, int64_t otherwise, int64_t low, int64_t high) {
  if (!Has(key)) return otherwise;
  const auto bytes = ParseSparkBytes(String(key));
  if (!bytes.ok()) {
    Refuse(key, bytes.error().message);
  } else if (*bytes < low || *bytes > high) {
    Refuse(key, "write " + std::to_string(low) + (high == INT64_MAX ? " or more" : " to " + std::to_string(high)));
  } else {
    return *bytes;
  }
  return otherwise;
}

void SparkKeys::Refuse(const std::string& key, const std::string& why) {
  if (error_.empty()) error_ = key + ": " + why;
}

}  // namespace fairlead::shell
