#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/java_number.h"
#include "base/text.h"
#include "config/capacity_file.h"
#include "config/java_numbers.h"

// Values of capacity and maximum-capacity: percentages, weights, amounts and vectors of them
// (CapacitySchedulerConfiguration, QueueCapacityConfigParser).

namespace fairlead::config {
namespace {

using model::CapacityEntry;
using model::CapacityFault;
using model::CapacityUnit;
using model::CapacityValue;
using model::ResourceTypes;

constexpr size_t kLongestValue = 4096;
constexpr std::string_view kKeyPrefix = "yarn.scheduler.capacity.";
constexpr std::string_view kOfLabels = ".accessible-node-labels.";

/// What a value is of.
struct Place {
  explicit Place(const std::string& its_key) : key(its_key) {
    const std::string path = key.substr(std::min(kKeyPrefix.size(), key.size()));
    const size_t labels = path.find(kOfLabels);
    const size_t name = path.rfind('.');
    queue = path.substr(0, std::min(labels, name));
    if (labels == std::string::npos) return;
    const size_t begin = labels + kOfLabels.size();
    label = path.substr(begin, name > begin ? name - begin : 0);
  }
  const std::string& key;
  std::string queue, label;
};

void Fail(CapacityValue& value, CapacityFault fault, const std::string& message) {
  if (!value.problem) value.problem = {fault, message};
}

std::string WithoutBlanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ') out += c;
  }
  return out;
}

/// "[...]" of word characters and `more`.
bool IsBracketed(std::string_view text, std::string_view more) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
  for (const char c : text.substr(1, text.size() - 2)) {
    const bool word = (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_';
    if (!word && more.find(c) == std::string_view::npos) return false;
  }
  return true;
}

/// CapacitySchedulerConfiguration.RESOURCE_PATTERN.
bool IsAbsolute(std::string_view text) { return IsBracketed(text, ".,-_= /"); }
/// QueueCapacityConfigParser.RESOURCE_REGEX: a value on both sides of some "=".
bool IsVector(std::string_view text) {
  return IsBracketed(text, ".,-_%= /") && text.find('=') != std::string_view::npos && text[1] != '=' &&
         text[text.size() - 2] != '=';
}

/// UnitsConversionUtil: factor to the unit without prefix; nothing for an unknown unit.
std::optional<double> UnitFactor(std::string_view unit) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1},
                                                                   {"p", 1e-12},
                                                                   {"n", 1e-9},
                                                                   {"u", 1e-6},
                                                                   {"m", 1e-3},
                                                                   {"k", 1e3},
                                                                   {"M", 1e6},
                                                                   {"G", 1e9},
                                                                   {"T", 1e12},
                                                                   {"P", 1e15},
                                                                   {"Ki", 1024.0},
                                                                   {"Mi", 1048576.0},
                                                                   {"Gi", 1073741824.0},
                                                                   {"Ti", 1099511627776.0},
                                                                   {"Pi", 1125899906842624.0}};
  for (const auto& [name, factor] : kUnits) {
    if (name == unit) return factor;
  }
  return std::nullopt;
}

/// UnitsConversionUtil.convert(unit, "Mi", value).
int64_t ToMebi(std::string_view unit, int64_t value) {
  if (unit == "Mi") return value;
  return static_cast<int64_t>(static_cast<long double>(value) * *UnitFactor(unit) / 1048576.0L);
}

/// CapacitySchedulerConfiguration.getUnits: the letters that end the value.
std::string_view UnitsOf(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i])) == 0) continue;
    const std::string_view rest = text.substr(i);
    bool letters = true;
    for (const char c : rest) letters &= std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (letters) return rest;
  }
  return "";
}

int TypeOf(std::string_view name) { return name == "memory" ? 0 : ResourceTypes::Find(name); }

constexpr char kForms[] = "a percentage such as 12.5, a weight such as 2w, or amounts such as [memory=4096,vcores=4]";
constexpr char kAmounts[] = "amounts such as [memory=4096,vcores=4]";

/// internalGetLabeledResourceRequirementForQueue.
void ReadAmount(const Place& place, std::string_view text, CapacityValue& value) {
  for (const std::string_view pair : base::Split(text.substr(1, text.size() - 2), ',')) {
    const std::vector<std::string_view> sides = base::Split(pair, '=');
    if (sides.size() < 2) continue;
    const int type = TypeOf(base::Trimmed(sides[0]));
    if (type < 0) continue;
    const std::string_view unit = UnitsOf(sides[1]);
    if (!UnitFactor(unit)) continue;
    const auto amount = java::ParseInteger<int64_t>(sides[1].substr(0, sides[1].size() - unit.size()));
    if (!amount) {
      const std::string number(sides[1].substr(0, sides[1].size() - unit.size()));
      return Fail(value, CapacityFault::kNumber,
                  ValueRefusal(java::NoInteger(number), place.key, std::string(text), kAmounts));
    }
    value.amount[static_cast<size_t>(type)] = unit.empty() ? *amount : ToMebi(unit, *amount);
  }
  if (value.amount[0] == 0) value.amount = {};
}

/// QueueCapacityConfigParser.setCapacityVector.
void ReadEntry(const Place& place, std::string_view name, std::string_view text, CapacityValue& value) {
  std::string suffix;
  for (const char c : text) {
    if (c != '.' && std::isdigit(static_cast<unsigned char>(c)) == 0) suffix += c;
  }
  const int type = TypeOf(name);
  if (!text.ends_with(suffix) || type < 0) return;
  const std::string_view digits = text.substr(0, text.size() - suffix.size());
  const auto number = java::ParseReal<float>(digits);
  if (!number) {
    return Fail(value, CapacityFault::kNumber,
                ValueRefusal(java::NoReal(digits), place.key, std::string(name) + "=" + std::string(text), kAmounts));
  }
  CapacityEntry entry{CapacityUnit::kAbsolute, *number};
  if (!suffix.empty() && UnitFactor(suffix)) {
    entry.value = static_cast<float>(ToMebi(suffix, static_cast<int64_t>(*number)));
  } else if (suffix == "%") {
    entry.unit = CapacityUnit::kPercent;
  } else if (suffix == "w") {
    entry.unit = CapacityUnit::kWeight;
  }
  value.vector[static_cast<size_t>(type)] = entry;
}

