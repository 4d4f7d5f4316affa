#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "endpoints/spark/rpc_message.h"
#include "wire/java_stream/graph.h"

// What an application's driver says to a Standalone Master (org.apache.spark.deploy.DeployMessages, equal in Spark 3.5
// and 4.x but for the shapes of Scala's values).

namespace fairlead::endpoints::spark {

/// org.apache.spark.resource.ResourceProfile, or a TaskResourceProfile, which says nothing of executors: what one
/// executor needs. 0: not said.
struct ResourceProfile {
  int32_t id = 0;
  int32_t cores = 0;
  int64_t memory_mib = 0;
  int64_t off_heap_mib = 0;
  int64_t pyspark_mib = 0;
  std::optional<int64_t> overhead_mib;
  std::vector<std::string> other;  // names of further resources ("gpu") with an amount above 0
  FL_FIELDS(id, cores, memory_mib, off_heap_mib, pyspark_mib, overhead_mib, other)
  friend bool operator==(const ResourceProfile&, const ResourceProfile&) = default;
};

/// How an executor is started; arguments hold placeholders ("{{EXECUTOR_ID}}").
struct Command {
  std::string main_class;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  std::vector<std::string> class_path;
  std::vector<std::string> library_path;
  std::vector<std::string> java_options;
};

struct ApplicationDescription {
  std::string name;
  std::string user;
  std::string ui_url;
  std::optional<int32_t> cores_max;               // spark.cores.max
  std::optional<int32_t> initial_executor_limit;  // 0 under dynamic allocation
  Command command;
  ResourceProfile profile;
};

/// Asks whether there is an endpoint (org.apache.spark.rpc.netty.RpcEndpointVerifier).
struct CheckExistence {
  std::string name;
};
struct RegisterApplication {
  ApplicationDescription application;
  RpcAddress driver;            // where the driver listens
  std::string driver_endpoint;  // "AppClient"
  int64_t suid = 0;             // of the message's class: it tells Spark's build
  /// The message itself, and in it the reference to the driver's endpoint: answers are made after its pattern.
  wire::java_stream::Graph graph;
  wire::java_stream::Ref driver_reference = wire::java_stream::kNull;
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
};
using DriverMessage = std::variant<CheckExistence, RegisterApplication, UnregisterApplication, RequestExecutors,
                                   KillExecutors, MasterChangeAcknowledged, OtherMessage>;

/// Decodes the content of a message to an endpoint. Fails for what is no object stream, for a stream beyond the
/// reader's limits and for a message whose parts are not of the kinds that belong there.
base::Result<DriverMessage> DecodeDriverMessage(std::string_view content);

}  // namespace fairlead::endpoints::spark
