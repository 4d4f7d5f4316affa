#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "cluster_command.h"
#include "documents.h"
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

/// How long the manager's session with ZooKeeper is; 0: it is Hadoop's, or has none.
int64_t SessionOf(Cluster& cluster, const std::string& page) {
  const auto answer = cluster.client->GetUrl(page + "/fairlead/v1/ha");
  if (!answer.ok() || answer->status != 200) return 0;
  const auto told = wire::json::ParseOrdered(answer->body, wire::json::kAnswer);
  return told && told->is_object() ? told->value("session_ms", int64_t{0}) : 0;
}

/// What a takeover after a death waits for; nothing where one manager runs alone.
void PrintSessions(const std::vector<ManagerState>& managers) {
  int64_t longest = 0;
  for (const ManagerState& manager : managers) longest = std::max(longest, manager.sessionMs);
  if (longest == 0) return;
  std::printf("sessions with ZooKeeper of %g s: so long after a death another manager takes over\n",
              static_cast<double>(longest) / 1000);
}

/// Why a manager tells this caller nothing; empty: it does, or does not answer.
std::string RefusalOf(const std::string& page, const base::Result<process::http::Response>& answer) {
  if (!answer.ok()) return answer.error().code == shell::kRmRefused ? answer.error().message : "";
  if (answer->status != 403) return "";
  const auto told = wire::json::ParseOrdered(answer->body, wire::json::kAnswer);
  const ordered_json exception =
      told && told->is_object() ? told->value("RemoteException", ordered_json::object()) : ordered_json::object();
  return "the pages at " + page + " refuse the caller: " + exception.value("message", "HTTP 403");
}

/// `refusal`: that of the first manager that has one.
std::vector<ManagerState> AskManagers(Cluster& cluster, std::string& refusal) {
  std::vector<ManagerState> managers;
  for (const auto& [id, page] : cluster.client->Managers()) {
    const auto answer = cluster.client->GetUrl(page + "/ws/v1/cluster/info");
    const ordered_json info = ObjectOf(answer, "clusterInfo");
    const std::string refused = RefusalOf(page, answer);
    if (refusal.empty()) refusal = refused;
    managers.push_back({id, page, info.value("haState", refused.empty() ? "does not answer" : "refuses the caller"),
                        info.value("resourceManagerBuildVersion", ""), info.value("startedOn", int64_t{0}),
                        id.empty() || info.empty() ? 0 : SessionOf(cluster, page)});
  }
  return managers;
}

/// A rate is that of a minute at least.
constexpr double kSoonestRateMs = 60'000;

/// Nothing: a manager of Hadoop's.
std::optional<ManagerScheduler> SchedulerOf(Cluster& cluster) {
  const auto told = AskFairlead(cluster, "cluster");
  if (!told.ok()) return std::nullopt;
  return ManagerScheduler{told->value("profile", ""),
                          told->value("wishes", "none"),
                          told->value("unread_rows", int64_t{0}),
                          told->value("unread_first", ""),
                          {told->value("journal", ordered_json::object())}};
}

std::string BytesText(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, kUnits[unit]);
  return text;
}

/// How often, how large, and how far back `fairlead replay` will reach at the rate of this run.
std::string JournalText(const ordered_json& journal) {
  if (journal.empty()) return "no journal: nothing is kept for 'fairlead replay'";
  const auto number = [&](const char* field) { return static_cast<double>(journal.value(field, int64_t{0})); };
  std::string text = "journal: " + Counted(journal.value("files", int64_t{0}), "file") + ", " +
                     BytesText(number("bytes")) + " of at most " + BytesText(number("bytes_max"));
  if (!journal.value("writes", true)) return text + "; it has ended, the log says why";
  const double days = number("within_ms") / 86'400'000;
  if (number("within_ms") < kSoonestRateMs || number("written") <= 0) return text;
  const double a_day = number("written") / days;
  const double file_hours = number("segment_bytes") / a_day * 24;
  char often[64], back[64];
  std::snprintf(often, sizeof often, file_hours < 1 ? "%.0f minutes" : "%.1f hours",
                file_hours < 1 ? file_hours * 60 : file_hours);
  const double kept_hours = number("bytes_max") / a_day * 24;
  std::snprintf(back, sizeof back, kept_hours < 48 ? "%.1f hours" : "%.0f days",
                kept_hours < 48 ? kept_hours : kept_hours / 24);
  text += "; " + BytesText(a_day) + " a day in this run: a file every " + often + ", and the last " + back +
          " are kept (fairlead.rm.journal-bytes)";
  if (number("bytes_max") - number("bytes") <= number("disk_free")) return text;
  return text + "; its disk has " + BytesText(number("disk_free")) + " left, less than that needs";
}

void PrintScheduler(const ManagerScheduler& scheduler) {
  std::puts(base::VisibleText("profile " + scheduler.profile + ", wishes " + scheduler.wishes).c_str());
  std::puts(JournalText(scheduler.journal.json).c_str());
  if (scheduler.unreadRows > 0) {
    std::printf("%s of its state left out, as it cannot be read or is not its own (%s); the log tells more\n",
                Counted(scheduler.unreadRows, "row").c_str(), base::VisibleText(scheduler.unreadFirst).c_str());
  }
}

struct NoOptions {};

int ShowStatus(const Command& command, Cluster& cluster, NoOptions& /*options*/) {
  std::string refusal;
  const std::vector<ManagerState> managers = AskManagers(cluster, refusal);
  bool led = false, answered = false;
  Table table({"MANAGER", "STATE", "SINCE", "VERSION", "PAGE"});
  for (const ManagerState& manager : managers) {
    led |= manager.state == "ACTIVE";
    answered |= manager.startedOn > 0;
    table.Add({manager.id.empty() ? "-" : manager.id, manager.state,
               manager.startedOn > 0 ? TimeText(manager.startedOn) : "-", manager.version, manager.page});
  }
  ordered_json metrics;
  std::optional<ManagerScheduler> scheduler;
  if (led) metrics = ObjectOf(cluster.client->Get("/ws/v1/cluster/metrics"), "clusterMetrics");
  if (led) scheduler = SchedulerOf(cluster);
  if (command.options.json) {
    PrintDocument(Status{managers, {metrics}, {std::move(scheduler)}});
  } else {
    table.Print();
    PrintSessions(managers);
    const auto number = [&](const char* key) { return metrics.is_object() ? metrics.value(key, int64_t{0}) : 0; };
    if (led) {
      std::puts(SumsText({number("activeNodes"), number("appsRunning"), number("appsPending"),
                          number("containersAllocated"), number("allocatedMB"), number("totalMB")})
                    .c_str());
    }
    if (scheduler) PrintScheduler(*scheduler);
  }
  if (led) return kOk;
  if (answered) return Complain(command.name, "no manager leads now: calls wait until one does", kFailed);
  if (!refusal.empty()) return Complain(command.name, refusal, kFailed);
  return Complain(
      command.name,
      "no resource manager answers; start one with 'fairlead up', or name another's files with --hadoop-conf",
      kUnreachable);
}

}  // namespace

void AddStatus(CLI::App& app, int& exit_code) {
  AddClusterCommand<NoOptions>(app, exit_code, "status",
                               "Show the resource managers, which of them leads, and the cluster's sums",
                               std::make_shared<NoOptions>(), ShowStatus)
      ->footer("Exit code 1: managers answer, and none leads.\nExamples:\n  fairlead status\n  fairlead status --json");
}

}  // namespace fairlead::apps
