#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/descriptions.h"
#include "endpoints/spark/object_fields.h"
#include "endpoints/spark/rpc_message.h"
#include "endpoints/spark/spark_build.h"
#include "endpoints/spark/states.h"
#include "wire/java_stream/graph.h"

// What a Standalone Worker and its Master say to each other (org.apache.spark.deploy.DeployMessages, equal in Spark 3.5
// and 4.x but for the shapes of Scala's values).

namespace fairlead::endpoints::spark {

/// Custom resources and their addresses: Map[String, ResourceInformation]. At most four, in any order.
using Resources = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// org.apache.spark.deploy.ExecutorDescription.
struct ExecutorDescription {
  std::string application;
  int32_t executor = 0;
  int32_t profile = 0;
  int32_t cores = 0;
  int32_t memory_mib = 0;
  ExecutorState state = ExecutorState::kRunning;
};

// ---- of a worker ---------------------------------------------------------------------------------------------------

struct RegisterWorker {
  std::string id;
  std::string host;
  int32_t port = 0;
  EndpointReference worker;
  int32_t cores = 0;
  int32_t memory_mib = 0;
  std::string web_url;
  RpcAddress master;  // as the worker knows it
  Resources resources;
  int64_t suid = 0;  // of the message's class, where it was read: it tells Spark's build
};
struct Heartbeat {
  std::string worker;
  EndpointReference reference;
};
/// An ask, answered by a Boolean.
struct ExecutorStateChanged {
  std::string application;
  int32_t executor = 0;
  ExecutorState state = ExecutorState::kRunning;
  std::optional<std::string> message;
  std::optional<int32_t> exit_status;
};
/// An ask, answered by a Boolean.
struct DriverStateChanged {
  std::string driver;
  DriverState state = DriverState::kFinished;
  std::optional<std::string> exception;  // read: its class and message; written: the message
};
/// What runs on a worker that was just registered; the master has what it does not know killed.
struct WorkerLatestState {
  std::string worker;
  std::vector<ExecutorDescription> executors;
  std::vector<std::string> drivers;
};
struct RunningExecutor {
  ExecutorDescription description;
  Resources resources;
};
struct RunningDriver {
  std::string driver;
  Resources resources;
};
/// The answer to MasterChanged.
struct WorkerSchedulerStateResponse {
  std::string worker;
  std::vector<RunningExecutor> executors;
  std::vector<RunningDriver> drivers;
};
/// It will end soon and takes nothing more.
struct WorkerDecommissioning {
  std::string worker;
  EndpointReference reference;
};

using WorkerMessage = std::variant<RegisterWorker, Heartbeat, ExecutorStateChanged, DriverStateChanged,
                                   WorkerLatestState, WorkerSchedulerStateResponse, WorkerDecommissioning>;

// ---- of a master ---------------------------------------------------------------------------------------------------

struct RegisteredWorker {
  EndpointReference master;
  std::string web_url;
  RpcAddress dialled;  // RegisterWorker's `master`
  bool duplicate = false;
};
struct RegisterWorkerFailed {
  std::string message;
};
struct MasterInStandby {};
/// The master does not know the worker: it shall register again.
struct ReconnectWorker {
  std::string master_url;
};
struct LaunchExecutor {
  std::string master_url;
  std::string application;
  int32_t executor = 0;
  int32_t profile = 0;
  ApplicationDescription description;
  int32_t cores = 0;
  int32_t memory_mib = 0;
  Resources resources;
};
struct LaunchDriver {
  std::string driver;
  DriverDescription description;
  Resources resources;
};
struct KillExecutor {
  std::string master_url;
  std::string application;
  int32_t executor = 0;
};
struct KillDriver {
  std::string driver;
};
struct ApplicationFinished {
  std::string application;
};
struct MasterChanged {
  EndpointReference master;
  std::string web_url;
};
struct DecommissionWorker {};

using MasterMessage =
    std::variant<RegisteredWorker, RegisterWorkerFailed, MasterInStandby, ReconnectWorker, LaunchExecutor, LaunchDriver,
                 KillExecutor, KillDriver, ApplicationFinished, MasterChanged, DecommissionWorker>;

// ---- reading and writing -------------------------------------------------------------------------------------------

/// A message of a worker; nothing when the object is of another class. Fails for one whose parts are not of the kinds
/// or within the bounds that belong there.
base::Result<std::optional<WorkerMessage>> DecodeWorkerMessage(const wire::java_stream::Graph& graph);
base::Result<std::optional<MasterMessage>> DecodeMasterMessage(const wire::java_stream::Graph& graph);

std::string Encode(const SparkBuild& build, const WorkerMessage& message);
/// LaunchExecutor and LaunchDriver carry the description that was `kept` (known_description.h) of what the
/// application's driver or whoever submitted the driver sent; without one a driver's is made of the message's own.
std::string Encode(const SparkBuild& build, const MasterMessage& message, std::string_view kept = {});

}  // namespace fairlead::endpoints::spark
