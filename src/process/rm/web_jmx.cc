#include <nlohmann/json.hpp>
#include <utility>

#include "process/http/jmx.h"
#include "process/http/json_text.h"
#include "process/rm/queue_activity.h"
#include "process/rm/queue_counters.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /jmx: the beans of Hadoop's ResourceManager that monitors read (ClusterMetrics, QueueMetrics with FSQueueMetrics or
// CSQueueMetrics, of users and of partitions as well, RMNMInfo), with the attributes that have a meaning here.

namespace fairlead::process::rm {

namespace {

using model::rm::AppState;
using model::rm::NodeState;
using nlohmann::ordered_json;

constexpr char kService[] = "Hadoop:service=ResourceManager,name=";

http::Bean MakeBean(const std::string& name) { return {kService + name, name, ordered_json::object()}; }

http::Bean ClusterBean(const ClusterSums& sums, const std::string& host) {
  http::Bean bean = MakeBean("ClusterMetrics");
  const auto nodes = [&](NodeState state) { return sums.nodes[static_cast<size_t>(state)]; };
  bean.attributes = {{"tag.ClusterMetrics", "ResourceManager"},
                     {"tag.Context", "yarn"},
                     {"tag.Hostname", host},
                     {"NumActiveNMs", nodes(NodeState::kRunning)},
                     {"NumDecommissioningNMs", nodes(NodeState::kDecommissioning)},
                     {"NumDecommissionedNMs", nodes(NodeState::kDecommissioned)},
                     {"NumLostNMs", nodes(NodeState::kLost)},
                     {"NumUnhealthyNMs", nodes(NodeState::kUnhealthy)},
                     {"NumRebootedNMs", nodes(NodeState::kRebooted)},
                     {"NumShutdownNMs", nodes(NodeState::kShutdown)},
                     {"UtilizedMB", MiB(sums.physical_bytes)},
                     {"UtilizedVirtualCores", static_cast<int64_t>(Cores(sums.milli_cores))},
                     {"CapabilityMB", sums.capacity.memory_mib()},
                     {"CapabilityVirtualCores", sums.capacity.vcores()}};
  return bean;
}

/// "MB" and "VCores" of an amount.
void Add(ordered_json& to, const std::string& name, const model::Resources& amount) {
  to[name + "MB"] = amount.memory_mib();
  to[name + "VCores"] = amount.vcores();
}

/// FSQueueMetrics.
void AddShares(const scheduler::QueueView& queue, ordered_json& to) {
  to["tag.SchedulingPolicy"] = queue.policy;
  Add(to, "AmResourceUsage", queue.leaf ? queue.master_used : model::Resources{});
  Add(to, "FairShare", queue.fair_share);
  to["MaxApps"] = queue.max_running_apps <= 0 ? INT32_MAX : queue.max_running_apps;
  to["MaxShareMB"] = queue.max_share.memory_mib();
  to["MaxShareVCores"] = std::min<int64_t>(queue.max_share.vcores(), INT32_MAX);
  Add(to, "MinShare", queue.min_share);
  Add(to, "SteadyFairShare", queue.steady_share);
}

/// CSQueueMetrics.
void AddCapacities(const scheduler::CapacityView& queue, ordered_json& to) {
  const auto whole = queue.partitions.find("");
  if (whole == queue.partitions.end()) return;
  const scheduler::CapacityPartition& partition = whole->second;
  Add(to, "AMResourceLimit", partition.masters_limit);
  Add(to, "UsedAMResource", partition.masters_used);
  to["UsedCapacity"] = partition.used_share;
  to["AbsoluteUsedCapacity"] = partition.absolute_used;
  Add(to, "Guaranteed", partition.effective_min);
  Add(to, "MaxCapacity", partition.effective_max);
  to["GuaranteedCapacity"] = partition.share;
  to["GuaranteedAbsoluteCapacity"] = partition.absolute;
  to["MaxCapacity"] = partition.maximum;
  to["MaxAbsoluteCapacity"] = partition.absolute_maximum;
}

/// "root.a.b" -> ",q0=root,q1=a,q2=b" (QueueMetrics.qSourceName)
std::string QueueKeys(const std::string& path) {
  std::string keys;
  size_t begin = 0;
  for (int at = 0; begin <= path.size(); ++at) {
    const size_t end = std::min(path.find('.', begin), path.size());
    keys += ",q" + std::to_string(at) + "=" + path.substr(begin, end - begin);
    begin = end + 1;
  }
  return keys;
}

void AddActivity(const QueueActivity& activity, ordered_json& to) {
  to["running_0"] = activity.running[0];
  to["running_60"] = activity.running[1];
  to["running_300"] = activity.running[2];
  to["running_1440"] = activity.running[3];
  to["ActiveApplications"] = activity.active_applications;
  to["ActiveUsers"] = activity.active_users;
}

/// Since the manager began.
void AddCounts(const QueueCounts& counts, ordered_json& to) {
  using enum model::Locality;
  const auto local = [&](model::Locality how) { return counts.by_locality[static_cast<size_t>(how)]; };
  to["AggregateContainersAllocated"] = counts.allocated;
  to["AggregateContainersReleased"] = counts.released;
  to["AggregateNodeLocalContainersAllocated"] = local(kNodeLocal);
  to["AggregateRackLocalContainersAllocated"] = local(kRackLocal);
  to["AggregateOffSwitchContainersAllocated"] = local(kOffSwitch);
  to["AggregateContainersPreempted"] = counts.preempted;
  to["AggregateMemoryMBPreempted"] = counts.preempted_size.memory_mib();
  to["AggregateVcoresPreempted"] = counts.preempted_size.vcores();
  to["AggregateMemoryMBSecondsPreempted"] = counts.preempted_mib_seconds;
  to["AggregateVcoreSecondsPreempted"] = counts.preempted_core_seconds;
}

/// Nothing for a queue without applications.
template <class Sums>
Sums OfQueue(const std::map<std::string, Sums>& sums, const std::string& queue) {
  const auto own = sums.find(queue);
  return own == sums.end() ? Sums{} : own->second;
}

/// What beans of queues and of users in them have alike.
void AddSums(const QueueSums& sums, const QueueActivity& activity, const QueueCounts& counts, ordered_json& to) {
  to["AppsSubmitted"] = sums.Live() + sums.In(AppState::kFinishing) + counts.completed + counts.failed + counts.killed;
  to["AppsRunning"] = sums.Live() - sums.without_master;
  to["AppsPending"] = sums.without_master;
  to["AppsCompleted"] = counts.completed;
  to["AppsKilled"] = counts.killed;
  to["AppsFailed"] = counts.failed;
  to["AllocatedContainers"] = sums.containers;
  to["PendingContainers"] = sums.pending;
  to["ReservedContainers"] = sums.reservations;
  AddActivity(activity, to);
  AddCounts(counts, to);
}

/// What the guaranteed amount leaves (CSQueueUtils.getMaxAvailableResourceToQueuePartition).
model::Resources LeftOf(const scheduler::CapacityPartition& partition) {
  model::Resources left = partition.effective_min - partition.used;
  for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) left[type] = std::max<int64_t>(0, left[type]);
  return left;
}

void AddAmounts(const scheduler::CapacityPartition& partition, ordered_json& to) {
  Add(to, "Allocated", partition.used);
  Add(to, "Available", LeftOf(partition));
  Add(to, "Pending", partition.pending);
  Add(to, "Reserved", partition.reserved);
}

/// Of the default partition alone where there are partitions (QueueMetrics.allocateResources).
void AddAmounts(const scheduler::QueueView& queue, const QueueSums& sums, const model::Resources& cluster,
                ordered_json& to) {
  if (queue.capacity) {
    const auto whole = queue.capacity->partitions.find("");
    if (whole != queue.capacity->partitions.end()) return AddAmounts(whole->second, to);
  }
  model::Resources pending = queue.demand - queue.used;
  for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) pending[type] = std::max<int64_t>(0, pending[type]);
  Add(to, "Allocated", queue.used);
  Add(to, "Available", queue.name == "root" ? cluster - queue.used : model::Resources{});
  Add(to, "Pending", pending);
  Add(to, "Reserved", sums.reserved);
}

