#include "scheduler/yarn_fair/placement.h"

#include <algorithm>

#include "scheduler/yarn_fair/queues.h"

// Which queue an application goes to (org.apache.hadoop.yarn.server.resourcemanager.placement: the FS rules) and who
// may use it (ConfiguredYarnAuthorizer).

namespace fairlead::scheduler::yarn_fair {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r\x1c\x1d\x1e\x1f";

/// FairQueuePlacementUtils.cleanName: trimmed, dots written out.
std::string CleanName(std::string_view name) {
  const size_t begin = name.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return "";
  name = name.substr(begin, name.find_last_not_of(kSpaces) - begin + 1);
  std::string clean;
  for (const char c : name) {
    if (c == '.') {
      clean += "_dot_";
    } else {
      clean += c;
    }
  }
  return clean;
}

std::string AssureRoot(const std::string& name) {
  return name.empty() || name == "root" || name.starts_with("root.") ? name : "root." + name;
}

bool ValidQueueName(const std::string& name) {
  if (name.empty()) return true;  // as Hadoop has it; the queue itself is refused later
  if (kSpaces.find(name.front()) != kSpaces.npos || kSpaces.find(name.back()) != kSpaces.npos) return false;
  return name.front() != '.' && name.back() != '.';
}

bool Admits(const model::AccessList& list, const std::string& user, const std::vector<std::string>& groups) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  if (list.everybody || has(list.users, user)) return true;
  return std::any_of(groups.begin(), groups.end(), [&](const std::string& g) { return has(list.groups, g); });
}

}  // namespace

static Placed PlaceBy(const Books& books, const model::PlacementRule& rule, const std::string& queue,
                      const std::string& user, const std::vector<std::string>& groups);
static Placed PlaceUnderParent(const Books& books, const model::PlacementRule& rule, const std::string& name,
                               const std::string& queue, const std::string& user,
                               const std::vector<std::string>& groups);
static Placed PlaceBySecondaryGroup(const Books& books, const model::PlacementRule& rule, const std::string& queue,
                                    const std::string& user, const std::vector<std::string>& groups);
static Placed IfUsable(const Books& books, const model::PlacementRule& rule, std::string queue);
static bool IsConfigured(const Books& books, const std::string& queue);

Placed Place(const Books& books, const std::string& queue, const std::string& user,
             const std::vector<std::string>& groups) {
  for (const model::PlacementRule& rule : books.settings.rules) {
    Placed placed = PlaceBy(books, rule, queue, user, groups);
    if (placed.queue || placed.refused) return placed;
  }
  return {};
}

bool IsConfigured(const Books& books, const std::string& queue) {
  const QueueId id = FindQueue(books, queue);
  return id.valid() && !books.queues[id].dynamic;
}

Placed IfUsable(const Books& books, const model::PlacementRule& rule, std::string queue) {
  if (!rule.create && !IsConfigured(books, queue)) return {};
  return {std::move(queue), {}};
}

Placed PlaceBy(const Books& books, const model::PlacementRule& rule, const std::string& queue, const std::string& user,
               const std::vector<std::string>& groups) {
  if (rule.name == "specified") {
    if (!ValidQueueName(queue)) {
      return {std::nullopt, {model::Refusal::kBadPlacement, {user, queue}, {}, {}}};
    }
    if (queue == "default") return {};
    return IfUsable(books, rule, AssureRoot(queue));
  }
  if (rule.name == "default") {
    const std::string named = ValidQueueName(rule.queue) ? rule.queue : "";
    return IfUsable(books, rule, AssureRoot(named.empty() ? "default" : named));
  }
  if (rule.name == "user" || rule.name == "nestedUserQueue") {
    return PlaceUnderParent(books, rule, CleanName(user), queue, user, groups);
  }
  if (rule.name == "reject") return {};
  if (groups.empty()) return {std::nullopt, {model::Refusal::kNoGroups, {user}, {}, {}}};
  if (rule.name == "primaryGroup") return PlaceUnderParent(books, rule, CleanName(groups.front()), queue, user, groups);
  return PlaceBySecondaryGroup(books, rule, queue, user, groups);
}

/// The queue `name` at the root, or below what the parent rule gives (not below a leaf).
Placed PlaceUnderParent(const Books& books, const model::PlacementRule& rule, const std::string& name,
                        const std::string& queue, const std::string& user, const std::vector<std::string>& groups) {
  if (rule.parent.empty()) return IfUsable(books, rule, AssureRoot(name));
  Placed parent = PlaceBy(books, rule.parent.front(), queue, user, groups);
  if (!parent.queue) return parent;
  const QueueId id = FindQueue(books, *parent.queue);
  if (id.valid() && books.queues[id].leaf) return {};
  return IfUsable(books, rule, *parent.queue + "." + name);
}

Placed PlaceBySecondaryGroup(const Books& books, const model::PlacementRule& rule, const std::string& queue,
                             const std::string& user, const std::vector<std::string>& groups) {
  std::string above = "root";
  if (!rule.parent.empty()) {
    Placed parent = PlaceBy(books, rule.parent.front(), queue, user, groups);
    if (!parent.queue) return parent;
    const QueueId id = FindQueue(books, *parent.queue);
    if (id.valid() && books.queues[id].leaf) return {};
    above = *parent.queue;
  }
  for (const std::string& group : groups) {
    const std::string clean = CleanName(group);
    const std::string name = rule.parent.empty() ? AssureRoot(clean) : above + "." + clean;
    if (IsConfigured(books, name)) return {name, {}};
  }
  return {};
}

bool MaySubmit(const Books& books, const std::string& queue, const std::string& user,
               const std::vector<std::string>& groups) {
  for (std::string at = queue;;) {
    const auto it = books.tree.acls.find(at);
    if (it != books.tree.acls.end()) {
      if (Admits(it->second.submit, user, groups) || Admits(it->second.administer, user, groups)) return true;
    }
    const size_t dot = at.rfind('.');
    if (dot == std::string::npos) return false;
    at.resize(dot);
  }
}

}  // namespace fairlead::scheduler::yarn_fair
