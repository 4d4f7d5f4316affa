#include "config/capacity_priorities.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/allocation_file.h"
#include "config/java_numbers.h"

namespace fairlead::config {
namespace {

using model::CapacityFault;
using model::CapacityPriorityAccess;
using model::CapacityPriorityGroup;
using model::CapacityProblem;

/// String.split("="): empty parts at the end are none.
std::vector<std::string_view> Sides(std::string_view pair) {
  std::vector<std::string_view> sides = base::Split(pair, '=');
  while (!sides.empty() && sides.back().empty()) sides.pop_back();
  return sides;
}

/// createACLStringForPriority: the first list is that of users, whichever key it was written with.
std::string ListText(const std::vector<std::string>& lists) {
  if (lists[0] == "*" || lists.size() == 1) return lists[0];
  return lists[0] + " " + lists[1];
}

/// What stands between one pair of brackets.
class GroupReader {
 public:
  GroupReader(const std::string& key, std::string_view text) : key_(key), text_(text) {}

  CapacityProblem Read(CapacityPriorityGroup& group) {
    for (const std::string_view pair : base::Split(text_, ' ')) {
      const std::vector<std::string_view> sides = Sides(pair);
      if (sides.size() < 2) continue;
      if (CapacityProblem problem = Take(base::Uppered(base::Trimmed(sides[0])), sides[1], group)) return problem;
    }
    if (!has_most_) return Problem(CapacityFault::kRuntime, "has no max_priority");
    if (lists_.empty()) return Problem(CapacityFault::kRuntime, "names no user and no group");
    group.who = ParseAccessList(ListText(lists_));
    return {};
  }

 private:
  CapacityProblem Problem(CapacityFault fault, const std::string& what) const {
    return {fault, key_ + ": [" + std::string(text_) + "] " + what +
                       "; write [user=u,... group=g,... max_priority=N default_priority=N]"};
  }

  CapacityProblem Take(const std::string& name, std::string_view value, CapacityPriorityGroup& group) {
    if (name == "USER" || name == "GROUP") {
      lists_.emplace_back(base::Trimmed(value));
      return {};
    }
    if (name != "MAX_PRIORITY" && name != "DEFAULT_PRIORITY") {
      return Problem(CapacityFault::kArgument, "has '" + name + "', which is not known");
    }
    const std::optional<int32_t> number = java::ParseInteger<int32_t>(value);
    if (!number) {
      return Problem(CapacityFault::kNumber, "has the priority '" + std::string(value) + "', which is no whole number");
    }
    if (name == "MAX_PRIORITY") {
      group.most = *number;
      has_most_ = true;
    } else {
      group.otherwise = std::max(*number, 0);
    }
    return {};
  }

  const std::string& key_;
  std::string_view text_;
  bool has_most_ = false;
  std::vector<std::string> lists_;
};

}  // namespace

CapacityPriorityAccess ReadPriorityAccess(const std::string& key, const std::string& text) {
  CapacityPriorityAccess access;
  std::string_view rest = text;
  for (size_t open = rest.find('['); open != std::string_view::npos; open = rest.find('[')) {
    const size_t close = std::min(rest.find(']', open + 1), rest.size());
    const std::string_view inside = base::Trimmed(rest.substr(open + 1, close - open - 1));
    rest.remove_prefix(close);
    if (inside.empty()) continue;
    CapacityPriorityGroup group;
    if (CapacityProblem problem = GroupReader(key, inside).Read(group)) {
      access.problem = std::move(problem);
      return access;
    }
    access.groups.push_back(std::move(group));
  }
  return access;
}

CapacityProblem ReadWorkflowPriorities(const std::string& text, model::CapacityQueues& queues) {
  std::map<std::string, std::map<std::string, int32_t>> priorities;
  for (const std::string& mapping : base::SplitTrimmed(text)) {
    const std::vector<std::string> parts = base::SplitTrimmed(mapping, ':');
    if (parts.size() != 3) return {CapacityFault::kArgument, "Illegal workflow priority mapping " + mapping};
    const std::optional<int32_t> priority = java::ParseInteger<int32_t>(parts[2]);
    if (!priority) return {CapacityFault::kArgument, "Illegal workflow priority for mapping " + mapping};
    priorities[parts[1]][base::Lowered(parts[0])] = *priority;
  }
  queues.workflow_priorities = std::move(priorities);
  return {};
}

}  // namespace fairlead::config