http::Bean QueueBean(const scheduler::QueueView& queue, const QueueSums& sums, const QueueActivity& activity,
                     const QueueCounts& counts, const model::Resources& cluster, const std::string& host) {
  http::Bean bean = MakeBean("QueueMetrics" + QueueKeys(queue.name));
  ordered_json& to = bean.attributes;
  to = {{"tag.Queue", queue.name}, {"tag.Context", "yarn"}, {"tag.Hostname", host}};
  AddAmounts(queue, sums, cluster, to);
  AddSums(sums, activity, counts, to);
  queue.capacity ? AddCapacities(*queue.capacity, to) : AddShares(queue, to);
  return bean;
}

/// No other name is one of a bean (javax.management.ObjectName).
bool IsBeansName(const std::string& user) { return user.find_first_of(",=:\"*?\n") == std::string::npos; }

/// A user may be there for what is counted of him, for what he has now, or for both.
void AddUserBeans(const std::map<QueueUser, UserActivity>& now, const std::map<QueueUser, QueueCounts>& counted,
                  const std::string& host, std::vector<http::Bean>& beans) {
  std::map<QueueUser, std::pair<UserActivity, QueueCounts>> all;
  for (const auto& [name, activity] : now) all[name].first = activity;
  for (const auto& [name, counts] : counted) all[name].second = counts;
  for (const auto& [name, sums] : all) {
    if (!IsBeansName(name.second)) continue;
    const auto& [activity, counts] = sums;
    http::Bean bean = MakeBean("QueueMetrics" + QueueKeys(name.first) + ",user=" + name.second);
    ordered_json& to = bean.attributes;
    to = {{"tag.Queue", name.first}, {"tag.User", name.second}, {"tag.Context", "yarn"}, {"tag.Hostname", host}};
    Add(to, "Allocated", activity.used);
    Add(to, "Reserved", activity.sums.reserved);
    AddSums(activity.sums, activity.activity, counts, to);
    to["ActiveUsers"] = 0;
    beans.push_back(std::move(bean));
  }
}

