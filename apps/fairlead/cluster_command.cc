#include "cluster_command.h"

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

ordered_json FairleadDetail(Cluster& cluster, const std::string& id) {
  const auto answer = cluster.client->Get("/fairlead/v1/apps/" + id);
  if (!answer.ok() || answer->status != 200) return nullptr;
  return ordered_json::parse(answer->body, nullptr, false);
}

}  // namespace fairlead::apps
