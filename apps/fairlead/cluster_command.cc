#include "cluster_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "process/http/http.h"
#include "wire/json/json.h"

namespace fairlead::apps {

using nlohmann::ordered_json;
namespace yarn = wire::yarn;

void RunWithCluster(const Command& command, const std::function<int(Cluster&)>& body) {
  auto cluster = OpenCluster(command.options);
  *command.exit_code = cluster.ok() ? body(*cluster) : command.Fail(cluster.error());
}

yarn::ApplicationIdProto ToProto(const model::ApplicationId& id) {
  yarn::ApplicationIdProto proto;
  proto.cluster_timestamp = id.cluster_timestamp;
  proto.id = id.number;
  return proto;
}

base::Result<yarn::ApplicationReportProto> Report(Cluster& cluster, const model::ApplicationId& id) {
  yarn::GetApplicationReportRequestProto request;
  request.application_id = ToProto(id);
  const auto answer = cluster.client->Call<yarn::GetApplicationReportResponseProto>("getApplicationReport", request);
  if (!answer) return answer.error();
  return answer->ApplicationReport();
}

base::Result<ordered_json> AskFairlead(Cluster& cluster, const std::string& target, const std::string& method,
                                       const std::string& body) {
  const auto answer = cluster.client->Ask(method, "/fairlead/v1/" + target, body);
  if (!answer.ok()) {
    if (answer.error().code == shell::kRmRefused) return answer.error();
    const std::string& why = answer.error().message;
    const size_t colon = why.rfind(": ");
    return base::Error{
        "the resource manager's web port does not answer: " + why.substr(colon == std::string::npos ? 0 : colon + 2) +
            "; start one with 'fairlead up', or name another's files with --hadoop-conf",
        shell::kRmUnreachable};
  }
  if (answer->status == 307) {
    const std::string leader(process::http::FindHeader(answer->headers, "Location").substr(0, 200));
    return base::Error{"the resource manager there is a standby; ask the one that leads: " +
                           base::VisibleText(leader.substr(0, leader.find("/fairlead/"))),
                       shell::kRmRefused};
  }
  auto parsed = wire::json::ParseOrdered(answer->body, wire::json::kAnswer);
  ordered_json json = parsed ? std::move(*parsed) : ordered_json();
  if (answer->status == 200 && json.is_object()) return json;
  std::string told = json.is_object() ? json.value("error", "") : "";
  if (answer->status == 403 && json.is_object()) {  // of the login before the port, as Hadoop writes it
    told = json.value("RemoteException", ordered_json::object()).value("message", told);
  }
  if (!told.empty()) return base::Error{told, answer->status == 404 ? shell::kRmNotFound : shell::kRmRefused};
  if (answer->status == 404) {
    return base::Error{"only Fairlead's resource manager answers this, and here is another one (HTTP 404)",
                       kAnotherManager};
  }
  return base::Error{
      "the resource manager's web port answers with HTTP " + std::to_string(answer->status) + "; look into its log",
      shell::kRmRefused};
}

base::Result<ordered_json> AskIfFairleads(Cluster& cluster, const std::string& target) {
  auto answer = AskFairlead(cluster, target);
  if (!answer.ok() && answer.error().code == kAnotherManager) return ordered_json();
  return answer;
}

void TakeNoBoundsOut(ordered_json& answer) {
  constexpr int64_t kNoBoundMib = int64_t{1} << 46;  // no cluster sums up to that
  for (ordered_json& queue : answer.at("queues")) {
    ordered_json& most = queue.at("max_share");
    if (most.value("memory_mib", int64_t{0}) >= kNoBoundMib) most = nullptr;
  }
}

base::Result<ordered_json> FindQueue(Cluster& cluster, const std::string& name) {
  auto answer = AskFairlead(cluster, "queues");
  if (!answer.ok()) return answer.error();
  TakeNoBoundsOut(*answer);
  std::string known;
  for (const auto& queue : answer->value("queues", ordered_json::array())) {
    const std::string full = queue.value("name", "");
    if (full == name || full == "root." + name) return queue;
    known += (known.empty() ? "" : ", ") + full;
  }
  return base::Error{"there is no queue " + name + "; there are " + known.substr(0, 300), shell::kRmNotFound};
}

base::Status NameInFull(Cluster& cluster, std::string& queue) {
  const auto found = FindQueue(cluster, queue);
  if (found.ok()) queue = found->value("name", queue);
  if (found.ok() || found.error().code == kAnotherManager) return {};
  return found.error();
}

base::Result<std::vector<std::string>> FindNodes(Cluster& cluster, const std::string& name) {
  const auto nodes = AskFairlead(cluster, "nodes");
  if (!nodes.ok()) return nodes.error();
  std::vector<std::string> found;
  std::string known;
  for (const auto& node : nodes->value("nodes", ordered_json::array())) {
    const std::string id = node.value("id", "");
    known += (known.empty() ? "" : ", ") + id;
    if (id == name || id.substr(0, id.rfind(':')) == name) found.push_back(id);
  }
  const auto drained = nodes->value("drained", ordered_json::array());
  const auto named = [&](const ordered_json& out) { return out.value("host", "") == name; };
  const auto windows = nodes->value("maintenance", ordered_json::array());
  const bool known_host =
      std::any_of(drained.begin(), drained.end(), named) || std::any_of(windows.begin(), windows.end(), named);
  if (found.empty() && known_host) found.push_back(name);
  if (!found.empty()) return found;
  if (known.size() > 300) known = known.substr(0, 300) + " ...";
  return base::Error{"there is no node " + name + (known.empty() ? "; there is none at all" : "; there are " + known),
                     shell::kRmNotFound};
}

void PrintJson(const ordered_json& json) {
  const std::string text = json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
  std::puts(base::VisibleText(text, base::Lines::kKept).c_str());
}

void PrintJson(const std::string& text) {
  const auto json = wire::json::ParseOrdered(text, wire::json::kAnswer);
  if (json.ok()) PrintJson(*json);
}

std::string PageUrl(const Cluster& cluster, const std::string& path,
                    const std::vector<std::pair<std::string, std::string>>& filters) {
  std::string query;
  for (const auto& [key, value] : filters) {
    if (!value.empty()) query += (query.empty() ? "?" : "&") + key + "=" + process::http::PercentEncode(value);
  }
  return cluster.client->Page() + path + query;
}

void SayPage(const Command& command, const std::string& url) {
  if (!command.options.json && ::isatty(STDOUT_FILENO) != 0) std::fprintf(stderr, "as a page: %s\n", url.c_str());
}

}  // namespace fairlead::apps
