#include "scheduler/yarn_capacity/placement.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "scheduler/yarn_capacity/managed.h"
#include "scheduler/yarn_capacity/placement_3_3.h"

namespace fairlead::scheduler::yarn_capacity {

using model::CapacityMappingRule;
using Rule = CapacityMappingRule;

namespace {

/// String.split("\\."): empty parts at the end are dropped.
std::vector<std::string> Split(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

std::string Clean(const std::string& name) {
  std::string clean;
  for (const char c : name) clean += c == '.' ? std::string("_dot_") : std::string(1, c);
  return clean;
}

/// VariableContext of one submission.
class Variables {
 public:
  Variables(const Books& books, const model::scheduler::AppAdded& event) : books_(books), user_(event.user) {
    values_["%user"] = Clean(event.user);
    values_["%specified"] = event.queue == "default" ? "" : event.queue;
    values_["%application"] = event.name;
    values_["%default"] = "root.default";
    groups_ = event.groups;
    if (groups_.empty()) return;
    values_["%primary_group"] = Clean(groups_.front());
    if (groups_.size() == 1) values_["%secondary_group"] = "";
    for (size_t i = 1; i < groups_.size(); ++i) secondary_.push_back(Clean(groups_[i]));
  }

  void SetDefault(const std::string& text) { values_["%default"] = Replace(text); }

  bool Matches(const Rule& rule) const {
    switch (rule.match) {
      case Rule::Match::kAll:
        return true;
      case Rule::Match::kUser:
        return Replace(rule.source) == user_;
      case Rule::Match::kApplication:
        return Replace(rule.source) == values_.at("%application");
      case Rule::Match::kGroup:
        return std::find(groups_.begin(), groups_.end(), Replace(rule.source)) != groups_.end();
    }
    return false;
  }

  /// VariableContext.replaceVariables: anywhere in the text, longer names first.
  std::string Replace(std::string text) const {
    std::vector<std::pair<std::string, std::string>> sorted(values_.begin(), values_.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    for (const auto& [name, value] : sorted) {
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
        text.replace(at, name.size(), value);
      }
    }
    return text;
  }

  /// VariableContext.replacePathVariables: whole parts.
  std::string ReplaceInPath(const std::string& path) const {
    std::vector<std::string> parts = Split(path);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (const auto it = values_.find(parts[i]); it != values_.end()) {
        parts[i] = it->second;
      } else if (parts[i] == "%secondary_group" && !secondary_.empty()) {
        parts[i] = SecondaryGroup(i == 0 ? "" : base::Joined(std::span(parts).first(i), ".") + ".");
      }
    }
    return base::Joined(parts, ".");
  }

 private:
  /// The first secondary group that is a queue there.
  std::string SecondaryGroup(const std::string& prefix) const {
    for (const std::string& group : secondary_) {
      if (books_.queues.Find(prefix + group).valid()) return group;
    }
    return "";
  }
  const Books& books_;
  const std::string& user_;
  std::vector<std::string> groups_;
  std::vector<std::string> secondary_;
  std::map<std::string, std::string> values_;
};

/// MappingRuleValidationHelper.normalizeQueuePathRoot; nullopt: no such queue, or several.
std::optional<std::string> NormalizeRoot(const Books& books, const std::string& path) {
  std::vector<std::string> parts = Split(path);
  const QueueId id = books.queues.Find(parts.front());
  if (!id.valid()) return std::nullopt;
  parts.front() = books.queues[id].path;
  return base::Joined(parts, ".");
}

enum class Validity : uint8_t { kExists, kCreatable, kNot };

bool MakesQueues(const Books& books, QueueId id) {
  return id.valid() && !books.queues[id].leaf && MayMakeQueues(books, books.queues[id]);
}

/// MappingRuleValidationHelper.validateQueuePathAutoCreation.
Validity Validate(const Books& books, const std::string& path) {
  const QueueNames& names = books.queues.names();
  if (path.empty()) return Validity::kNot;
  if (names.Find(path).valid()) return Validity::kExists;
  const std::vector<std::string> parts = Split(path);
  if (names.Ambiguous(path) || parts.size() < 2) return Validity::kNot;
  const std::string parent = base::Joined(std::span(parts).first(parts.size() - 1), ".");
  if (names.Ambiguous(parent)) return Validity::kNot;
  const QueueId parent_id = names.Find(parent);
  if (parent_id.valid()) return MakesQueues(books, parent_id) ? Validity::kCreatable : Validity::kNot;
  if (parts.size() < 3) return Validity::kNot;
  const std::string grand = base::Joined(std::span(parts).first(parts.size() - 2), ".");
  if (names.Ambiguous(grand)) return Validity::kNot;
  const QueueId grand_id = names.Find(grand);
  // Queues that are made in the older way are leaves.
  const bool makes = MakesQueues(books, grand_id) && !IsManaged(books, books.queues[grand_id]);
  return makes ? Validity::kCreatable : Validity::kNot;
}

bool HasEmptyPart(const std::string& path) {
  const std::vector<std::string> parts = Split(path);
  return path.empty() || path.back() == '.' ||
         std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); });
}

/// CSMappingPlacementRule.validateAndNormalizeQueue; nullopt: the placement is invalid.
std::optional<std::string> Normalize(const Books& books, const std::string& path, bool create) {
  if (HasEmptyPart(path)) return std::nullopt;
  std::string normalized;
  if (path.find('.') == std::string::npos) {
    const QueueId id = books.queues.Find(path);
    if (!id.valid()) return std::nullopt;
    normalized = books.queues[id].path;
  } else {
    const std::optional<std::string> rooted = NormalizeRoot(books, path);
    if (!rooted) return std::nullopt;
    const Validity validity = Validate(books, *rooted);
    if (validity == Validity::kNot || (validity == Validity::kCreatable && !create)) return std::nullopt;
    normalized = *rooted;
  }
  const QueueId id = books.queues.names().FindPath(normalized);
  if (id.valid() && !books.queues[id].leaf) return std::nullopt;
  return normalized;
}

