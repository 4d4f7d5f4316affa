#include "endpoints/spark/spark_build.h"

#include <span>
#include <vector>

namespace fairlead::endpoints::spark {
namespace {

namespace js = wire::java_stream;

constexpr const char* kRegisterApplication = "org.apache.spark.deploy.DeployMessages$RegisterApplication";
constexpr const char* kModuleProxy = "scala.runtime.ModuleSerializationProxy";

/// Of org.apache.spark.deploy.DeployMessages.
constexpr const char* kMessages[] = {
    "RegisterApplication", "RegisteredApplication", "ExecutorAdded", "ExecutorUpdated", "ApplicationRemoved",
    "MasterChanged", "WorkerRemoved",
    // between workers and their master
    "RegisterWorker", "Heartbeat", "ExecutorStateChanged", "DriverStateChanged", "WorkerLatestState",
    "WorkerSchedulerStateResponse", "WorkerExecutorStateResponse", "WorkerDriverStateResponse", "WorkerDecommissioning",
    "RegisteredWorker", "RegisterWorkerFailed", "MasterInStandby$", "ReconnectWorker", "LaunchExecutor", "LaunchDriver",
    "KillExecutor", "KillDriver", "ApplicationFinished", "DecommissionWorker$",
    // for spark-submit
    "SubmitDriverResponse", "KillDriverResponse", "DriverStatusResponse"};
constexpr const char* kAlways[] = {
    "org.apache.spark.deploy.ApplicationDescription",
    "org.apache.spark.deploy.Command",
    "org.apache.spark.deploy.DriverDescription",
    "org.apache.spark.deploy.ExecutorDescription",
    "org.apache.spark.deploy.ExecutorState$",
    "org.apache.spark.deploy.master.DriverState$",
    "org.apache.spark.resource.ExecutorResourceRequest",
    "org.apache.spark.resource.ResourceInformation",
    kResourceProfile,
    "org.apache.spark.resource.ResourceRequirement",
    "org.apache.spark.resource.TaskResourceRequest",
    "org.apache.spark.rpc.RpcAddress",
    "org.apache.spark.rpc.RpcEndpointAddress",
    "org.apache.spark.rpc.RpcTimeout",
    "org.apache.spark.rpc.netty.NettyRpcEndpointRef",
    "org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence",
    "scala.Some",
    "scala.None$",
    "scala.Tuple2",
    "scala.Enumeration$Val",
    "scala.collection.immutable.Map$EmptyMap$",
    "scala.collection.immutable.Map$Map1",
    "scala.collection.immutable.Map$Map2",
    "scala.collection.immutable.Map$Map3",
    "scala.collection.immutable.Map$Map4",
    "scala.concurrent.duration.FiniteDuration",
};
/// What drivers write and masters only read.
constexpr const char* kOfDrivers[] = {
    "org.apache.spark.deploy.DeployMessages$KillExecutors",
    "org.apache.spark.deploy.DeployMessages$MasterChangeAcknowledged",
    "org.apache.spark.deploy.DeployMessages$RequestExecutors",
    "org.apache.spark.deploy.DeployMessages$UnregisterApplication",
};
/// How lists, maps and enumerations are written without module proxies, and with them.
constexpr const char* kScala212[] = {
    "scala.collection.mutable.ArraySeq",
    "scala.collection.mutable.HashMap",
    "scala.collection.immutable.HashMap$SerializationProxy",
    "scala.collection.immutable.List$SerializationProxy",
    "scala.collection.immutable.ListSerializeEnd$",
};
constexpr const char* kScala213[] = {
    kModuleProxy,
    "scala.collection.IterableFactory$ToFactory",
    "scala.collection.MapFactory$ToFactory",
    "scala.collection.generic.DefaultSerializationProxy",
    "scala.collection.generic.SerializeEnd$",
    "scala.collection.immutable.ArraySeq$ofRef",
    "scala.collection.immutable.HashMap$",
    "scala.collection.immutable.List$",
    "scala.collection.mutable.HashMap$DeserializationFactory",
};
/// Not every release has them.
constexpr const char* kWherePresent[] = {
    "org.apache.spark.deploy.DeployMessages$KillAllDriversResponse",  // Spark 4
    kTaskResourceProfile,                                             // Spark 3.4
};

}  // namespace

int64_t SparkBuild::registration_suid() const { return classes.at(kRegisterApplication).suid; }
int64_t SparkBuild::worker_suid() const {
  return classes.at("org.apache.spark.deploy.DeployMessages$RegisterWorker").suid;
}
bool SparkBuild::has_module_proxies() const { return classes.count(kModuleProxy) != 0; }

base::Result<SparkBuild> DescribeSparkBuild(const std::string& home, const std::string& release,
                                            const js::ClassSource& source) {
  SparkBuild build{home, release, {}};
  std::vector<std::string> names(std::begin(kAlways), std::end(kAlways));
  for (const char* name : kMessages) names.push_back(std::string("org.apache.spark.deploy.DeployMessages$") + name);
  const bool proxies = source(kModuleProxy).has_value();
  using Names = std::span<const char* const>;
  const Names shapes = proxies ? Names(kScala213) : Names(kScala212);
  names.insert(names.end(), shapes.begin(), shapes.end());
  for (const char* name : kWherePresent) {
    if (source(name)) names.emplace_back(name);
  }
  for (const std::string& name : names) {
    if (const base::Status added = js::AddClass(name, source, build.classes); !added) return added.error();
  }
  return build;
}

base::Status AddDriverClasses(const js::ClassSource& source, SparkBuild& build) {
  for (const char* name : kOfDrivers) {
    if (const base::Status added = js::AddClass(name, source, build.classes); !added) return added.error();
  }
  return {};
}

}  // namespace fairlead::endpoints::spark
