#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "process/ask/track_record.h"
#include "process/http/metrics.h"
#include "process/rm/submissions.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /metrics

namespace fairlead::process::rm {

namespace {

using Values = std::vector<std::pair<std::string, int64_t>>;

/// By name, those that there are.
template <class State, size_t N>
Values Listed(const std::array<int64_t, N>& counts) {
  std::map<std::string, int64_t> named;
  for (size_t state = 0; state < N; ++state) {
    if (counts[state] > 0) named[std::string(EnumName(static_cast<State>(state)))] = counts[state];
  }
  return {named.begin(), named.end()};
}

void AddQueues(const scheduler::View& view, const std::map<std::string, QueueSums>& sums, http::MetricsText& out) {
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
    const auto found = sums.find(q.name);
    return found == sums.end() ? int64_t{0} : found->second.pending;
  });
  if (view.queues.empty() || view.queues.front().tasks.empty()) return;
  each("queue_missing_tasks", "Tasks that wait in pools below their minima, up to these, by queue (profile tdw)",
       [](const Queue& q) {
         int64_t missing = 0;
         for (const scheduler::TaskCounts& one : q.tasks) missing += one.missing;
         return missing;
       });
}

void AddDecisions(ResourceManager& manager, http::MetricsText& out) {
  const ResourceManager::Counters& counters = manager.counters();
  const Batches::Counts& counts = manager.batches().counts();
  const Lately& lately = manager.lately();
  out.Counter("events_total", "Outside events stepped", counts.events);
  out.Counter("batches_total", "Batches stepped", counts.batches);
  out.Seconds("step_seconds", "How long a batch took in the resource manager's and the scheduler's core", counts.step);
  out.Counter("allocate_calls_total", "Allocate calls", counters.allocate_calls);
  out.Seconds("allocate_seconds", "From an allocate call to its answer", counters.allocate);
  out.Counter("containers_granted_total", "Containers handed to masters", counts.granted);
  out.Counter("containers_preempted_total", "Containers taken back", lately.Count(HappeningKind::kPreempted));
  out.Counter("reservations_total", "Times that room on a node was held for a container",
              lately.Count(HappeningKind::kHeld));
  out.Counter("refusals_total", "Calls that the scheduler refused", lately.Count(HappeningKind::kRefused));
  out.Counter("heartbeats_total", "Heartbeats of nodes", counters.heartbeats);
}

void AddRefusals(ResourceManager& manager, http::MetricsText& out) {
  const ResourceManager::Counters& counters = manager.counters();
  out.Counter("requests_too_long_total", "Requests refused for a text that is longer than its field may be",
              counters.too_long);
  out.Counter("requests_malformed_total", "Requests refused for something else in them", counters.malformed);
  Values over;
  for (const auto& [kind, count] : manager.rpc_server().refused()) over.emplace_back(kind, static_cast<int64_t>(count));
  out.Counters("rpc_too_long_total", "Messages refused for more bytes than their kind may have", "kind", over);
  const rpc::RpcServer::Counters& logins = manager.rpc_server().counters();
  out.Counter("rpc_logins_refused_total", "Logins of RPC without a valid ticket, token or protocol",
              logins.logins_refused);
  out.Counter("rpc_unauthorized_total", "Known callers of RPC who may not speak there, or not in another's name",
              logins.unauthorized);
  out.Counter("rpc_unprotected_total", "Messages of RPC outside of the protection that was agreed on",
              logins.unprotected);
  if (const CredentialStore* credentials = manager.credentials()) {
    out.Counter("node_hosts_refused_total", "Calls of nodes that are refused, as their credential is another host's",
                credentials->hosts_refused());
  }
}

void AddStore(const ResourceManager& manager, http::MetricsText& out) {
  const Batches::Counts& counts = manager.batches().counts();
  out.Counter("store_errors_total", "Changes that the state store refused", counts.store_errors);
  out.Gauge("store_rows_unread",
            "Rows of the state store that cannot be read, or that others have put there, and are left out",
            static_cast<int64_t>(manager.left_out()));
  out.Seconds("store_commit_seconds", "From a change to its being stored", counts.commit);
}

void AddTokens(const Submissions& submissions, http::MetricsText& out) {
  const TokenRenewer& renewer = submissions.renewer();
  out.Gauge("renewed_tokens", "Tokens of applications that are kept alive", static_cast<int64_t>(renewer.tokens()));
  out.Counter("token_renewals_total", "Renewals of such tokens", renewer.renewed());
  out.Counter("token_renewals_failed_total", "Renewals of such tokens that were given up", renewer.failed());
  out.Counter("tokens_issued_total", "New tokens that the manager got for owners of applications", renewer.issued());
  out.Counter("tokens_refused_total", "Such tokens that it asked for in vain", renewer.refused());
}

void AddEstimates(ResourceManager& manager, http::MetricsText& out) {
  const ask::TrackRecord::Held held = manager.estimates().held(manager.now());
  out.Gauge("estimates", "Asks whose estimated start has come, or is overdue", held.estimates);
  out.Gauge("estimates_within_p90", "Of these, asks that were served by their p90", held.within_p90);
  out.Gauge("estimates_close", "Of these, asks served within a minute or a tenth of the wait of their p50", held.close);
  if (!held.median_error) return;
  out.Gauge("estimates_median_error_percent",
            "Half of the latest that were served were off their p50 by that part of the wait at most",
            std::llround(*held.median_error * 100));
}

}  // namespace

void Web::Metrics(const Reply& reply) {
  http::MetricsText out("fairlead_rm_");
  AddDecisions(manager_, out);
  AddRefusals(manager_, out);
  AddStore(manager_, out);
  if (const Submissions* submissions = manager_.submissions()) AddTokens(*submissions, out);
  AddEstimates(manager_, out);
  out.Counter("web_refused_total", http::kWebRefusedHelp, port_->refused());
  out.Counter("web_logins_refused_total", "HTTP requests with a ticket, token or doAs that is refused",
              login_.refused());
  out.Seconds("web_seconds", "How long a request to the web port took the thread that decides", served_);
  out.Gauge("rpc_connections", "Open RPC connections", static_cast<int64_t>(manager_.rpc_server().connections()));
  out.Gauges("cluster_info", "1; the label is the cluster's name", "name", {{manager_.options().cluster_name, 1}});
  Values waiting;
  for (const auto& [reason, count] : waiting_.counts()) waiting.emplace_back(EnumName(reason), count);
  out.Gauges("waiting_containers", "Containers asked for and not granted by the reason for which they wait", "reason",
             waiting);
  Aside("metrics", reply,
        [out = std::move(out), view = manager_.scheduler().GetQueues(), cluster = manager_.Fresh().cluster(),
         sums = manager_.Fresh().queues()]() mutable {
          out.Gauge("containers", "Live containers", cluster.all.containers);
          out.Gauge("capacity_memory_mib", "Memory of the nodes that run", cluster.running_capacity.memory_mib());
          out.Gauge("capacity_vcores", "Virtual cores of the nodes that run", cluster.running_capacity.vcores());
          out.Gauges("apps", "Applications by state", "state", Listed<model::rm::AppState>(cluster.states));
          out.Gauges("nodes", "Nodes by state", "state", Listed<model::rm::NodeState>(cluster.nodes));
          AddQueues(view, sums, out);
          return out.ToResponse();
        });
}

}  // namespace fairlead::process::rm
