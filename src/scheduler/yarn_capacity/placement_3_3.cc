#include "scheduler/yarn_capacity/placement_3_3.h"

#include <algorithm>
#include <optional>

namespace fairlead::scheduler::yarn_capacity {

using Rule = model::CapacityMappingRule;

namespace {

/// The last part of a path, and what is before it.
struct Ends {
  explicit Ends(const std::string& path) {
    const size_t dot = path.rfind('.');
    leaf = dot == std::string::npos ? path : path.substr(dot + 1);
    parent = dot == std::string::npos ? "" : path.substr(0, dot);
  }
  std::string parent;
  std::string leaf;
};

bool IsVariable(const std::string& leaf) {
  return leaf.find("%user") != std::string::npos || leaf.find("%primary_group") != std::string::npos ||
         leaf.find("%secondary_group") != std::string::npos;
}

bool IsGroup(const std::string& name) { return name == "%primary_group" || name == "%secondary_group"; }

/// What one mapping says: a queue, nothing, or an error.
struct Answer {
  bool failed = false;
  std::optional<std::string> path;
};

/// One submission.
class FirstMapping {
 public:
  FirstMapping(const Books& books, const model::scheduler::AppAdded& event) : books_(books), event_(event) {}

  Answer OfApplication() const {
    for (const Rule& rule : books_.file.mapping) {
      if (rule.match != Rule::Match::kApplication) continue;
      if (rule.source != "%application" && rule.source != event_.name) continue;
      const Ends to(rule.target);
      if (to.parent.empty() && names().Ambiguous(to.leaf)) return {true, std::nullopt};
      return {false, rule.target};
    }
    return {};
  }

  Answer OfUser() const {
    for (const Rule& rule : books_.file.mapping) {
      if (rule.match == Rule::Match::kAll || (rule.match == Rule::Match::kUser && rule.source == event_.user)) {
        return Resolve(rule, rule.match == Rule::Match::kAll);
      }
      if (rule.match != Rule::Match::kGroup) continue;
      if (event_.groups.empty()) return {true, std::nullopt};
      if (std::find(event_.groups.begin(), event_.groups.end(), rule.source) == event_.groups.end()) continue;
      const Ends to(rule.target);
      return To(to.parent, to.leaf == "%user" ? event_.user : to.leaf);
    }
    return {};
  }

 private:
  const QueueNames& names() const { return books_.queues.names(); }

  Answer Resolve(const Rule& rule, bool of_all) const {
    const Ends to(rule.target);
    if (of_all && to.leaf == "%user") {
      if (!IsGroup(to.parent)) return To(to.parent, event_.user);
      if (event_.groups.empty()) return {true, std::nullopt};
      return ToGroupOfUser(Group(to.parent));
    }
    if (!IsGroup(to.leaf)) return To(to.parent, to.leaf);
    if (event_.groups.empty()) return {true, std::nullopt};
    return To(to.parent, Group(to.leaf));
  }

  /// Empty: the user has no such group.
  std::string Group(const std::string& variable) const {
    if (variable == "%primary_group") return event_.groups.front();
    for (size_t i = 1; i < event_.groups.size(); ++i) {
      if (names().Find(event_.groups[i]).valid()) return event_.groups[i];
    }
    return "";
  }

  Answer ToGroupOfUser(const std::string& group) const {
    const QueueId parent = names().Find(group);
    if (!parent.valid()) return {};
    const QueueId leaf = names().FindPath(books_.queues[parent].path + "." + event_.user);
    if (!leaf.valid() || !books_.queues[leaf].leaf) return {true, std::nullopt};
    return {false, books_.queues[leaf].path};
  }

  Answer To(const std::string& parent, const std::string& leaf) const {
    if (parent.empty()) {
      if (names().Ambiguous(leaf)) return {true, std::nullopt};
      const QueueId queue = names().Find(leaf);
      if (!queue.valid() || !books_.queues[queue].parent.valid()) return {};
      return {false, books_.queues[books_.queues[queue].parent].path + "." + leaf};
    }
    const QueueId above = names().Find(parent);
    if (!above.valid()) return {};
    const std::string path = books_.queues[above].path + "." + leaf;
    return names().Find(path).valid() ? Answer{false, path} : Answer{};
  }

  const Books& books_;
  const model::scheduler::AppAdded& event_;
};

CapacityProblem InvalidTarget(const std::string& target) {
  return {CapacityFault::kIo, "mapping contains invalid or non-leaf queue " + target};
}

}  // namespace

Placement PlaceByFirstMapping(const Books& books, const model::scheduler::AppAdded& event) {
  const FirstMapping mapping(books, event);
  const auto used = [&](const Answer& answer) {
    return answer.path &&
           (event.queue == "default" || event.queue == Ends(*answer.path).leaf || books.file.mapping_override);
  };
  if (books.file.application_mapping_chosen) {
    const Answer answer = mapping.OfApplication();
    if (answer.failed) return {true, ""};
    if (used(answer)) return {false, *answer.path};
  }
  const Answer answer = mapping.OfUser();
  if (answer.failed) return {true, ""};
  return used(answer) ? Placement{false, *answer.path} : Placement{};
}

CapacityProblem CheckFirstMappings(const Books& books) {
  const QueueNames& names = books.queues.names();
  RuleFaults faults;
  for (const Rule& rule : books.file.mapping) {
    if (rule.match == Rule::Match::kApplication && !books.file.application_mapping_chosen) continue;
    const Ends to(rule.target);
    if (!IsVariable(to.leaf)) {
      const QueueId queue = names.Find(rule.target);
      if (!queue.valid() || !books.queues[queue].leaf) faults.Add(InvalidTarget(rule.target));
    } else if (!to.parent.empty() && !IsGroup(to.parent)) {
      faults.Add(InvalidTarget(rule.target));  // queues are made below managed parents alone, which are not supported
    }
  }
  return faults.all();
}

}  // namespace fairlead::scheduler::yarn_capacity
