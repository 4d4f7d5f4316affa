#include "endpoints/spark/recovery_files.h"

#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/known_description.h"
#include "endpoints/spark/object_fields.h"

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;
using js::Ref;

namespace {

/// Reads the object of one class that a file holds.
template <class T, class Read>
base::Result<T> DecodeFile(std::string_view bytes, std::string_view class_name, Read read) {
  const auto graph = DecodeObject(bytes);
  if (!graph) return graph.error();
  Fields in(*graph);
  in.ExpectClass(graph->Root(), {class_name});
  T value = in.error().empty() ? read(in, *graph, graph->Root()) : T();
  if (!in.error().empty()) return base::Error{in.error()};
  return value;
}

}  // namespace

base::Result<RegisterWorker> DecodeWorkerInfo(std::string_view bytes) {
  return DecodeFile<RegisterWorker>(
      bytes, "org.apache.spark.deploy.master.WorkerInfo", [](Fields& in, const js::Graph&, Ref root) {
        RegisterWorker worker;
        worker.id = in.Text(root, "id");
        worker.host = in.Text(root, "host");
        worker.port = in.Int(root, "port");
        worker.worker = in.Reference(root, "endpoint");
        worker.cores = in.Int(root, "cores");
        worker.memory_mib = in.Int(root, "memory");
        worker.web_url = in.Text(root, "webUiAddress");
        for (const auto& [name, information] : in.Entries(root, "resources")) {
          worker.resources.emplace_back(in.TextAt(name, "resources"), in.Texts(information, "addresses"));
        }
        return worker;
      });
}

base::Result<ApplicationInfo> DecodeApplicationInfo(const SparkBuild& build, std::string_view bytes) {
  return DecodeFile<ApplicationInfo>(
      bytes, "org.apache.spark.deploy.master.ApplicationInfo", [&](Fields& in, const js::Graph& graph, Ref root) {
        EndpointReference driver = in.Reference(root, "driver");
        RegisterApplication message;
        message.description = in.Object(root, "desc");
        message.driver = std::move(driver.address);
        message.driver_endpoint = std::move(driver.name);
        auto kept = KeptRegistration(build, graph, message);
        if (!kept.ok()) in.Fail("desc", kept.error().message);
        return ApplicationInfo{in.Text(root, "id"), {in.Long(root, "startTime")}, kept.ok() ? std::move(*kept) : ""};
      });
}

base::Result<DriverInfo> DecodeDriverInfo(std::string_view bytes) {
  return DecodeFile<DriverInfo>(
      bytes, "org.apache.spark.deploy.master.DriverInfo", [](Fields& in, const js::Graph&, Ref root) {
        return DriverInfo{in.Text(root, "id"), {in.Long(root, "startTime")}, ReadDriver(in, in.Object(root, "desc"))};
      });
}

}  // namespace fairlead::endpoints::spark
