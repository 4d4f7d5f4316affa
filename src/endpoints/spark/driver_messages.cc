#include "endpoints/spark/driver_messages.h"

#include <algorithm>
#include <set>

#include "endpoints/spark/object_fields.h"
#include "wire/java_stream/reader.h"

namespace fairlead::endpoints::spark {
namespace {

namespace js = wire::java_stream;
using js::Ref;

constexpr std::string_view kDeployMessages = "org.apache.spark.deploy.DeployMessages$";
constexpr int32_t kExecutorsMax = 1'000'000;

RegisterApplication ReadRegistration(Fields& in, const js::Graph& graph, Ref root) {
  RegisterApplication message;
  message.suid = graph.Get<js::Class>(graph.Get<js::Object>(root)->type)->suid;
  message.application = ReadApplication(in, in.Object(root, "appDescription"));
  message.description = in.Object(root, "appDescription");
  EndpointReference driver = in.Reference(root, "driver");
  message.driver = std::move(driver.address);
  message.driver_endpoint = std::move(driver.name);
  return message;
}

RequestExecutors ReadRequest(Fields& in, Ref root) {
  RequestExecutors message;
  message.application = in.Text(root, "appId");
  std::set<Ref> seen;
  for (const auto& [profile, total] : in.Entries(root, "resourceProfileToTotalExecs")) {
    // Keys of a map differ: nothing is read as often as something refers to it.
    if (!seen.insert(profile).second) in.Fail("resourceProfileToTotalExecs", "a profile stands there twice");
    if (!in.Charge(sizeof(ResourceProfile))) break;
    message.totals.emplace_back(ReadProfile(in, profile), in.IntAt(total, "resourceProfileToTotalExecs"));
    const int32_t count = message.totals.back().second;
    if (count < 0) in.Fail("resourceProfileToTotalExecs", "a total of " + std::to_string(count));
    message.totals.back().second = std::min(count, kExecutorsMax);
  }
  return message;
}

}  // namespace

base::Result<js::Graph> DecodeObject(std::string_view content) {
  auto graph = js::ReadStream(content, kSparkMessage);
  if (!graph) return graph.error();
  if (graph->Get<js::Object>(graph->Root()) == nullptr) return base::Error{"a message that is no object"};
  return graph;
}

base::Result<DriverMessage> DecodeDriverMessage(std::string_view content) {
  auto graph = DecodeObject(content);
  if (!graph) return graph.error();
  return DecodeDriverMessage(std::move(*graph));
}

base::Result<DriverMessage> DecodeDriverMessage(js::Graph graph) {
  const Ref root = graph.Root();
  const std::string type(graph.ClassName(root));
  const auto is = [&](std::string_view name) { return type == std::string(kDeployMessages) + std::string(name); };

  Fields in(graph);
  DriverMessage message = OtherMessage{type, {}};
  if (type == "org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence") {
    message = CheckExistence{in.Text(root, "name")};
  } else if (is("RegisterApplication")) {
    message = ReadRegistration(in, graph, root);
  } else if (is("UnregisterApplication")) {
    message = UnregisterApplication{in.Text(root, "appId")};
  } else if (is("RequestExecutors")) {
    message = ReadRequest(in, root);
  } else if (is("KillExecutors")) {
    message = KillExecutors{in.Text(root, "appId"), in.Texts(root, "executorIds")};
  } else if (is("MasterChangeAcknowledged")) {
    message = MasterChangeAcknowledged{in.Text(root, "appId")};
  }
  if (!in.error().empty()) return base::Error{type + ": " + in.error()};
  if (auto* registration = std::get_if<RegisterApplication>(&message)) {
    registration->graph = std::move(graph);
  } else if (auto* other = std::get_if<OtherMessage>(&message)) {
    other->graph = std::move(graph);
  }
  return message;
}

}  // namespace fairlead::endpoints::spark
