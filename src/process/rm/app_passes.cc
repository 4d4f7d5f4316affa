#include "process/rm/app_passes.h"

#include <ctime>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

// What passes over nodes made of one application (AppAllocation, AppAllocationInfo, AppRequestAllocationInfo).

namespace fairlead::process::rm {
namespace {

using endpoints::rest::Document;
using scheduler::Activity;
using scheduler::ActivityLevel;
using scheduler::ActivityState;

using RequestKey = std::pair<int32_t, int64_t>;  // priority, allocation request id

/// ActivityNode of an application.
struct Looked {
  std::optional<RequestKey> request;  // none: the application as a whole
  std::string node;                   // empty: no node was looked at
  std::string container;
  ActivityState state = ActivityState::kSkipped;
  std::string diagnostic;
};

/// AppAllocation.
struct Allocation {
  std::string node;
  base::Instant when;
  ActivityState state = ActivityState::kSkipped;
  std::string diagnostic;
  std::vector<Looked> looked;
};

/// What came of the application's turn (ActivitiesLogger.APP.finish...AppAllocationRecording): a reservation that is
/// held on is nothing new.
ActivityState OutcomeOf(ActivityState looked) {
  return looked == ActivityState::kAllocated || looked == ActivityState::kReserved ? looked : ActivityState::kSkipped;
}

/// An attempt's records of one application, in their order: a node's are followed by its request's, and each of those
/// by the application's (Recording).
class Turn {
 public:
  Turn(const std::string& app, Allocation& allocation) : app_(app), allocation_(allocation) {}

  /// Whether the attempt looked at the application.
  bool Read(const std::vector<Activity>& activities) {
    for (size_t i = 0; i < activities.size(); ++i) {
      const Activity& one = activities[i];
      if (one.level == ActivityLevel::kNode) {
        if (i + 1 < activities.size() && OfApp(activities[i + 1])) Take(activities[++i], &one, i);
      } else if (OfApp(one)) {
        Take(one, nullptr, i);
      } else if (one.level == ActivityLevel::kApp && one.name == app_) {
        TakeWhole(one);
      }
    }
    return seen_;
  }

 private:
  bool OfApp(const Activity& one) const { return one.level == ActivityLevel::kRequest && one.parent == app_; }

  void Take(const Activity& request, const Activity* node, size_t& at) {
    seen_ = true;
    ++at;  // the application's own record says nothing more
    const Activity& said = node == nullptr ? request : *node;
    allocation_.looked.push_back({RequestKey{request.priority, request.request_id},
                                  node == nullptr ? "" : allocation_.node, said.name, said.state, said.diagnostic});
    if (node == nullptr) allocation_.looked.back().container.clear();
    allocation_.state = OutcomeOf(said.state);
  }

  /// A leaf's limit rejects the application before its asks are looked at; else it has none.
  void TakeWhole(const Activity& one) {
    seen_ = true;
    if (one.state == ActivityState::kRejected) {
      allocation_.state = one.state;
      allocation_.diagnostic = one.diagnostic;
    } else {
      allocation_.looked.push_back({std::nullopt, "", "", one.state, one.diagnostic});
    }
  }