/// PartitionQueueMetrics, and of a whole partition PartitionMetrics.
void AddPartitionBeans(const scheduler::QueueView& queue, const std::string& host, std::vector<http::Bean>& beans) {
  if (!queue.capacity) return;
  for (const auto& [label, partition] : queue.capacity->partitions) {
    const std::string shown = label.empty() ? "default" : label;
    const auto add = [&](const std::string& queue_keys) {
      http::Bean& bean = beans.emplace_back(MakeBean("PartitionQueueMetrics,partition=" + shown + queue_keys));
      bean.attributes = {{"tag.Partition", shown}, {"tag.Context", "yarn"}, {"tag.Hostname", host}};
      if (!queue_keys.empty()) bean.attributes["tag.Queue"] = queue.name;
      AddAmounts(partition, bean.attributes);
    };
    if (queue.name == "root") add("");
    add(QueueKeys(queue.name));
  }
}

/// LiveNodeManagers is a text that holds JSON.
http::Bean NodesBean(const std::vector<NodeRow>& nodes) {
  ordered_json list = ordered_json::array();
  for (const NodeRow& node : nodes) {
    ordered_json one = {{"HostName", node.address.host},        {"Rack", node.rack},
                        {"State", EnumName(node.state)},        {"NodeId", ToString(node.address)},
                        {"NodeHTTPAddress", node.http_address}, {"LastHealthUpdate", node.health_time.ms},
                        {"HealthReport", node.health_report},   {"NodeManagerVersion", node.version}};
    if (node.in_scheduler) {
      one["NumContainers"] = node.containers;
      one["UsedMemoryMB"] = node.used.memory_mib();
      one["AvailableMemoryMB"] = node.capacity.memory_mib() - node.used.memory_mib();
    }
    list.push_back(std::move(one));
  }
  http::Bean bean = MakeBean("RMNMInfo");
  bean.type = "org.apache.hadoop.yarn.server.resourcemanager.RMNMInfo";
  bean.attributes["LiveNodeManagers"] = http::JsonText(list);
  return bean;
}

}  // namespace

void Web::Jmx(const http::Request& request, const Reply& reply) {
  const std::string host = manager_.bound().client.host;
  Aside("jmx", reply,
        [host, query = request.query, view = manager_.scheduler().GetQueues(), cluster = manager_.Fresh().cluster(),
         sums = manager_.Fresh().queues(), rows = manager_.Fresh().Rows(), now = manager_.now_wall(),
         counts = manager_.lately().queues().by_name(), of_users = CountsUsers(manager_.core()),
         user_counts = manager_.lately().queues().by_user(), nodes = NodeRows(manager_.core())] {
          std::vector<http::Bean> beans = {ClusterBean(cluster, host), NodesBean(nodes)};
          QueueActivities activities(of_users);
          rows.ForEach([&](const AppRow& row) { activities.Add(row, now); });
          for (const scheduler::QueueView& queue : view.queues) {
            beans.push_back(QueueBean(queue, OfQueue(sums, queue.name), activities.Of(queue.name),
                                      OfQueue(counts, queue.name), view.cluster, host));
            AddPartitionBeans(queue, host, beans);
          }
          if (of_users) AddUserBeans(activities.users(), user_counts, host, beans);
          http::AddJvmBean("ResourceManager", host, beans);
          return http::JmxAnswer(query, beans);
        });
}

}  // namespace fairlead::process::rm
