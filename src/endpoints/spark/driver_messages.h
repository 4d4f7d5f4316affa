#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/descriptions.h"
#include "endpoints/spark/rpc_message.h"
#include "wire/java_stream/graph.h"

// What an application's driver says to a Standalone Master (org.apache.spark.deploy.DeployMessages, equal in Spark 3.5
// and 4.x but for the shapes of Scala's values).

namespace fairlead::endpoints::spark {

/// Asks whether there is an endpoint (org.apache.spark.rpc.netty.RpcEndpointVerifier).
struct CheckExistence {
  std::string name;
};
struct RegisterApplication {
  ApplicationDescription application;
  RpcAddress driver;            // where the driver listens
  std::string driver_endpoint;  // "AppClient"
  int64_t suid = 0;             // of the message's class: it tells Spark's build
  /// The message itself, and in it the description, until the build is known.
  wire::java_stream::Graph graph;
  wire::java_stream::Ref description = wire::java_stream::kNull;
  /// Then what is stored of it and sent to workers (known_description.h).
  std::string kept;
};
struct UnregisterApplication {
  std::string application;
};
/// How many executors of each profile there shall be in all.
struct RequestExecutors {
  std::string application;
  std::vector<std::pair<ResourceProfile, int32_t>> totals;
};
struct KillExecutors {
  std::string application;
  std::vector<std::string> executors;
};
struct MasterChangeAcknowledged {
  std::string application;
};
/// Any other object.
struct OtherMessage {
  std::string class_name;
  wire::java_stream::Graph graph;
};
using DriverMessage = std::variant<CheckExistence, RegisterApplication, UnregisterApplication, RequestExecutors,
                                   KillExecutors, MasterChangeAcknowledged, OtherMessage>;

/// The object that is the content of a message to an endpoint. Fails for what is no object stream and for a stream
/// beyond the reader's limits.
base::Result<wire::java_stream::Graph> DecodeObject(std::string_view content);
/// A message of a driver. Fails for one whose parts are not of the kinds that belong there.
base::Result<DriverMessage> DecodeDriverMessage(wire::java_stream::Graph graph);
base::Result<DriverMessage> DecodeDriverMessage(std::string_view content);

}  // namespace fairlead::endpoints::spark
