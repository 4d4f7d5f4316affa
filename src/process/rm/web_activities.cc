#include "process/rm/web_activities.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "config/java_numbers.h"
#include "process/rm/access.h"
#include "process/rm/app_passes.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"
#include "scheduler/pass_records.h"

// /ws/v1/cluster/scheduler/activities, /scheduler/bulk-activities and /scheduler/app-activities/APPLICATION
// (dao/ActivitiesInfo, BulkActivitiesInfo, AppActivitiesInfo, AppAllocationInfo, AppRequestAllocationInfo). The next
// pass over a node is written down for who asks, and shown to who asks again, as Hadoop does; who asks for many waits
// for them. Why an application waits is worked out when somebody asks, so the first answer has it; what passes over
// nodes made of it follows once they were written down.

namespace fairlead::process::rm {

using endpoints::rest::Document;
using model::scheduler::Pending;
using model::scheduler::PendingReason;

namespace {

/// ActivityDiagnosticConstant's sentence; empty where Hadoop has none.
std::string_view HadoopsWords(PendingReason reason) {
  switch (reason) {
    case PendingReason::kLabel:
      return "Node does not match partition or placement constraints";
    case PendingReason::kQueueMaximum:
      return "Queue hits max-capacity limit";
    case PendingReason::kUserLimit:
      return "Queue hits user max-capacity limit";
    case PendingReason::kNodesExcluded:
      return "Node is blacklisted";
    case PendingReason::kWaitingForLocality:
      return "Node skipped because of off-switch delay";
    case PendingReason::kStrictLocality:
      return "Node skipped because relax locality is not allowed";
    case PendingReason::kClusterFull:
    case PendingReason::kLargerThanAnyNode:
      return "Node does not have sufficient resource for request";
    case PendingReason::kReserved:
      return "Application couldn't get container for allocation";
    case PendingReason::kFairShare:
      return "Queue skipped to respect FIFO of applications";
    default:
      return "";
  }
}

std::string WordsOf(const Pending& pending) {
  std::string words(HadoopsWords(pending.reason));
  if (!words.empty() && !pending.detail.empty()) words += "; ";
  words += pending.detail;
  return pending.remedy.empty() ? words : words + "; " + pending.remedy;
}

Document RequestDocument(const Pending& pending) {
  return Document::Object()
      .Add("requestPriority", pending.ask.priority)
      .Add("allocationRequestId", pending.ask.allocation_request_id)
      .Add("allocationState", "SKIPPED")
      .Add("diagnostic", WordsOf(pending));
}

Document AllocationDocument(const App& app, const std::vector<Pending>& why, base::WallTime now) {
  Document::List requests;
  for (const Pending& pending : why) requests.push_back(RequestDocument(pending));
  Document allocation = Document::Object()
                            .Add("timestamp", now.ms)
                            .Add("dateTime", DateText(now))
                            .Add("queueName", app.submission.queue)
                            .Add("appPriority", app.submission.priority)
                            .Add("allocationState", "SKIPPED");
  if (why.empty()) allocation.Add("diagnostic", "Application does not need more resource");
  return std::move(allocation.Add("children", Document(std::move(requests))));
}

constexpr char kNotCapacity[] = "Not Capacity Scheduler";
constexpr char kNoNodes[] = "No node manager running in the cluster";
constexpr size_t kFewPasses = 10;  // RMWebServices.DEFAULT_ACTIVITIES_COUNT
constexpr base::Duration kLookForPasses = base::Duration::Millis(20);

/// ActivityNodeInfo, with those below it.
struct ActivityNode {
  const scheduler::Activity* activity = nullptr;
  std::vector<ActivityNode> children;
};

/// NodeAllocation.transformToTree: of several records of one name the last counts; what is below another comes just
/// before it, the last of them first. Empty: nothing was recorded.
std::vector<ActivityNode> TreeOf(const std::vector<scheduler::Activity>& activities) {
  std::set<std::string_view> names;
  std::vector<const scheduler::Activity*> kept;
  for (auto it = activities.rbegin(); it != activities.rend(); ++it) {
    if (it->level == scheduler::ActivityLevel::kNode || names.insert(it->name).second) kept.push_back(&*it);
  }
  std::vector<ActivityNode> tree;
  for (auto it = kept.rbegin(); it != kept.rend(); ++it) {
    ActivityNode node{*it, {}};
    while (!tree.empty() && tree.back().activity->parent == (*it)->name) {
      node.children.push_back(std::move(tree.back()));
      tree.pop_back();
    }
    tree.push_back(std::move(node));
  }
  return tree;
}

Document NodeDocument(const ActivityNode& node, const std::string& host, bool grouped);

/// ActivitiesUtils.getRequestActivityNodeInfos: what nodes gave, one by one or by state and reason.
Document OfNodes(const std::vector<ActivityNode>& nodes, const std::string& host, bool grouped) {
  Document::List list;
  std::map<std::pair<std::string_view, std::string>, int64_t> counts;
  for (const ActivityNode& node : nodes) {
    if (!grouped) list.push_back(NodeDocument(node, host, false));
    ++counts[{EnumName(node.activity->state), node.activity->diagnostic}];
  }
  for (const auto& [group, count] : counts) {
    if (!grouped) break;
    Document one = Document::Object().Add("allocationState", group.first);
    if (!group.second.empty()) one.Add("diagnostic", group.second);
    list.push_back(std::move(one.Add("count", count).Add("nodeIds", Document(Document::List{Document(host)}))));
  }
  return Document(std::move(list));
}

Document NodeDocument(const ActivityNode& node, const std::string& host, bool grouped) {
  using scheduler::ActivityLevel;
  const scheduler::Activity& activity = *node.activity;
  Document document = Document::Object();
  if (!activity.name.empty()) document.Add("name", activity.name);
  if (activity.level == ActivityLevel::kApp) document.Add("appPriority", activity.priority);
  if (activity.level == ActivityLevel::kRequest) {
    document.Add("requestPriority", activity.priority).Add("allocationRequestId", activity.request_id);
  }
  document.Add("allocationState", EnumName(activity.state));
  if (!activity.diagnostic.empty()) document.Add("diagnostic", activity.diagnostic);
  if (activity.level == ActivityLevel::kNode) document.Add("nodeId", host);
  if (node.children.empty()) return document;
  if (activity.level == ActivityLevel::kRequest) {
    return std::move(document.Add("children", OfNodes(node.children, host, grouped)));
  }
  Document::List children;
  for (const ActivityNode& child : node.children) children.push_back(NodeDocument(child, host, grouped));
  return std::move(document.Add("children", Document(std::move(children))));
}

/// NodeAllocationInfo.
Document AttemptDocument(const scheduler::PassAttempt& attempt, const std::string& partition, const std::string& host,
                         bool grouped) {
  Document document =
      Document::Object().Add("partition", partition).Add("finalAllocationState", EnumName(attempt.outcome));
  const std::vector<ActivityNode> tree = TreeOf(attempt.activities);
  if (!tree.empty()) document.Add("root", NodeDocument(tree.front(), host, grouped));
  return document;
}

/// ActivitiesInfo of a pass that gave something to write.
Document PassDocument(const ResourceManager& manager, const scheduler::NodePass& pass, bool grouped) {
  const Node* node = manager.core().NodeAt(pass.node);
  const std::string host = node == nullptr ? "" : ToString(node->address);
  const base::WallTime when{manager.now_wall().ms - (manager.now() - pass.when).millis()};
  Document::List allocations;
  for (const scheduler::PassAttempt& attempt : pass.attempts) {
    allocations.push_back(AttemptDocument(attempt, pass.partition, host, grouped));
  }
  return Document::Object()
      .Add("nodeId", host)
      .Add("timestamp", when.ms)
      .Add("dateTime", DateText(when))
      .Add("allocations", Document(std::move(allocations)));
}

/// RMWSConsts.ActivitiesGroupBy, RMWebServices.parseActivitiesGroupBy.
base::Result<bool> IsGrouped(const http::Request& request) {
  const auto group = request.query.find("groupBy");
  if (group == request.query.end()) return false;
  if (base::Lowered(group->second) == "diagnostic") return true;
  return base::Error{"Got invalid groupBy: " + group->second + ", valid groupBy types: [DIAGNOSTIC]"};
}

/// The node of "host:port", or of "host"; null: there is none. O(nodes).
const Node* FindActive(const Core& core, const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  const int port = colon == std::string::npos ? -1 : std::atoi(text.c_str() + colon + 1);
  const Node* found = nullptr;
  core.ForEachNode([&](const Node& node) {
    const bool named = node.address.host == host && (colon == std::string::npos || node.address.port == port);
    if (found == nullptr && named && node.in_scheduler) found = &node;
  });
  return found;
}

bool HasNodes(const Core& core) {
  bool some = false;
  core.ForEachNode([&](const Node& node) { some |= node.in_scheduler; });
  return some;
}

}  // namespace

http::Response SchedulerActivities(const http::Request& request, const ResourceManager& manager) {
  const auto asked = request.query.find("nodeId");
  std::string named = asked == request.query.end() ? "" : asked->second;
  const auto say = [&](const std::string& why) {
    Document document = Document::Object();
    if (!named.empty()) document.Add("nodeId", named);
    return http::Rendered(request, document.Add("diagnostic", why), "activities");
  };
  scheduler::PassRecords* passes = manager.scheduler().passes();
  if (passes == nullptr) return say(kNotCapacity);
  const base::Result<bool> grouped = IsGrouped(request);
  if (!grouped.ok()) return say(grouped.error().message);
  if (!HasNodes(manager.core())) return say(kNoNodes);
  const Node* node = named.empty() ? nullptr : FindActive(manager.core(), named);
  if (!named.empty() && node == nullptr) return say("Cannot find node manager with given node id");
  if (node != nullptr) named = ToString(node->address);
  node == nullptr ? passes->WatchAny() : passes->Watch(node->index);
  const scheduler::NodePass* pass = node == nullptr ? passes->FindAny() : passes->Find(node->index, manager.now());
  if (pass == nullptr) return say(node == nullptr ? "waiting for next allocation" : "waiting for display");
  if (pass->attempts.empty()) return say("do not have available resources");
  return http::Rendered(request, PassDocument(manager, *pass, *grouped), "activities");
}

struct PassesAsked {
  http::Request request;
  size_t count = 0;
  bool grouped = false;
  uint64_t after = 0;  // the number of the last pass before
  base::Instant until;
};

base::Result<std::shared_ptr<const PassesAsked>> AskForPasses(const http::Request& request,
                                                              const ResourceManager& manager) {
  scheduler::PassRecords* passes = manager.scheduler().passes();
  if (passes == nullptr) return base::Error{kNotCapacity};
  const auto given = request.query.find("activitiesCount");
  const auto count = config::java::ParseInteger<int32_t>(given == request.query.end() ? "0" : given->second);
  if (!count) return base::Error{"activitiesCount is '" + given->second + "'; write a whole number"};
  const base::Result<bool> grouped = IsGrouped(request);
  if (!grouped.ok()) return grouped.error();
  if (!HasNodes(manager.core())) return base::Error{kNoNodes};
  auto asked = std::make_shared<PassesAsked>();
  asked->request = request;
  asked->count = *count > 0 ? std::min(static_cast<size_t>(*count), scheduler::PassRecords::kMostKept) : kFewPasses;
  asked->grouped = *grouped;
  asked->after = passes->written();
  asked->until = manager.now() + scheduler::PassRecords::kKeptFor;
  passes->WatchAny(asked->count);
  return std::shared_ptr<const PassesAsked>(std::move(asked));
}

void AwaitPasses(const std::shared_ptr<const PassesAsked>& asked, const ResourceManager& manager, env::Loop& loop,
                 const env::Alive& alive, const http::Server::Reply& reply) {
  const scheduler::PassRecords& passes = *manager.scheduler().passes();
  if (passes.written() - asked->after < asked->count && loop.Now() < asked->until) {
    loop.After(kLookForPasses, alive([asked, &manager, &loop, &alive, reply] {
                 if (!asked->request.asker.expired()) AwaitPasses(asked, manager, loop, alive, reply);
               }));
    return;
  }
  Document::List list;
  for (const scheduler::NodePass* pass : passes.After(asked->after)) {
    if (list.size() < asked->count) list.push_back(PassDocument(manager, *pass, asked->grouped));
  }
  reply(http::Rendered(asked->request, Document::Object().Add("activities", Document(std::move(list))),
                       "bulkActivities"));
}

namespace {

/// RMWebServices.getFlatSet: what stands between commas.
std::vector<std::string> ListOf(const http::Request& request, const char* key) {
  const auto given = request.query.find(key);
  if (given == request.query.end()) return {};
  std::vector<std::string> list;
  for (const std::string_view part : base::Split(given->second, ',')) list.emplace_back(part);
  return list;
}

/// What app-activities is asked for.
struct AppActivitiesAsked : AppPassesAsked {
  bool records = true;  // what follows is written down
  bool answers = true;  // what was written down is told
  size_t limit = SIZE_MAX;

