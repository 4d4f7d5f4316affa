#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "endpoints/spark/rpc_message.h"
#include "endpoints/spark/spark_build.h"
#include "endpoints/spark/states.h"
#include "wire/java_stream/graph.h"

// What a Standalone Master says to a driver, as object streams with the bytes that a master of the driver's own build
// writes.

namespace fairlead::endpoints::spark {

struct ExecutorAdded {
  int32_t id = 0;
  std::string worker_id;
  std::string host_port;
  int32_t cores = 1;
  int32_t memory_mib = 0;
};
struct ExecutorUpdated {
  int32_t id = 0;
  ExecutorState state = ExecutorState::kRunning;
  std::optional<std::string> message;
  std::optional<int32_t> exit_status;
  /// Set only when the whole node is gone: the driver then forgets every map output on it.
  std::optional<std::string> worker_host;
};

/// A worker is gone: the driver forgets what its shuffle service kept.
struct WorkerRemoved {
  std::string id;
  std::string host;
  std::string message;
};

/// The endpoint's name of every Standalone Master.
inline constexpr const char* kMasterEndpoint = "Master";

/// Our Worker and our Master know each other by it: each has an endpoint of this name, and Spark's have none. A worker
/// whose master has it keeps its executors and drivers over kAbsence, and a master whose worker asked for it waits.
inline constexpr const char* kKeepingEndpoint = "FairleadKeeps";
/// Asked for by a worker that ends in order: nobody has to wait for it.
inline constexpr const char* kLeavingEndpoint = "FairleadLeaves";
inline constexpr base::Duration kAbsence = base::Duration::Seconds(10);

/// Where it is asked whether there is an endpoint, of every process of Spark's (RpcEndpointVerifier).
inline constexpr const char* kVerifierEndpoint = "endpoint-verifier";
std::string EncodeCheckExistence(const SparkBuild& build, const std::string& name);
/// A reply to an ask: java.lang.Boolean.
std::string EncodeBoolean(bool value);
bool IsTrue(const wire::java_stream::Graph& reply);
std::string EncodeRegistered(const SparkBuild& build, const std::string& application, const RpcAddress& master);
/// MasterChanged: another master has taken over. Workers are told the same.
std::string EncodeMasterChanged(const SparkBuild& build, const RpcAddress& master, const std::string& web_url);
std::string Encode(const SparkBuild& build, const ExecutorAdded& message);
std::string Encode(const SparkBuild& build, const ExecutorUpdated& message);
std::string Encode(const SparkBuild& build, const WorkerRemoved& message);
/// ApplicationRemoved: ends the driver with `message`.
std::string EncodeRemoved(const SparkBuild& build, const std::string& message);

}  // namespace fairlead::endpoints::spark
