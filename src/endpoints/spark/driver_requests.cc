#include "endpoints/spark/driver_requests.h"

#include <utility>
#include <vector>

#include "endpoints/spark/message_values.h"

namespace fairlead::endpoints::spark {

namespace {

using Ref = MessageWriter::Ref;

Ref Need(MessageWriter& out, const char* name, int64_t amount) {
  const Ref made = out.builder().NewObject("org.apache.spark.resource.ExecutorResourceRequest");
  out.builder().SetRef(made, "resourceName", out.Text(name));
  out.builder().SetNumber(made, "amount", amount);
  out.builder().SetRef(made, "discoveryScript", out.Text(""));
  out.builder().SetRef(made, "vendor", out.Text(""));
  return made;
}

Ref Made(MessageWriter& out, const ResourceProfile& profile) {
  std::vector<std::pair<Ref, Ref>> needs = {{out.Text("memory"), Need(out, "memory", profile.memory_mib)}};
  if (profile.cores > 0) needs.emplace_back(out.Text("cores"), Need(out, "cores", profile.cores));
  const Ref made = out.builder().NewObject(kResourceProfile);
  out.builder().SetNumber(made, "_id", profile.id);
  out.builder().SetRef(made, "executorResources", out.SmallMap(needs));
  out.builder().SetRef(made, "taskResources", out.SmallMap({}));
  for (const char* unknown : {"_executorResourceSlotsPerAddr", "_limitingResource", "_maxTasksPerExecutor"}) {
    out.builder().SetRef(made, unknown, out.None());
  }
  return made;
}

Ref Made(MessageWriter& out, const ApplicationDescription& application) {
  const Ref made = out.builder().NewObject("org.apache.spark.deploy.ApplicationDescription");
  out.builder().SetRef(made, "name", out.Text(application.name));
  out.builder().SetRef(made, "user", out.Text(application.user));
  out.builder().SetRef(made, "appUiUrl", out.Text(application.ui_url));
  out.builder().SetRef(made, "maxCores", out.Option(application.cores_max));
  out.builder().SetRef(made, "initialExecutorLimit", out.Option(application.initial_executor_limit));
  out.builder().SetRef(made, "command", WriteCommand(out, application.command));
  out.builder().SetRef(made, "defaultProfile", Made(out, application.profile));
  out.builder().SetRef(made, "eventLogDir", out.None());
  out.builder().SetRef(made, "eventLogCodec", out.None());
  return made;
}

/// A message of nothing but the application's id.
std::string OfApplication(const SparkBuild& build, const char* message, const std::string& application) {
  MessageWriter out(build, message);
  return out.Set("appId", application).Written();
}

}  // namespace

std::string EncodeRegistration(const SparkBuild& build, const ApplicationDescription& application,
                               const EndpointReference& driver) {
  MessageWriter out(build, "RegisterApplication");
  out.Set("appDescription", Made(out, application)).Set("driver", out.Reference(driver.address, driver.name));
  return out.Written();
}

std::string EncodeMasterChangeAcknowledged(const SparkBuild& build, const std::string& application) {
  return OfApplication(build, "MasterChangeAcknowledged", application);
}

std::string EncodeRequestExecutors(const SparkBuild& build, const std::string& application,
                                   const ResourceProfile& profile, int32_t total) {
  MessageWriter out(build, "RequestExecutors");
  out.Set("appId", application);
  out.Set("resourceProfileToTotalExecs", out.SmallMap({{Made(out, profile), out.Integer(total)}}));
  return out.Written();
}

std::string EncodeKillExecutors(const SparkBuild& build, const std::string& application,
                                const std::vector<std::string>& executors) {
  MessageWriter out(build, "KillExecutors");
  return out.Set("appId", application).Set("executorIds", out.Texts(executors)).Written();
}

std::string EncodeUnregisterApplication(const SparkBuild& build, const std::string& application) {
  return OfApplication(build, "UnregisterApplication", application);
}

}  // namespace fairlead::endpoints::spark
