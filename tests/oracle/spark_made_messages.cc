#include "oracle/spark_made_messages.h"

#include <algorithm>
#include <optional>

#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/known_description.h"
#include "endpoints/spark/master_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "oracle/spark_rpc_recording.h"
#include "wire/java_stream/reader.h"
#include "wire/java_stream/writer.h"

namespace fairlead::oracle {
namespace {

using nlohmann::json;
namespace js = wire::java_stream;
namespace es = endpoints::spark;

/// Fields with the value that stands for "not said" are left out, as the generator leaves them out.
json Said(const es::ResourceProfile& profile) {
  json out = {{"id", profile.id}};
  if (profile.cores != 0) out["cores"] = profile.cores;
  if (profile.memory_mib != 0) out["memory_mib"] = profile.memory_mib;
  if (profile.off_heap_mib != 0) out["off_heap_mib"] = profile.off_heap_mib;
  if (profile.pyspark_mib != 0) out["pyspark_mib"] = profile.pyspark_mib;
  if (profile.overhead_mib) out["overhead_mib"] = *profile.overhead_mib;
  if (!profile.other.empty()) out["other"] = profile.other;
  return out;
}

json Said(const es::Command& command) {
  return {{"main_class", command.main_class},     {"arguments", command.arguments},
          {"environment", command.environment},   {"class_path", command.class_path},
          {"library_path", command.library_path}, {"java_options", command.java_options}};
}

json Said(const es::CheckExistence& message) { return {{"name", message.name}}; }
json Said(const es::UnregisterApplication& message) { return {{"application", message.application}}; }
json Said(const es::MasterChangeAcknowledged& message) { return {{"application", message.application}}; }
json Said(const es::KillExecutors& message) {
  return {{"application", message.application}, {"executors", message.executors}};
}
json Said(const es::RequestExecutors& message) {
  json totals = json::array();
  for (const auto& [profile, total] : message.totals) {
    totals.push_back(Said(profile));
    totals.back()["total"] = total;
  }
  return {{"application", message.application}, {"totals", totals}};
}
json Said(const es::RegisterApplication& message) {
  const es::ApplicationDescription& application = message.application;
  json out = {{"name", application.name},
              {"user", application.user},
              {"ui_url", application.ui_url},
              {"command", Said(application.command)},
              {"profile", Said(application.profile)},
              {"host", message.driver.host},
              {"port", message.driver.port},
              {"endpoint", message.driver_endpoint}};
  if (application.cores_max) out["cores_max"] = *application.cores_max;
  if (application.initial_executor_limit) out["initial_executor_limit"] = *application.initial_executor_limit;
  return out;
}
json Said(const es::OtherMessage& message) {
  const auto of_worker = es::DecodeWorkerMessage(message.graph);
  if (!of_worker.ok()) return {{"refused", of_worker.error().message}};
  if (of_worker->has_value()) {
    const auto* driver = std::get_if<es::DriverStateChanged>(&**of_worker);
    return driver != nullptr && driver->exception ? json{{"exception", *driver->exception}} : json::object();
  }
  const auto of_master = es::DecodeMasterMessage(message.graph);
  if (of_master.ok() && of_master->has_value()) return json::object();
  return {{"not understood", of_master.ok() ? message.class_name : of_master.error().message}};
}

/// A map has no order of its own.
json InOneOrder(json said) {
  if (!said.contains("totals")) return said;
  std::sort(said["totals"].begin(), said["totals"].end(),
            [](const json& a, const json& b) { return a["id"] < b["id"]; });
  return said;
}

template <class T>
std::optional<T> Optional(const json& said, const char* name) {
  return said.contains(name) ? std::optional(said[name].get<T>()) : std::nullopt;
}

std::string WithMaster(const es::SparkBuild& build, const std::string& type, const json& said) {
  const es::RpcAddress master{said.at("master_host"), said.at("master_port")};
  return type == "MasterChanged" ? es::EncodeMasterChanged(build, master, said.at("text"))
                                 : es::EncodeRegistered(build, said.at("text"), master);
}

/// What we would say to a driver; nothing for what drivers say.
base::Result<std::string> Written(const es::SparkBuild& build, const std::string& type, const json& said) {
  if (type == "RegisteredApplication" || type == "MasterChanged") return WithMaster(build, type, said);
  if (type == "ApplicationRemoved") return es::EncodeRemoved(build, said.at("message"));
  if (type == "ExecutorAdded") {
    return es::Encode(build, es::ExecutorAdded{said.at("executor"), said.at("worker"), said.at("host_port"),
                                               said.at("cores"), said.at("memory_mib")});
  }
  if (type == "ExecutorUpdated") {
    return es::Encode(
        build, es::ExecutorUpdated{said.at("executor"), said.at("state").get<es::ExecutorState>(),
                                   Optional<std::string>(said, "message"), Optional<int32_t>(said, "exit_status"),
                                   Optional<std::string>(said, "worker_host")});
  }
  return std::string();
}

/// What is kept of a registration says what the registration said.
std::string LostInKeeping(const es::RegisterApplication& registration, const es::SparkBuild& build) {
  const auto kept = es::KeptRegistration(build, registration.graph, registration);
  if (!kept) return "kept: " + kept.error().message;
  const auto again = es::DecodeDriverMessage(*kept);
  if (!again) return "kept and read: " + again.error().message;
  const json said = Said(std::get<es::RegisterApplication>(*again));
  return said == Said(registration) ? "" : "kept: " + json::diff(Said(registration), said).dump();
}

}  // namespace

std::string DifferenceToMadeMessage(const json& line, const es::SparkBuild& build) {
  const std::string stream = Unhex(line.at("hex"));
  const auto graph = js::ReadStream(stream, es::kSparkMessage);
  if (!graph) return "the stream: " + graph.error().message;
  if (js::WriteStream(*graph) != stream) return "the stream, read and written, has other bytes";
  const std::string name = line.at("class");
  const auto written = Written(build, name.substr(name.rfind('$') + 1), line.at("said"));
  if (!written) return written.error().message;
  if (!written->empty()) return *written == stream ? "" : "written for the same content, it has other bytes";
  const auto message = es::DecodeDriverMessage(stream);
  if (!message) return message.error().message;
  if (const auto* registration = std::get_if<es::RegisterApplication>(&*message)) {
    const std::string lost = LostInKeeping(*registration, build);
    if (!lost.empty()) return lost;
  }
  const json said = InOneOrder(std::visit([](const auto& known) { return Said(known); }, *message));
  // What is compared by writing it again has nothing more to say.
  const bool other = std::holds_alternative<es::OtherMessage>(*message);
  json expected = InOneOrder(line.at("said"));
  if (other && !expected.contains("exception")) expected = json::object();
  return said == expected ? "" : "understood: " + json::diff(expected, said).dump();
}

std::optional<std::string> WrittenAgain(const js::Graph& graph, const es::SparkBuild& build, bool copy) {
  const auto of_worker = es::DecodeWorkerMessage(graph);
  if (of_worker.ok() && of_worker->has_value()) return es::Encode(build, **of_worker);
  const auto of_master = es::DecodeMasterMessage(graph);
  if (!of_master.ok() || !of_master->has_value()) return std::nullopt;
  const bool driver = std::holds_alternative<es::LaunchDriver>(**of_master);
  const js::Ref description = graph.RefOf(graph.Root(), driver ? "driverDesc" : "appDesc");
  if (description == js::kNull || (driver && !copy)) return es::Encode(build, **of_master);
  const auto kept = es::KeptDescription(build, graph, description);
  return kept.ok() ? std::optional(es::Encode(build, **of_master, *kept)) : std::nullopt;
}

}  // namespace fairlead::oracle
