#include <cstdio>

#include "cluster_command.h"
#include "documents.h"
#include "managers.h"
#include "shell/client/ha_client.h"
#include "wire/hadoop_rpc/ha_service.h"
#include "wire/json/json.h"

// `fairlead ha transfer`: the leadership of several resource managers is moved, as `yarn rmadmin -transitionToActive
// --forcemanual` does, and without a question.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;
namespace h = wire::hadoop_rpc;

struct TransferOptions {
  std::string to;
};

/// What a manager says of itself; empty where it does not answer, an Error where it refuses the caller.
base::Result<ordered_json> InfoOf(Cluster& cluster, const std::string& page) {
  const auto answer = cluster.client->GetUrl(page + "/ws/v1/cluster/info");
  if (!answer.ok() && answer.error().code == shell::kRmRefused) return answer.error();
  if (!answer.ok() || answer->status != 200) return ordered_json::object();
  auto told = wire::json::ParseOrdered(answer->body, wire::json::kAnswer);
  if (!told || !told->is_object()) return ordered_json::object();
  return told->value("clusterInfo", ordered_json::object());
}

/// Fairlead's managers alone choose their leader so that two never act: Hadoop's does as it is told.
base::Status CheckHeir(Cluster& cluster, const std::string& id, const std::string& page) {
  const base::Result<ordered_json> info = InfoOf(cluster, page);
  if (!info.ok()) return info.error();
  if (info->empty()) {
    return base::Error{id + " at " + page + " does not answer, so the leadership stays where it is; start it first",
                       shell::kRmUnreachable};
  }
  const auto own = cluster.client->GetUrl(page + "/fairlead/v1/ha");
  if (own.ok() && own->status == 200) return {};
  return base::Error{id + " is another resource manager than Fairlead's; 'yarn rmadmin -failover' is for it",
                     shell::kRmRefused};
}

int Tell(const Command& command, const std::string& to, const std::string& before) {
  if (command.options.json) {
    PrintDocument(LeaderMoved{to, before});
  } else if (to == before) {
    std::printf("%s leads already\n", to.c_str());
  } else {
    std::printf("%s leads%s\n", to.c_str(), before.empty() ? "" : (", " + before + " did before").c_str());
  }
  return kOk;
}

int Transfer(const Command& command, Cluster& cluster, TransferOptions& options) {
  std::string known, page, before;
  for (const auto& [id, its_page] : cluster.client->Managers()) {
    known += (known.empty() ? "" : ", ") + id;
    if (id == options.to) page = its_page;
    const base::Result<ordered_json> info = InfoOf(cluster, its_page);
    if (info.ok() && info->value("haState", "") == "ACTIVE") before = id;
  }
  if (known.empty()) {
    return Complain(command.name, "one resource manager runs alone here (yarn.resourcemanager.ha.enabled is false)",
                    kFailed);
  }
  if (page.empty())
    return Complain(command.name, "there is no manager " + options.to + "; there are " + known, kNotFound);
  if (const base::Status heir = CheckHeir(cluster, options.to, page); !heir.ok()) return command.Fail(heir.error());
  if (before == options.to) return Tell(command, options.to, before);
  h::TransitionToActiveRequestProto request;
  request.req_info.req_source = h::HARequestSourceProto::kUserForced;
  const auto moved =
      shell::CallHa(cluster.settings.conf, cluster.client->user(), options.to, "transitionToActive", request.Encode());
  return moved.ok() ? Tell(command, options.to, before) : command.Fail(moved.error());
}

}  // namespace

void AddHa(CLI::App& app, int& exit_code) {
  CLI::App* ha = app.add_subcommand("ha", "Move the leadership of several resource managers");
  ha->require_subcommand(1);
  auto options = std::make_shared<TransferOptions>();
  CLI::App* transfer = AddClusterCommand<TransferOptions>(
      *ha, exit_code, "transfer", "Make one of several resource managers the leader, and wait until it leads", options,
      Transfer);
  transfer->add_option("manager", options->to, "its id among yarn.resourcemanager.ha.rm-ids")->required();
  transfer->footer(
      "The leader steps down first. Applications and containers go on; calls wait meanwhile. Nothing changes where "
      "the\n"
      "named manager does not answer. For administrators (yarn.admin.acl).\n"
      "Examples:\n  fairlead ha transfer rm2 --hadoop-conf /etc/hadoop/conf\n  fairlead ha transfer rm1 --json");
}

}  // namespace fairlead::apps
