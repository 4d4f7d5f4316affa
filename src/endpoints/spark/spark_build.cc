#include "endpoints/spark/spark_build.h"

namespace fairlead::endpoints::spark {
namespace {

namespace js = wire::java_stream;

constexpr const char* kRegisterApplication = "org.apache.spark.deploy.DeployMessages$RegisterApplication";
constexpr const char* kModuleProxy = "scala.runtime.ModuleSerializationProxy";

constexpr const char* kAlways[] = {
    kRegisterApplication,
    "org.apache.spark.deploy.DeployMessages$RegisteredApplication",
    "org.apache.spark.deploy.DeployMessages$ExecutorAdded",
    "org.apache.spark.deploy.DeployMessages$ExecutorUpdated",
    "org.apache.spark.deploy.DeployMessages$ApplicationRemoved",
    "org.apache.spark.deploy.DeployMessages$MasterChanged",
    "org.apache.spark.deploy.ExecutorState$",
    "scala.Some",
    "scala.None$",
    "scala.Enumeration$Val",
    "java.lang.Integer",
};
/// How ExecutorState is written without module proxies.
constexpr const char* kScala212[] = {
    "scala.collection.mutable.HashMap",
    "scala.collection.immutable.List$SerializationProxy",
    "scala.collection.immutable.ListSerializeEnd$",
};

}  // namespace

int64_t SparkBuild::registration_suid() const { return classes.at(kRegisterApplication).suid; }
bool SparkBuild::has_module_proxies() const { return classes.count(kModuleProxy) != 0; }

base::Result<SparkBuild> DescribeSparkBuild(const std::string& home, const std::string& release,
                                            const js::ClassSource& source) {
  SparkBuild build{home, release, {}};
  for (const char* name : kAlways) {
    if (const base::Status added = js::AddClass(name, source, build.classes); !added) return added.error();
  }
  if (source(kModuleProxy)) {
    if (const base::Status added = js::AddClass(kModuleProxy, source, build.classes); !added) return added.error();
    return build;
  }
  for (const char* name : kScala212) {
    if (const base::Status added = js::AddClass(name, source, build.classes); !added) return added.error();
  }
  return build;
}

}  // namespace fairlead::endpoints::spark
