#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "config/allocation_file.h"
#include "model/resources.h"

// Resource strings of the allocation file (FairSchedulerConfiguration.parseResourceConfigValue) and access lists.

namespace fairlead::config {
namespace {

using model::ConfiguredResources;

base::Error Wrong(const std::string& message) { return {message, static_cast<int>(AllocationFault::kConfiguration)}; }

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// String.split(","): empty parts at the end are dropped.
std::vector<std::string_view> JavaSplit(std::string_view text, char separator) {
  std::vector<std::string_view> parts = base::Split(text, separator);
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

/// "-?\d+(\.\d*)?\s*" at the front: the whole number and what follows.
struct Number {
  std::string_view whole;    // with the sign
  std::string_view decimal;  // with sign and fraction
  std::string_view rest;
};
std::optional<Number> TakeNumber(std::string_view text) {
  size_t i = text.starts_with('-') ? 1 : 0;
  const size_t first = i;
  while (i < text.size() && IsDigit(text[i])) ++i;
  if (i == first) return std::nullopt;
  Number number{text.substr(0, i), {}, {}};
  if (i < text.size() && text[i] == '.') {
    ++i;
    while (i < text.size() && IsDigit(text[i])) ++i;
  }
  number.decimal = text.substr(0, i);
  while (i < text.size() && IsSpace(text[i])) ++i;
  number.rest = text.substr(i);
  return number;
}

base::Result<double> Percentage(std::string_view text, std::string_view resource) {
  const std::string what = resource.empty() ? "percentage" : "percentage of " + std::string(resource);
  const std::optional<Number> number = TakeNumber(text);
  if (!number || !number->rest.starts_with('%')) return Wrong("'" + std::string(text) + "' is no " + what);
  std::string_view rest = number->rest.substr(1);
  while (!rest.empty() && IsSpace(rest.front())) rest.remove_prefix(1);
  if (rest != resource) return Wrong("'" + std::string(text) + "' is no " + what);
  double value = 0;
  std::from_chars(number->decimal.data(), number->decimal.data() + number->decimal.size(), value);
  if (number->decimal.starts_with('-') && value < 0) return Wrong("a percentage must not be negative");
  return value;
}

std::optional<std::string_view> FirstWith(const std::vector<std::string_view>& parts, std::string_view resource) {
  for (const std::string_view part : parts) {
    if (part.find(resource) != std::string_view::npos) return base::Trimmed(part);
  }
  return std::nullopt;
}

base::Result<ConfiguredResources> OldPercentages(const std::string& text) {
  ConfiguredResources r;
  const std::vector<std::string_view> parts = JavaSplit(text, ',');
  if (parts.size() == 1) {
    const base::Result<double> all = Percentage(base::Trimmed(parts[0]), "");
    if (!all) return all.error();
    r.percent["*"] = *all;
    return r;
  }
  for (const auto& [word, type] : {std::pair{"memory", "memory-mb"}, std::pair{"cpu", "vcores"}}) {
    const std::optional<std::string_view> part = FirstWith(parts, word);
    if (!part) return Wrong(std::string("no ") + word + " is named");
    const base::Result<double> value = Percentage(*part, word);
    if (!value) return value.error();
    r.percent[type] = *value;
  }
  return r;
}

/// "-?\d+(\.\d*)?\s*[a-z]+\s*", wherever it is found.
std::vector<std::string_view> SpaceSeparated(std::string_view text) {
  std::vector<std::string_view> found;
  size_t at = 0;
  while (at < text.size()) {
    const std::optional<Number> number = TakeNumber(text.substr(at));
    size_t letters = 0;
    if (number) {
      while (letters < number->rest.size() && number->rest[letters] >= 'a' && number->rest[letters] <= 'z') ++letters;
    }
    if (letters == 0) {
      ++at;
      continue;
    }
    const size_t begin = at;
    at = text.size() - number->rest.size() + letters;
    while (at < text.size() && IsSpace(text[at])) ++at;
    found.push_back(text.substr(begin, at - begin));
  }
  return found;
}

base::Result<ConfiguredResources> OldAmounts(const std::string& text) {
  std::vector<std::string_view> parts = JavaSplit(text, ',');
  if (parts.size() != 2) parts = SpaceSeparated(text);
  if (parts.size() != 2) return Wrong("not two amounts");
  ConfiguredResources r;
  for (const auto& [word, type] : {std::pair{"mb", "memory-mb"}, std::pair{"vcores", "vcores"}}) {
    const std::optional<std::string_view> part = FirstWith(parts, word);
    if (!part) return Wrong(std::string("no ") + word + " is named");
    const std::optional<Number> number = TakeNumber(*part);
    if (!number || !number->rest.starts_with(word))
      return Wrong("'" + std::string(*part) + "' is no amount of " + word);
    int32_t value = 0;
    const auto [end, problem] =
        std::from_chars(number->whole.data(), number->whole.data() + number->whole.size(), value);
    if (problem != std::errc()) return Wrong("'" + std::string(number->whole) + "' is out of range");
    if (value < 0) return Wrong(std::string(word) + " must not be negative");
    r.absolute[type] = value;
  }
  return r;
}

base::Result<ConfiguredResources> NewStyle(std::string_view text, int64_t unnamed) {
  ConfiguredResources r;
  const bool percent = text.find('%') != std::string_view::npos;
  r.unnamed = unnamed;
  if (percent) r.percent["*"] = 100.0;
  for (const std::string_view part : JavaSplit(text, ',')) {
    const std::vector<std::string_view> sides = JavaSplit(part, '=');
    if (sides.size() != 2) return Wrong("'" + std::string(part) + "' is not name=value");
    const std::string name(base::Trimmed(sides[0]));
    const std::string_view value = base::Trimmed(sides[1]);
    if (percent) {
      const base::Result<double> share = Percentage(value, "");
      if (!share) return Wrong("'" + std::string(value) + "' is no percentage; all or none must be");
      r.percent[name] = *share;
    } else {
      int64_t amount = 0;
      std::string_view digits = value;
      if (digits.starts_with('+')) digits.remove_prefix(1);
      const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), amount);
      if (problem != std::errc() || end != digits.data() + digits.size()) {
        return Wrong("'" + std::string(value) + "' is no whole number");
      }
      if (amount < 0) return Wrong(name + " must not be negative");
      r.absolute[name] = name == "vcores" ? std::min<int64_t>(amount, INT32_MAX) : amount;
    }
    if (model::ResourceTypes::Find(name) < 0) {
      return Wrong("resource type '" + name + "' is not known; name it in yarn.resource-types");
    }
  }
  return r;
}

}  // namespace

base::Result<ConfiguredResources> ParseConfiguredResources(std::string_view text, int64_t unnamed) {
  if (base::Trimmed(text).empty()) return Wrong("it is empty");
  if (text.find('=') != std::string_view::npos) return NewStyle(text, unnamed);
  const std::string lower = base::Lowered(text);
  return lower.find('%') != std::string::npos ? OldPercentages(lower) : OldAmounts(lower);
}

/// org.apache.hadoop.security.authorize.AccessControlList.
model::AccessList ParseAccessList(std::string_view text) {
  model::AccessList list;
  const size_t space = text.find(' ');
  const std::string_view users = text.substr(0, space);
  const std::string_view groups = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  if (base::Trimmed(text) == "*" || base::Trimmed(users) == "*" || base::Trimmed(groups) == "*") list.everybody = true;
  const auto add = [](std::string_view part, std::vector<std::string>& to) {
    for (const std::string_view name : JavaSplit(part, ',')) {
      if (!base::Trimmed(name).empty()) to.emplace_back(base::Trimmed(name));
    }
  };
  add(users, list.users);
  add(groups, list.groups);
  return list;
}

}  // namespace fairlead::config