  bool Wants(const Pending& pending) const {
    return (priorities.empty() || priorities.contains(pending.ask.priority)) &&
           (request_ids.empty() || request_ids.contains(pending.ask.allocation_request_id));
  }
};

template <class Number>
base::Result<std::set<Number>> NumbersOf(const http::Request& request, const char* key, const char* otherwise) {
  std::set<Number> numbers;
  for (const std::string& text : ListOf(request, key)) {
    const auto number = config::java::ParseInteger<Number>(text);
    if (!number) return base::Error{otherwise};
    numbers.insert(*number);
  }
  return numbers;
}

/// RMWebServices.parseAppActivitiesRequiredActions.
base::Status ReadActions(const http::Request& request, AppActivitiesAsked& asked) {
  const std::vector<std::string> actions = ListOf(request, "actions");
  asked.answers = asked.records = actions.empty();
  for (const std::string& action : actions) {
    const std::string name = base::Uppered(action);
    if (name != "REFRESH" && name != "GET")
      return base::Error{"Got invalid action: " + action + ", valid actions: [REFRESH, GET]"};
    asked.answers |= name == "GET";
    asked.records |= name == "REFRESH";
  }
  return {};
}

base::Status ReadLimit(const http::Request& request, AppActivitiesAsked& asked) {
  const auto given = request.query.find("limit");
  if (given == request.query.end()) return {};
  const auto limit = config::java::ParseInteger<int32_t>(given->second);
  if (!limit) return base::Error{"limit must be integer!"};
  if (*limit <= 0) return base::Error{"limit must be greater than 0!"};
  asked.limit = static_cast<size_t>(*limit);
  return {};
}

/// How far back a summary looks. Hadoop fails over what is no number.
base::Status ReadTime(const http::Request& request, AppActivitiesAsked& asked) {
  const auto given = request.query.find("maxTime");
  if (given == request.query.end()) return {};
  const auto seconds = config::java::ParseReal<double>(given->second);
  constexpr double kMost = 600;  // no pass is kept for longer
  if (!seconds || *seconds < 0) return base::Error{"maxTime must be a number of seconds!"};
  asked.time = base::Duration::Millis(static_cast<int64_t>(std::min(*seconds, kMost) * 1000));
  return {};
}

/// RMWebServices.getAppActivities, check by check in its order; an Error has its words.
base::Result<AppActivitiesAsked> ReadAppActivities(const http::Request& request) {
  AppActivitiesAsked asked;
  const base::Result<bool> grouped = IsGrouped(request);
  if (!grouped.ok()) return grouped.error();
  asked.grouped = *grouped;
  if (const base::Status actions = ReadActions(request, asked); !actions.ok()) return actions.error();
  auto priorities = NumbersOf<int32_t>(request, "requestPriorities", "request priorities must be integers!");
  if (!priorities.ok()) return priorities.error();
  auto ids = NumbersOf<int64_t>(request, "allocationRequestIds", "allocation request Ids must be integers!");
  if (!ids.ok()) return ids.error();
  if (const base::Status limit = ReadLimit(request, asked); !limit.ok()) return limit.error();
  if (const base::Status time = ReadTime(request, asked); !time.ok()) return time.error();
  asked.priorities = std::move(*priorities);
  asked.request_ids = std::move(*ids);
  const auto summarize = request.query.find("summarize");
  asked.summarize = summarize != request.query.end() && base::Lowered(summarize->second) == "true";
  return asked;
}

/// What passes made of the application that were written down and are not too old.
Document::List PassesOf(const App& app, const AppActivitiesAsked& asked, const ResourceManager& manager) {
  const scheduler::PassRecords* passes = manager.scheduler().passes();
  if (passes == nullptr) return {};
  std::vector<const scheduler::NodePass*> kept = passes->After(0);
  std::erase_if(kept, [&](const scheduler::NodePass* pass) {
    return manager.now() - pass->when > scheduler::PassRecords::kKeptFor;
  });
  const AppOfPasses of = {
      ToString(app.submission.id), app.submission.queue, app.submission.priority,
      [&](model::NodeIndex index) {
        const Node* node = manager.core().NodeAt(index);
        return node == nullptr ? std::string() : ToString(node->address);
      },
      [&](base::Instant when) { return base::WallTime{manager.now_wall().ms - (manager.now() - when).millis()}; }};
  return AppAllocations(kept, of, asked);
}

/// As many passes as there are nodes are written down: the next one of each.
void WatchAllNodes(const ResourceManager& manager) {
  size_t nodes = 0;
  manager.core().ForEachNode([&](const Node& node) { nodes += node.in_scheduler ? 1 : 0; });
  if (scheduler::PassRecords* passes = manager.scheduler().passes(); passes != nullptr) passes->WatchAny(nodes);
}

/// Why it waits now, and the passes before, the latest first.
Document::List AllocationsOf(const App& app, const AppActivitiesAsked& asked, const ResourceManager& manager) {
  std::vector<Pending> why = manager.scheduler().Why(app.index, manager.now());
  const bool waits = !why.empty();
  std::erase_if(why, [&](const Pending& pending) { return !asked.Wants(pending); });
  Document::List allocations;
  // Where it waits for other asks alone, nothing is told of now.
  if (!waits || !why.empty()) allocations.push_back(AllocationDocument(app, why, manager.now_wall()));
  for (Document& pass : PassesOf(app, asked, manager)) allocations.push_back(std::move(pass));
  if (allocations.size() > asked.limit) allocations.resize(asked.limit);
  return allocations;
}

}  // namespace

http::Response AppActivities(const http::Request& request, const std::string& text, const ResourceManager& manager) {
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(text);
  const App* app = id.ok() ? manager.core().FindApp(*id) : nullptr;
  const base::WallTime now = manager.now_wall();
  Document document = Document::Object().Add("applicationId", text);
  const auto say = [&](const std::string& why) {
    document.Add("diagnostic", why).Add("timestamp", now.ms).Add("dateTime", DateText(now));
    return http::Rendered(request, document, "appActivities");
  };
  if (manager.options().hadoop_scheduler != "CapacityScheduler") return say(kNotCapacity);
  const base::Result<AppActivitiesAsked> asked = ReadAppActivities(request);
  if (!asked.ok()) return say(asked.error().message);
  if (!id.ok()) return say("Cannot find application with given appId");
  const bool shown =
      app != nullptr && !Core::IsCompleted(*app) && manager.access().Of(http::CallerOf(request)).May(*app, false);
  if (shown && asked->records) WatchAllNodes(manager);
  if (!asked->answers) {
    return say("Successfully received action: " + request.query.find("actions")->second);
  }
  if (!shown) return say("fail to get application activities after finished");
  return http::Rendered(request, document.Add("allocations", Document(AllocationsOf(*app, *asked, manager))),
                        "appActivities");
}

}  // namespace fairlead::process::rm