CapacityProblem Wrong(const std::string& message) { return {CapacityFault::kYarn, message}; }

/// Why NormalizeRoot gives none.
CapacityProblem WrongRoot(const Books& books, const std::string& path) {
  const std::string root = Split(path).front();
  const char* why = books.queues.names().Ambiguous(root) ? "is ambiguous" : "does not exist";
  return Wrong("Path root '" + root + "' " + why + ". Path '" + path + "' is invalid");
}

/// MappingRuleValidationContextImpl.validateStaticQueuePath.
CapacityProblem CheckStatic(const Books& books, const std::string& path) {
  const std::optional<std::string> rooted = NormalizeRoot(books, path);
  if (!rooted) return WrongRoot(books, path);
  const Validity validity = Validate(books, *rooted);
  if (validity == Validity::kNot) {
    const size_t dot = path.rfind('.');
    return Wrong("Mapping rule specified a parent queue '" + (dot == std::string::npos ? "" : path.substr(0, dot)) +
                 "', but it is not a dynamic parent queue, and no queue exists with name '" +
                 path.substr(dot == std::string::npos ? 0 : dot + 1) + "' under it.");
  }
  if (validity == Validity::kExists && !books.queues[books.queues.Find(*rooted)].leaf) {
    return Wrong("Target queue '" + path + "' but it's not a leaf queue.");
  }
  return {};
}

/// MappingRuleValidationContextImpl.validateDynamicQueuePath.
CapacityProblem CheckDynamic(const Books& books, const std::string& path, const std::set<std::string>& variables) {
  const std::vector<std::string> parts = Split(path);
  if (variables.contains(parts.front())) return {};
  size_t fixed = 1;
  while (fixed < parts.size() && !variables.contains(parts[fixed])) ++fixed;
  const std::string static_part = base::Joined(std::span(parts).first(fixed), ".");
  const std::optional<std::string> rooted = NormalizeRoot(books, static_part);
  if (!rooted) return WrongRoot(books, static_part);
  if (const QueueId id = books.queues.Find(*rooted); id.valid()) {
    return books.queues[id].leaf ? Wrong("Queue path '" + path + "' is invalid because '" + *rooted +
                                         "' is a leaf queue, which can have no other queues under it.")
                                 : CapacityProblem{};
  }
  if (fixed > 1) {
    const std::optional<std::string> parent =
        NormalizeRoot(books, base::Joined(std::span(parts).first(fixed - 1), "."));
    if (parent && MakesQueues(books, books.queues.Find(*parent))) return {};
  }
  return Wrong("No eligible parent found on path '" + path + "'.");
}

}  // namespace

/// Those of the format that is chosen.
static const std::vector<Rule>& Rules(const Books& books) {
  return books.file.json_mapping_chosen ? books.file.json_mapping : books.file.mapping;
}

void RuleFaults::Add(const CapacityProblem& fault) {
  constexpr size_t kMostTold = 20;
  if (!fault || told_.size() > kMostTold || !told_.insert(fault.message).second) return;
  if (!all_) {
    all_ = fault;
  } else {
    all_.message += told_.size() > kMostTold ? "\nMore rules are wrong." : "\n" + fault.message;
  }
}

static CapacityProblem CheckTarget(const Books& books, const std::string& target) {
  static const std::set<std::string> kVariables = {"%user",        "%primary_group", "%secondary_group",
                                                   "%application", "%specified",     "%default"};
  if (target.empty()) return Wrong("Queue path is empty.");
  for (const std::string& part : Split(target)) {
    if (part.empty()) return Wrong("Path segment cannot be empty '" + target + "'.");
    if (kVariables.contains(part)) return CheckDynamic(books, target, kVariables);
  }
  return CheckStatic(books, target);
}

CapacityProblem CheckMapping(const Books& books) {
  if (books.config.quirks.first_mapping_decides) return CheckFirstMappings(books);
  RuleFaults faults;
  for (const Rule& rule : Rules(books)) {
    if (rule.action == Rule::Action::kPlace) faults.Add(CheckTarget(books, rule.target));
  }
  return faults.all();
}

Placement Place(const Books& books, const model::scheduler::AppAdded& event) {
  if (books.config.quirks.first_mapping_decides) return PlaceByFirstMapping(books, event);
  if (event.queue != "default" && !books.file.mapping_override) return {};
  Variables variables(books, event);
  const auto to_default = [&]() -> Placement {
    const std::optional<std::string> path = Normalize(books, variables.ReplaceInPath("%default"), false);
    return path ? Placement{false, *path} : Placement{true, ""};
  };
  for (const Rule& rule : Rules(books)) {
    if (!variables.Matches(rule)) continue;
    if (rule.action == Rule::Action::kReject) return {true, ""};
    if (rule.action == Rule::Action::kSetDefault) {
      variables.SetDefault(rule.target);
      continue;
    }
    if (const auto path = Normalize(books, variables.ReplaceInPath(rule.target), rule.create)) return {false, *path};
    if (rule.fallback == Rule::Fallback::kReject) return {true, ""};
    if (rule.fallback == Rule::Fallback::kDefault) return to_default();
  }
  return {};
}

}  // namespace fairlead::scheduler::yarn_capacity
