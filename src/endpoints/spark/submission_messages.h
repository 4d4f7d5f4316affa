#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "endpoints/spark/descriptions.h"
#include "endpoints/spark/rpc_message.h"
#include "endpoints/spark/spark_build.h"
#include "endpoints/spark/states.h"
#include "wire/java_stream/graph.h"

// What `spark-submit --deploy-mode cluster` asks a Standalone Master by RPC (org.apache.spark.deploy.Client), and the
// answers.

namespace fairlead::endpoints::spark {

struct RequestSubmitDriver {
  DriverDescription description;
  wire::java_stream::Ref stored = wire::java_stream::kNull;  // where the description is in the message
};
struct RequestKillDriver {
  std::string driver;
};
struct RequestKillAllDrivers {};
struct RequestDriverStatus {
  std::string driver;
};
using SubmissionMessage =
    std::variant<RequestSubmitDriver, RequestKillDriver, RequestKillAllDrivers, RequestDriverStatus>;

/// A request; nothing when the object is of another class. Fails for one whose parts are not of the kinds that belong
/// there.
base::Result<std::optional<SubmissionMessage>> DecodeSubmissionMessage(const wire::java_stream::Graph& graph);

struct SubmitDriverResponse {
  RpcAddress master;
  bool success = false;
  std::optional<std::string> driver;
  std::string message;
};
struct KillDriverResponse {
  RpcAddress master;
  std::string driver;
  bool success = false;
  std::string message;
};
/// Spark 4 alone has it.
struct KillAllDriversResponse {
  RpcAddress master;
  bool success = false;
  std::string message;
};
struct DriverStatusResponse {
  bool found = false;
  std::optional<DriverState> state;
  std::optional<std::string> worker;
  std::optional<std::string> worker_address;
};
std::string Encode(const SparkBuild& build, const SubmitDriverResponse& response);
std::string Encode(const SparkBuild& build, const KillDriverResponse& response);
std::string Encode(const SparkBuild& build, const KillAllDriversResponse& response);
std::string Encode(const SparkBuild& build, const DriverStatusResponse& response);

}  // namespace fairlead::endpoints::spark
