#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "cluster_command.h"
#include "inspect.h"
#include "table.h"
#include "wire/json/json.h"

// `fairlead status`: the resource managers, which of them leads, and what the cluster has, over YARN's REST, so with
// Hadoop's managers, too.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;

/// The object `root` of an answer; an empty one when there is none.
ordered_json ObjectOf(const base::Result<process::http::Response>& answer, const char* root) {
  if (!answer.ok() || answer->status != 200) return ordered_json::object();
  const auto json = wire::json::ParseOrdered(answer->body, wire::json::kAnswer);
  const bool good = json && json->is_object() && json->contains(root) && json->at(root).is_object();
  return good ? json->at(root) : ordered_json::object();
}

/// How long the manager asks its session with ZooKeeper to be; 0: it is Hadoop's.
int64_t SessionOf(Cluster& cluster, const std::string& page) {
  const auto answer = cluster.client->GetUrl(page + "/fairlead/v1/ha");
  if (!answer.ok() || answer->status != 200) return 0;
  const auto told = wire::json::ParseOrdered(answer->body, wire::json::kAnswer);
  return told && told->is_object() ? told->value("session_ms", int64_t{0}) : 0;
}

/// What a takeover after a death waits for; nothing where one manager runs alone.
void PrintSessions(const ordered_json& managers) {
  int64_t longest = 0;
  for (const ordered_json& manager : managers) longest = std::max(longest, manager.value("sessionMs", int64_t{0}));
  if (longest == 0) return;
  std::printf("sessions with ZooKeeper of %g s: so long after a death another manager takes over\n",
              static_cast<double>(longest) / 1000);
}

ordered_json AskManagers(Cluster& cluster) {
  ordered_json managers = ordered_json::array();
  for (const auto& [id, page] : cluster.client->Managers()) {
    const ordered_json info = ObjectOf(cluster.client->GetUrl(page + "/ws/v1/cluster/info"), "clusterInfo");
    managers.push_back({{"id", id},
                        {"page", page},
                        {"state", info.value("haState", "does not answer")},
                        {"version", info.value("resourceManagerBuildVersion", "")},
                        {"startedOn", info.value("startedOn", int64_t{0})},
                        {"sessionMs", id.empty() || info.empty() ? 0 : SessionOf(cluster, page)}});
  }
  return managers;
}

/// Its profile and wishes; null: a manager of Hadoop's, which has none.
ordered_json SchedulerOf(Cluster& cluster) {
  const auto told = AskFairlead(cluster, "cluster");
  if (!told.ok()) return nullptr;
  return {{"profile", told->value("profile", "")},
          {"wishes", told->value("wishes", "none")},
          {"unreadRows", told->value("unread_rows", int64_t{0})}};
}

struct NoOptions {};

int Status(const Command& command, Cluster& cluster, NoOptions& /*options*/) {
  const ordered_json managers = AskManagers(cluster);
  bool led = false, answered = false;
  Table table({"MANAGER", "STATE", "SINCE", "VERSION", "PAGE"});
  for (const ordered_json& manager : managers) {
    led |= manager["state"] == "ACTIVE";
    answered |= manager["startedOn"] > 0;
    const std::string id = manager["id"];
    table.Add({id.empty() ? "-" : id, manager["state"], manager["startedOn"] > 0 ? TimeText(manager["startedOn"]) : "-",
               manager["version"], manager["page"]});
  }
  ordered_json metrics, scheduler;
  if (led) metrics = ObjectOf(cluster.client->Get("/ws/v1/cluster/metrics"), "clusterMetrics");
  if (led) scheduler = SchedulerOf(cluster);
  if (command.options.json) {
    PrintJson({{"managers", managers}, {"metrics", metrics}, {"scheduler", scheduler}});
  } else {
    table.Print();
    PrintSessions(managers);
    const auto number = [&](const char* key) { return metrics.is_object() ? metrics.value(key, int64_t{0}) : 0; };
    if (led) {
      std::puts(SumsText({number("activeNodes"), number("appsRunning"), number("appsPending"),
                          number("containersAllocated"), number("allocatedMB"), number("totalMB")})
                    .c_str());
    }
    if (scheduler.is_object()) {
      const std::string words =
          "profile " + scheduler.value("profile", "") + ", wishes " + scheduler.value("wishes", "");
      std::puts(base::VisibleText(words).c_str());
      if (const auto unread = scheduler.value("unreadRows", int64_t{0}); unread > 0) {
        std::printf("%s of its state cannot be read and is left out; the log names each\n",
                    Counted(unread, "row").c_str());
      }
    }
  }
  if (led) return kOk;
  if (answered) return Complain(command.name, "no manager leads now: calls wait until one does", kFailed);
  return Complain(
      command.name,
      "no resource manager answers; start one with 'fairlead up', or name another's files with --hadoop-conf",
      kUnreachable);
}

}  // namespace

void AddStatus(CLI::App& app, int& exit_code) {
  AddClusterCommand<NoOptions>(app, exit_code, "status",
                               "Show the resource managers, which of them leads, and the cluster's sums",
                               std::make_shared<NoOptions>(), Status)
      ->footer("Exit code 1: managers answer, and none leads.\nExamples:\n  fairlead status\n  fairlead status --json");
}

}  // namespace fairlead::apps
