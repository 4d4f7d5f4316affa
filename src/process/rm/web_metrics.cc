#include <map>

#include "process/http/metrics.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /metrics

namespace fairlead::process::rm {

namespace {

using Values = std::vector<std::pair<std::string, int64_t>>;

Values Listed(const std::map<std::string, int64_t>& counts) { return {counts.begin(), counts.end()}; }

void AddQueues(const scheduler::View& view, const std::map<std::string, int64_t>& pending, http::MetricsText& out) {
  const auto each = [&](const char* name, const char* help, auto value) {
    Values values;
    for (const scheduler::QueueView& queue : view.queues) values.emplace_back(queue.name, value(queue));
    out.Gauges(name, help, "queue", values);
  };
  using Queue = scheduler::QueueView;
  each("queue_used_memory_mib", "Memory in use by queue", [](const Queue& q) { return q.used.memory_mib(); });
  each("queue_fair_memory_mib", "Fair share of memory by queue",
       [](const Queue& q) { return q.fair_share.memory_mib(); });
  each("queue_demand_memory_mib", "Memory in use and asked for by queue",
       [](const Queue& q) { return q.demand.memory_mib(); });
  each("queue_used_vcores", "Virtual cores in use by queue", [](const Queue& q) { return q.used.vcores(); });
  each("queue_fair_vcores", "Fair share of virtual cores by queue",
       [](const Queue& q) { return q.fair_share.vcores(); });
  each("queue_runnable_apps", "Applications that may run by queue",
       [](const Queue& q) { return int64_t{q.runnable_apps}; });
  each("queue_waiting_apps", "Applications that a limit keeps waiting by queue",
       [](const Queue& q) { return int64_t{q.waiting_apps}; });
  each("queue_pending_containers", "Containers asked for and not granted by queue", [&](const Queue& q) {
    const auto found = pending.find(q.name);
    return found == pending.end() ? int64_t{0} : found->second;
  });
}

}  // namespace

http::Response Web::Metrics() const {
  http::MetricsText out("fairlead_rm_");
  const ResourceManager::Counters& counters = manager_.counters();
  const Lately& lately = manager_.lately();
  out.Counter("events_total", "Outside events stepped", counters.events);
  out.Counter("batches_total", "Batches stepped", counters.batches);
  out.Seconds("step_seconds", "How long a batch took in the resource manager's and the scheduler's core",
              counters.step);
  out.Counter("allocate_calls_total", "Allocate calls", counters.allocate_calls);
  out.Seconds("allocate_seconds", "From an allocate call to its answer", counters.allocate);
  out.Counter("containers_granted_total", "Containers handed to masters", counters.granted);
  out.Counter("containers_preempted_total", "Containers taken back for another queue",
              lately.Count(HappeningKind::kPreempted));
  out.Counter("reservations_total", "Times that room on a node was held for a container",
              lately.Count(HappeningKind::kHeld));
  out.Counter("refusals_total", "Calls that the scheduler refused", lately.Count(HappeningKind::kRefused));
  out.Counter("heartbeats_total", "Heartbeats of nodes", counters.heartbeats);
  out.Counter("store_errors_total", "Changes that the state store refused", counters.store_errors);
  out.Seconds("store_commit_seconds", "From a change to its being stored", counters.commit);
  out.Gauge("rpc_connections", "Open RPC connections", static_cast<int64_t>(manager_.rpc_server().connections()));
  std::map<std::string, int64_t> apps;
  int64_t containers = 0;
  manager_.core().ForEachApp([&](const App& app) {
    ++apps[std::string(EnumName(app.state))];
    containers += static_cast<int64_t>(app.containers.size());
  });
  std::map<std::string, int64_t> nodes;
  model::Resources capacity;
  manager_.core().ForEachNode([&](const Node& node) {
    ++nodes[std::string(EnumName(node.state))];
    if (node.state == model::rm::NodeState::kRunning) capacity += node.capacity;
  });
  out.Gauge("containers", "Live containers", containers);
  out.Gauge("capacity_memory_mib", "Memory of the nodes that run", capacity.memory_mib());
  out.Gauge("capacity_vcores", "Virtual cores of the nodes that run", capacity.vcores());
  out.Gauges("apps", "Applications by state", "state", Listed(apps));
  out.Gauges("nodes", "Nodes by state", "state", Listed(nodes));
  AddQueues(manager_.scheduler().GetView(), PendingContainers(manager_.scheduler(), manager_.core(), manager_.now()),
            out);
  return out.ToResponse();
}

}  // namespace fairlead::process::rm
