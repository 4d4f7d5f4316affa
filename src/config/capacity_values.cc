#include <cctype>
#include <cmath>

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

/// internalGetLabeledResourceRequirementForQueue.
void ReadAmount(std::string_view text, CapacityValue& value) {
  for (const std::string_view pair : base::Split(text.substr(1, text.size() - 2), ',')) {
    const std::vector<std::string_view> sides = base::Split(pair, '=');
    if (sides.size() < 2) continue;
    const int type = TypeOf(base::Trimmed(sides[0]));
    if (type < 0) continue;
    const std::string_view unit = UnitsOf(sides[1]);
    if (!UnitFactor(unit)) continue;
    const auto amount = java::ParseInteger<int64_t>(sides[1].substr(0, sides[1].size() - unit.size()));
    if (!amount) {
      return Fail(value, CapacityFault::kNumber, "'" + std::string(sides[1]) + "' is no amount; write a whole number");
    }
    value.amount[static_cast<size_t>(type)] = unit.empty() ? *amount : ToMebi(unit, *amount);
  }
  if (value.amount[0] == 0) value.amount = {};
}

/// QueueCapacityConfigParser.setCapacityVector.
void ReadEntry(std::string_view name, std::string_view text, CapacityValue& value) {
  std::string suffix;
  for (const char c : text) {
    if (c != '.' && std::isdigit(static_cast<unsigned char>(c)) == 0) suffix += c;
  }
  const int type = TypeOf(name);
  if (!text.ends_with(suffix) || type < 0) return;
  const auto number = java::ParseReal<float>(text.substr(0, text.size() - suffix.size()));
  if (!number) return Fail(value, CapacityFault::kNumber, "'" + std::string(text) + "' is no number");
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
void ReadVector(const std::string& text, CapacityValue& value) {
  const std::string packed = WithoutBlanks(text);
  if (IsVector(packed)) {
    value.vector.assign(ResourceTypes::Count(), {CapacityUnit::kAbsolute, 0});
    for (const std::string_view pair : base::Split(std::string_view(packed).substr(1, packed.size() - 2), ',')) {
      const std::vector<std::string_view> sides = base::Split(pair, '=');
      if (sides.size() > 1) ReadEntry(sides[0], sides[1], value);
    }
    if (value.vector[0].value == 0) value.vector.clear();
    return;
  }
  const size_t digits = packed.find_first_not_of("0123456789.");
  const std::string suffix = digits == std::string::npos ? "" : packed.substr(digits);
  if (digits == 0 || packed.empty() || (!suffix.empty() && suffix != "w")) return;
  const auto number = java::ParseReal<float>(packed.substr(0, digits));
  if (!number) return Fail(value, CapacityFault::kNumber, "'" + packed + "' is no number");
  value.vector.assign(ResourceTypes::Count(),
                      {suffix.empty() ? CapacityUnit::kPercent : CapacityUnit::kWeight, *number});
}

/// What percentages, weights and vectors have in common; `default_percent`: where none is written.
CapacityValue Read(const std::string& text, float default_percent) {
  CapacityValue value;
  value.percent = default_percent;
  if (text.size() > kLongestValue) {
    Fail(value, CapacityFault::kArgument, "a capacity of " + std::to_string(text.size()) + " characters");
    return value;
  }
  value.absolute = IsAbsolute(text);
  if (value.absolute) ReadAmount(text, value);
  ReadVector(text, value);
  return value;
}

void ReadPercent(const std::string& text, CapacityValue& value) {
  const auto number = java::ParseReal<float>(text);
  if (!number) {
    value.problem = {CapacityFault::kNumber, "'" + text +
                                                 "' is no capacity; write a percentage such as 12.5, a weight "
                                                 "such as 2w, or amounts such as [memory=4096,vcores=4]"};
    return;
  }
  value.percent = *number;
}

void CheckRange(const std::string& text, CapacityValue& value) {
  if (!value.problem && (value.percent < 0 || value.percent > 100)) {
    Fail(value, CapacityFault::kArgument, "Illegal capacity of " + text + "; write 0 to 100");
  }
}

}  // namespace

CapacityValue ReadCapacity(const std::string& text, bool /*labelled*/) {
  CapacityValue value = Read(text, 0);
  if (value.problem) return value;
  if (text.ends_with('w')) {
    const auto weight = java::ParseReal<float>(text.substr(0, text.find('w')));
    if (!weight) {
      Fail(value, CapacityFault::kNumber, "'" + text + "' is no weight; write a number and w, such as 2w");
    } else if ((*weight < -1e-6 && std::fabs(*weight + 1) > 1e-6) || *weight > 10000) {
      Fail(value, CapacityFault::kArgument, "Illegal weight=" + text + "; write 0w to 10000w");
    } else {
      value.weight = *weight;
    }
  } else if (!value.absolute && !IsVector(WithoutBlanks(text))) {
    ReadPercent(text, value);
    CheckRange(text, value);
  }
  return value;
}

CapacityValue ReadMaximumCapacity(const std::string& text, bool labelled) {
  CapacityValue value = Read(text, 100);
  if (value.problem || value.absolute || IsVector(WithoutBlanks(text))) return value;
  if (labelled && text.ends_with('w')) return value;
  ReadPercent(text, value);
  if (labelled) {
    CheckRange(text, value);
  } else if (value.percent == -1.0F) {
    value.percent = 100;
  }
  return value;
}

}  // namespace fairlead::config
