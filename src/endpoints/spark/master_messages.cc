#include "endpoints/spark/master_messages.h"

#include "endpoints/spark/message_values.h"
#include "endpoints/spark/states.h"
#include "wire/java_stream/writer.h"

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;
using js::Ref;

std::string EncodeBoolean(bool value) {
  static const js::ClassCatalog kBoolean = [] {
    js::ClassCatalog catalog;
    (void)js::AddClass(
        "java.lang.Boolean", [](std::string_view) { return std::nullopt; }, catalog)
        .ok();
    return catalog;
  }();
  js::Builder builder(kBoolean);
  const Ref boxed = builder.NewObject("java.lang.Boolean");
  builder.SetNumber(boxed, "value", value);
  builder.graph().contents.emplace_back(boxed);
  return js::WriteStream(builder.graph());
}

bool IsTrue(const js::Graph& reply) {
  const auto value = reply.FieldOf(reply.Root(), "value", 'Z');
  return reply.ClassName(reply.Root()) == "java.lang.Boolean" && value && *value != 0;
}

std::string EncodeCheckExistence(const SparkBuild& build, const std::string& name) {
  MessageWriter out(build, "org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence");
  return out.Set("name", name).Written();
}

std::string EncodeRegistered(const SparkBuild& build, const std::string& application, const RpcAddress& master) {
  MessageWriter out(build, "RegisteredApplication");
  return out.Set("appId", application).Set("master", out.Reference(master, kMasterEndpoint)).Written();
}

std::string EncodeMasterChanged(const SparkBuild& build, const RpcAddress& master, const std::string& web_url) {
  MessageWriter out(build, "MasterChanged");
  return out.Set("master", out.Reference(master, kMasterEndpoint)).Set("masterWebUiUrl", web_url).Written();
}

std::string Encode(const SparkBuild& build, const ExecutorAdded& added) {
  MessageWriter out(build, "ExecutorAdded");
  out.SetNumber("id", added.id).Set("workerId", added.worker_id).Set("hostPort", added.host_port);
  return out.SetNumber("cores", added.cores).SetNumber("memory", added.memory_mib).Written();
}

std::string Encode(const SparkBuild& build, const ExecutorUpdated& updated) {
  MessageWriter out(build, "ExecutorUpdated");
  out.SetNumber("id", updated.id).Set("exitStatus", out.Option(updated.exit_status));
  out.Set("message", out.Option(updated.message));
  out.Set("state", out.State(ExecutorStates(), static_cast<int32_t>(updated.state)));
  return out.Set("workerHost", out.Option(updated.worker_host)).Written();
}

std::string Encode(const SparkBuild& build, const WorkerRemoved& removed) {
  MessageWriter out(build, "WorkerRemoved");
  return out.Set("id", removed.id).Set("host", removed.host).Set("message", removed.message).Written();
}

std::string EncodeRemoved(const SparkBuild& build, const std::string& reason) {
  MessageWriter out(build, "ApplicationRemoved");
  return out.Set("message", reason).Written();
}

}  // namespace fairlead::endpoints::spark