  const std::string& app_;
  Allocation& allocation_;
  bool seen_ = false;
};

/// In the order of time.
std::vector<Allocation> AllocationsOf(const std::vector<const scheduler::NodePass*>& passes, const AppOfPasses& app) {
  std::vector<Allocation> allocations;
  for (const scheduler::NodePass* pass : passes) {
    for (const scheduler::PassAttempt& attempt : pass->attempts) {
      Allocation allocation;
      allocation.node = app.node_name(pass->node);
      allocation.when = pass->when;
      if (Turn(app.id, allocation).Read(attempt.activities)) allocations.push_back(std::move(allocation));
    }
  }
  return allocations;
}

/// AppAllocation.filterAllocationAttempts.
void Filter(const AppPassesAsked& asked, std::vector<Allocation>& allocations) {
  if (asked.priorities.empty() && asked.request_ids.empty()) return;
  for (Allocation& allocation : allocations) {
    std::erase_if(allocation.looked, [&](const Looked& one) {
      if (!one.request) return true;
      return (!asked.priorities.empty() && !asked.priorities.contains(one.request->first)) ||
             (!asked.request_ids.empty() && !asked.request_ids.contains(one.request->second));
    });
  }
  std::erase_if(allocations, [](const Allocation& allocation) { return allocation.looked.empty(); });
}

/// ActivitiesManager.getSummarizedAppAllocation.
void Summarize(base::Duration time, std::vector<Allocation>& allocations) {
  if (allocations.empty()) return;
  std::map<std::tuple<std::optional<RequestKey>, std::string>, Looked> latest;
  const base::Instant begin = allocations.back().when - time;
  for (auto it = allocations.rbegin(); it != allocations.rend() && it->when >= begin; ++it) {
    for (Looked& one : it->looked) latest.try_emplace({one.request, one.node}, one);
  }
  Allocation summary = std::move(allocations.back());
  summary.node.clear();
  summary.looked.clear();
  for (auto& [key, one] : latest) summary.looked.push_back(std::move(one));
  allocations.clear();
  allocations.push_back(std::move(summary));
}

/// ActivitiesUtils.getRequestActivityNodeInfos.
Document NodesDocument(const std::vector<const Looked*>& looked, bool grouped) {
  Document::List list;
  std::map<std::pair<ActivityState, std::string_view>, Document::List> groups;
  for (const Looked* one : looked) {
    if (one->node.empty()) continue;
    if (grouped) {
      groups[{one->state, one->diagnostic}].emplace_back(one->node);
      continue;
    }
    list.push_back(Document::Object()
                       .Add("name", one->container.empty() ? "Container-Id-Not-Assigned" : one->container)
                       .Add("allocationState", EnumName(one->state))
                       .Add("diagnostic", one->diagnostic)
                       .Add("nodeId", one->node));
  }
  for (auto& [group, nodes] : groups) {
    Document one = Document::Object().Add("allocationState", EnumName(group.first));
    if (!group.second.empty()) one.Add("diagnostic", group.second);
    const uint64_t count = nodes.size();
    list.push_back(std::move(one.Add("count", count).Add("nodeIds", Document(std::move(nodes)))));
  }
  return Document(std::move(list));
}

/// AppRequestAllocationInfo.
Document RequestDocument(const std::optional<RequestKey>& request, const std::vector<const Looked*>& looked,
                         bool grouped) {
  const Looked& last = *looked.back();
  Document document = Document::Object();
  if (request) document.Add("requestPriority", request->first).Add("allocationRequestId", request->second);
  document.Add("allocationState", EnumName(last.state));
  if (request && last.node.empty()) document.Add("diagnostic", last.diagnostic);
  return std::move(document.Add("children", NodesDocument(looked, grouped)));
}

Document AllocationDocument(const Allocation& allocation, const AppOfPasses& app, bool grouped) {
  std::map<std::optional<RequestKey>, std::vector<const Looked*>> requests;
  for (const Looked& one : allocation.looked) requests[one.request].push_back(&one);
  Document::List children;
  for (const auto& [request, looked] : requests) children.push_back(RequestDocument(request, looked, grouped));
  const base::WallTime when = app.wall(allocation.when);
  Document document = Document::Object();
  if (!allocation.node.empty()) document.Add("nodeId", allocation.node);
  document.Add("timestamp", when.ms)
      .Add("dateTime", DateText(when))
      .Add("queueName", app.queue)
      .Add("appPriority", app.priority)
      .Add("allocationState", EnumName(allocation.state))
      .Add("diagnostic", allocation.diagnostic)
      .Add("children", Document(std::move(children)));
  return document;
}

}  // namespace

Document::List AppAllocations(const std::vector<const scheduler::NodePass*>& passes, const AppOfPasses& app,
                              const AppPassesAsked& asked) {
  std::vector<Allocation> allocations = AllocationsOf(passes, app);
  Filter(asked, allocations);
  if (asked.summarize) Summarize(asked.time, allocations);
  Document::List list;
  for (auto it = allocations.rbegin(); it != allocations.rend(); ++it) {
    list.push_back(AllocationDocument(*it, app, asked.grouped));
  }
  return list;
}

std::string DateText(base::WallTime time) {
  const std::time_t seconds = time.ms / 1000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Z %Y", &parts));
}

}  // namespace fairlead::process::rm