/// QueueCapacityConfigParser.parse.
void ReadVector(const Place& place, const std::string& text, CapacityValue& value) {
  const std::string packed = WithoutBlanks(text);
  if (IsVector(packed)) {
    value.vector.assign(ResourceTypes::Count(), {CapacityUnit::kAbsolute, 0});
    for (const std::string_view pair : base::Split(std::string_view(packed).substr(1, packed.size() - 2), ',')) {
      const std::vector<std::string_view> sides = base::Split(pair, '=');
      if (sides.size() > 1) ReadEntry(place, sides[0], sides[1], value);
    }
    if (value.vector[0].value == 0) value.vector.clear();
    return;
  }
  const size_t digits = packed.find_first_not_of("0123456789.");
  const std::string suffix = digits == std::string::npos ? "" : packed.substr(digits);
  if (digits == 0 || packed.empty() || (!suffix.empty() && suffix != "w")) return;
  const std::string read = packed.substr(0, digits);
  const auto number = java::ParseReal<float>(read);
  if (!number) {
    return Fail(value, CapacityFault::kNumber, ValueRefusal(java::NoReal(read), place.key, text, kForms));
  }
  value.vector.assign(ResourceTypes::Count(),
                      {suffix.empty() ? CapacityUnit::kPercent : CapacityUnit::kWeight, *number});
}

/// What percentages, weights and vectors have in common; `default_percent`: where none is written.
CapacityValue Read(const Place& place, const std::string& text, float default_percent) {
  CapacityValue value;
  value.percent = default_percent;
  if (text.size() > kLongestValue) {
    Fail(value, CapacityFault::kArgument,
         place.key + " is a capacity of " + std::to_string(text.size()) + " characters; it may have 4096");
    return value;
  }
  value.absolute = IsAbsolute(text);
  if (value.absolute) ReadAmount(place, text, value);
  ReadVector(place, text, value);
  return value;
}

void ReadPercent(const Place& place, const std::string& text, CapacityValue& value) {
  const auto number = java::ParseReal<float>(text);
  if (!number) {
    value.problem = {CapacityFault::kNumber, ValueRefusal(java::NoReal(text), place.key, text, kForms)};
    return;
  }
  value.percent = *number;
}

/// CapacitySchedulerConfiguration.getNonLabeledQueueCapacity, internalGetLabeledQueueCapacity.
void CheckRange(const Place& place, const std::string& text, CapacityValue& value) {
  if (value.problem || (value.percent >= 0 && value.percent <= 100)) return;
  const std::string hadoop = "Illegal capacity of " + base::JavaFloat(value.percent) + " for " +
                             (place.label.empty() ? "queue " + place.queue
                                                  : "node-label=" + place.label + " in queue=" + place.queue +
                                                        ", valid capacity should in range of [0, 100].");
  Fail(value, CapacityFault::kArgument, ValueRefusal(hadoop, place.key, text, "0 to 100"));
}

/// CapacitySchedulerConfiguration.extractFloatValueFromWeightConfig.
void ReadWeight(const Place& place, const std::string& text, CapacityValue& value) {
  const std::string read = text.substr(0, text.find('w'));
  const auto weight = java::ParseReal<float>(read);
  if (!weight) {
    Fail(value, CapacityFault::kNumber,
         ValueRefusal(java::NoReal(read), place.key, text, "a number and w, such as 2w"));
  } else if ((*weight < -1e-6 && std::fabs(*weight + 1) > 1e-6) || *weight > 10000) {
    const std::string hadoop = "Illegal weight=" + base::JavaFloat(*weight) + " for queue=" + place.queue +
                               "label=" + place.label + ". Acceptable values: [0, 10000], -1 is same as not set";
    Fail(value, CapacityFault::kArgument, ValueRefusal(hadoop, place.key, text, "0w to 10000w"));
  } else {
    value.weight = *weight;
  }
}

}  // namespace

std::string ValueRefusal(const std::string& hadoop, const std::string& key, const std::string& text,
                         const std::string& want) {
  return hadoop + (hadoop.ends_with('.') ? " " : "; ") + key + " is '" + text + "'; write " + want;
}

CapacityValue ReadCapacity(const std::string& key, const std::string& text) {
  const Place place(key);
  CapacityValue value = Read(place, text, 0);
  if (value.problem) return value;
  if (text.ends_with('w')) {
    ReadWeight(place, text, value);
  } else if (!value.absolute && !IsVector(WithoutBlanks(text))) {
    ReadPercent(place, text, value);
    CheckRange(place, text, value);
  }
  return value;
}

CapacityValue ReadMaximumCapacity(const std::string& key, const std::string& text) {
  const Place place(key);
  const bool labelled = !place.label.empty();
  CapacityValue value = Read(place, text, 100);
  if (value.problem || value.absolute || IsVector(WithoutBlanks(text))) return value;
  if (labelled && text.ends_with('w')) return value;
  ReadPercent(place, text, value);
  if (labelled) {
    CheckRange(place, text, value);
  } else if (value.percent == -1.0F) {
    value.percent = 100;
  }
  return value;
}

}  // namespace fairlead::config
