#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/nm.h"
#include "wire/yarn/container_manager.h"
#include "wire/yarn/tokens.h"
#include "wire/yarn/tracker.h"

// Between the nm core's events and effects and the messages of ContainerManagementProtocol (served) and ResourceTracker
// (called). What comes from outside is checked here as far as no state is needed.

namespace fairlead::endpoints::yarn {

/// One container of startContainers: a verified token's identifier and the launch context. The error says what is
/// missing or cannot be honoured, in Hadoop's words where it has some.
base::Result<model::nm::ContainerSpec> ContainerSpecOf(const wire::yarn::ContainerTokenIdentifierProto& token,
                                                       const wire::yarn::ContainerLaunchContextProto& context);
/// Local resources as a launch context or a localize call names them.
base::Result<std::vector<model::nm::LocalResource>> ResourcesOf(
    const std::vector<wire::yarn::StringLocalResourceMapProto>& entries);
/// What an update token says.
model::nm::ContainerSpec ContainerSpecOf(const wire::yarn::ContainerTokenIdentifierProto& token);

/// The launch context's parts that only the launcher needs, from ContainerSpec::context.
struct LaunchContext {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> commands;
  std::string tokens;
};
base::Result<LaunchContext> LaunchContextOf(const model::nm::ContainerSpec& spec);

/// scheme://[user@]host[:port]/path.
std::string UrlText(const wire::yarn::URLProto& url);

wire::yarn::SerializedExceptionProto SerializedException(std::string_view java_class, std::string_view message);
wire::yarn::ContainerStatusProto ContainerStatusOf(const model::nm::ContainerReport& report, std::string_view host);

wire::yarn::StartContainersResponseProto StartResponse(
    const model::nm::CallAnswer& answer, const std::vector<std::pair<std::string, std::string>>& services);
wire::yarn::StopContainersResponseProto StopResponse(const model::nm::CallAnswer& answer);
wire::yarn::ContainerUpdateResponseProto UpdateResponse(const model::nm::CallAnswer& answer);
wire::yarn::IncreaseContainersResourceResponseProto IncreaseResponse(const model::nm::CallAnswer& answer);

/// Who this node is.
struct NodeIdentity {
  std::string host;
  int32_t port = 0;
  int32_t http_port = 0;
  std::string version;  // Hadoop's, for a resource manager that sets a minimum
  std::string label;    // yarn.nodemanager.node-labels; empty: none
  model::Resources physical;
};
wire::yarn::RegisterNodeManagerRequestProto RegisterRequest(const NodeIdentity& node, const model::nm::Register& call);
wire::yarn::NodeHeartbeatRequestProto HeartbeatRequest(const NodeIdentity& node, const model::nm::Heartbeat& call);
model::nm::Registered RegisteredOf(const wire::yarn::RegisterNodeManagerResponseProto& response);
model::nm::HeartbeatAnswered HeartbeatAnsweredOf(const wire::yarn::NodeHeartbeatResponseProto& response);

}  // namespace fairlead::endpoints::yarn
