#include "config/capacity_mapping.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/text.h"
#include "config/java_numbers.h"
#include "wire/json/json.h"

namespace fairlead::config {
namespace {

using model::CapacityFault;
using model::CapacityMappingRule;
using model::CapacityProblem;
using nlohmann::json;

/// base::SplitTrimmed; `once`: a part that was there before is left out.
std::vector<std::string> Parts(std::string_view text, char at, bool once) {
  std::vector<std::string> parts = base::SplitTrimmed(text, at);
  std::set<std::string> seen;
  if (once) std::erase_if(parts, [&](const std::string& part) { return !seen.insert(part).second; });
  return parts;
}

CapacityMappingRule Legacy(const std::string& type, const std::string& source, const std::string& path) {
  CapacityMappingRule rule;
  rule.fallback = CapacityMappingRule::Fallback::kDefault;
  rule.source = source;
  rule.target = path;
  rule.match = type == "u"   ? source == "%user" ? CapacityMappingRule::Match::kAll : CapacityMappingRule::Match::kUser
               : type == "g" ? CapacityMappingRule::Match::kGroup
                             : CapacityMappingRule::Match::kApplication;
  return rule;
}

CapacityProblem Illegal(const std::string& message) { return {CapacityFault::kArgument, message}; }

bool Has(const json& node, const char* key) {
  const auto member = node.find(key);
  return member != node.end() && !member->is_null();
}
/// As Jackson reads a text member: of another simple value what was written.
std::string Text(const json& node, const char* key) {
  if (!Has(node, key)) return "";
  return node[key].is_string() ? node[key].get<std::string>() : node[key].dump();
}

/// MappingRuleCreator.createMatcher.
CapacityProblem ReadMatch(const json& node, CapacityMappingRule& rule) {
  const std::string type = Text(node, "type");
  rule.source = Text(node, "matches");
  if (type.empty()) return Illegal("Rule type is undefined");
  if (rule.source.empty()) return Illegal("Match string is undefined");
  if (type == "user") {
    rule.match = rule.source == "*" ? CapacityMappingRule::Match::kAll : CapacityMappingRule::Match::kUser;
  } else if (type == "group") {
    if (rule.source == "*") return Illegal("Cannot match '*' for groups");
    rule.match = CapacityMappingRule::Match::kGroup;
  } else if (type == "application") {
    rule.match = CapacityMappingRule::Match::kApplication;
  } else {
    return Illegal("Unknown type: " + type);
  }
  return {};
}

/// MappingRuleCreator.createAction.
CapacityProblem ReadAction(const json& node, CapacityMappingRule& rule) {
  const std::string policy = Text(node, "policy");
  if (policy.empty()) return Illegal("Rule policy is undefined");
  const std::string below = Has(node, "parentQueue") ? Text(node, "parentQueue") + "." : "";
  rule.create = Text(node, "create") != "false";
  if (policy == "defaultQueue") {
    rule.target = "%default";
    rule.create = false;
  } else if (policy == "reject") {
    rule.action = CapacityMappingRule::Action::kReject;
  } else if (policy == "primaryGroup") {
    rule.target = below + "%primary_group";
  } else if (policy == "secondaryGroup") {
    rule.target = below + "%secondary_group";
  } else if (policy == "primaryGroupUser") {
    rule.target = below + "%primary_group.%user";
  } else if (policy == "secondaryGroupUser") {
    rule.target = below + "%secondary_group.%user";
  } else if (policy == "specified") {
    rule.target = "%specified";
  } else if (policy == "user") {
    rule.target = below + "%user";
  } else if (policy == "applicationName") {
    rule.target = below + "%application";
  } else if (policy == "custom") {
    if (!Has(node, "customPlacement")) return Illegal("custom queue is undefined");
    rule.target = Text(node, "customPlacement");
  } else if (policy == "setDefaultQueue") {
    if (!Has(node, "value")) return Illegal("default queue is undefined");
    rule.action = CapacityMappingRule::Action::kSetDefault;
    rule.target = Text(node, "value");
  } else {
    return Illegal("Unsupported policy: " + policy);
  }
  return {};
}

CapacityProblem ReadFallback(const json& node, CapacityMappingRule& rule) {
  const std::string fallback = Text(node, "fallbackResult");
  if (fallback == "reject") {
    rule.fallback = CapacityMappingRule::Fallback::kReject;
  } else if (fallback == "placeDefault") {
    rule.fallback = CapacityMappingRule::Fallback::kDefault;
  } else if (!fallback.empty() && fallback != "skip") {
    return Illegal("Unsupported fallback rule " + fallback);
  }
  return {};
}

}  // namespace

CapacityProblem ReadLegacyMapping(const std::string& by_user_and_group, const std::string& by_application,
                                  std::vector<CapacityMappingRule>& rules) {
  std::vector<CapacityMappingRule> read;
  for (const std::string& line : Parts(by_user_and_group, ',', true)) {
    const std::vector<std::string> parts = Parts(line, ':', false);
    if (parts.size() != 3) return Illegal("Illegal queue mapping " + line);
    if (parts[0] != "u" && parts[0] != "g") return Illegal("unknown mapping prefix " + parts[0]);
    read.push_back(Legacy(parts[0], parts[1], parts[2]));
  }
  for (const std::string& line : Parts(by_application, ',', true)) {
    const std::vector<std::string> parts = Parts(line, ':', false);
    if (parts.size() != 2) return Illegal("Illegal queue mapping " + line);
    read.push_back(Legacy("a", parts[0], parts[1]));
  }
  rules = std::move(read);
  return {};
}

CapacityProblem ReadJsonMapping(const std::string& text, std::vector<CapacityMappingRule>& rules) {
  const base::Result<json> file = wire::json::Parse(text, wire::json::kFile);
  if (!file) return {CapacityFault::kIo, "mapping-rule-json: " + file.error().message};
  const auto list = file->find("rules");
  if (list == file->end()) return {};
  std::vector<CapacityMappingRule> read;
  for (const json& node : *list) {
    if (!node.is_object()) return {CapacityFault::kIo, "mapping-rule-json: rules is not a list of objects"};
    CapacityMappingRule rule;
    if (CapacityProblem problem = ReadMatch(node, rule)) return problem;
    if (CapacityProblem problem = ReadAction(node, rule)) return problem;
    if (CapacityProblem problem = ReadFallback(node, rule)) return problem;
    read.push_back(std::move(rule));
  }
  rules = std::move(read);
  return {};
}

}  // namespace fairlead::config
