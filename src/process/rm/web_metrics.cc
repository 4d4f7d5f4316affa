#include <cstdio>
#include <map>

#include "base/text.h"
#include "process/rm/web.h"

// /metrics, in Prometheus' text format.

namespace fairlead::process::rm {

namespace {
/// A label's value, which may be a queue that a stranger named.
std::string LabelText(std::string_view value) {
  std::string out;
  for (const char c : base::VisibleText(value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}
}  // namespace

std::string Web::Metrics() const {
  std::string text;
  const auto gauge = [&](const char* name, const char* help, const char* type, double value) {
    text += "# HELP " + std::string(name) + " " + help + "\n# TYPE " + name + " " + type + "\n";
    char number[64];
    std::snprintf(number, sizeof(number), "%s %.17g\n", name, value);
    text += number;
  };
  const auto count = [&](const char* name, const char* help, uint64_t value) {
    gauge(name, help, "counter", static_cast<double>(value));
  };
  const ResourceManager::Counters& counters = manager_.counters();
  count("fairlead_rm_events_total", "Outside events stepped", counters.events);
  count("fairlead_rm_batches_total", "Batches stepped", counters.batches);
  count("fairlead_rm_allocate_calls_total", "Allocate calls", counters.allocate_calls);
  count("fairlead_rm_containers_granted_total", "Containers handed to masters", counters.granted);
  count("fairlead_rm_heartbeats_total", "Heartbeats of nodes", counters.heartbeats);
  count("fairlead_rm_store_errors_total", "Changes that the state store refused", counters.store_errors);
  gauge("fairlead_rm_rpc_connections", "Open RPC connections", "gauge",
        static_cast<double>(manager_.rpc_server().connections()));
  std::map<std::string, int64_t> apps;
  int64_t containers = 0;
  manager_.core().ForEachApp([&](const App& app) {
    ++apps[std::string(EnumName(app.state))];
    containers += static_cast<int64_t>(app.containers.size());
  });
  std::map<std::string, int64_t> nodes;
  manager_.core().ForEachNode([&](const Node& node) { ++nodes[std::string(EnumName(node.state))]; });
  gauge("fairlead_rm_containers", "Live containers", "gauge", static_cast<double>(containers));
  const auto labelled = [&](const char* name, const char* help, const char* label,
                            const std::map<std::string, int64_t>& values) {
    text += "# HELP " + std::string(name) + " " + help + "\n# TYPE " + name + " gauge\n";
    for (const auto& [value, number] : values) {
      text += std::string(name) + "{" + label + "=\"" + LabelText(value) + "\"} " + std::to_string(number) + "\n";
    }
  };
  labelled("fairlead_rm_apps", "Applications by state", "state", apps);
  labelled("fairlead_rm_nodes", "Nodes by state", "state", nodes);
  std::map<std::string, int64_t> used;
  std::map<std::string, int64_t> fair;
  for (const scheduler::QueueView& queue : manager_.scheduler().GetView().queues) {
    used[queue.name] = queue.used.memory_mib();
    fair[queue.name] = queue.fair_share.memory_mib();
  }
  labelled("fairlead_rm_queue_used_memory_mib", "Memory in use by queue", "queue", used);
  labelled("fairlead_rm_queue_fair_memory_mib", "Fair share of memory by queue", "queue", fair);
  return text;
}

}  // namespace fairlead::process::rm
