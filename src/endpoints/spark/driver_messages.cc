#include "endpoints/spark/driver_messages.h"

#include <algorithm>
#include <initializer_list>

#include "endpoints/spark/scala_values.h"
#include "wire/java_stream/reader.h"

namespace fairlead::endpoints::spark {
namespace {

namespace js = wire::java_stream;
using js::Graph;
using js::Ref;

constexpr std::string_view kDeployMessages = "org.apache.spark.deploy.DeployMessages$";
constexpr int32_t kExecutorsMax = 1'000'000;
/// More memory than any machine has, so that sums cannot overflow.
constexpr int64_t kMemoryMibMax = int64_t{1} << 40;

/// Reads fields of objects; after the first one that is not as it should be, error() says what and all else is empty.
class Fields {
 public:
  explicit Fields(const Graph& graph) : graph_(graph) {}

  Ref Object(Ref object, const char* name) { return graph_.RefOf(object, name); }
  std::string Text(Ref object, const char* name) {
    return Take(TextOf(graph_, graph_.RefOf(object, name)), name, std::string());
  }
  int32_t Int(Ref object, const char* name) {
    const auto value = graph_.FieldOf(object, name, 'I');
    if (!value) Fail(name, "a number expected");
    return static_cast<int32_t>(value.value_or(0));
  }
  int64_t Long(Ref object, const char* name) {
    const auto value = graph_.FieldOf(object, name, 'J');
    if (!value) Fail(name, "a number expected");
    return value.value_or(0);
  }
  std::optional<int32_t> OptionalInt(Ref object, const char* name) {
    const auto held = Take(OptionOf(graph_, graph_.RefOf(object, name)), name, std::optional<Ref>());
    return held ? std::optional(Take(IntOf(graph_, *held), name, 0)) : std::nullopt;
  }
  std::vector<std::string> Texts(Ref object, const char* name) {
    std::vector<std::string> texts;
    for (const Ref element : Take(ElementsOf(graph_, graph_.RefOf(object, name)), name, std::vector<Ref>())) {
      texts.push_back(Take(TextOf(graph_, element), name, std::string()));
    }
    return texts;
  }
  std::vector<std::pair<Ref, Ref>> Entries(Ref object, const char* name) {
    return Take(EntriesOf(graph_, graph_.RefOf(object, name)), name, std::vector<std::pair<Ref, Ref>>());
  }
  std::string TextAt(Ref string, const char* name) { return Take(TextOf(graph_, string), name, std::string()); }
  int32_t IntAt(Ref boxed, const char* name) { return Take(IntOf(graph_, boxed), name, 0); }
  void ExpectClass(Ref object, std::initializer_list<std::string_view> names) {
    if (std::ranges::find(names, graph_.ClassName(object)) != names.end()) return;
    Fail(*names.begin(), "an object of this class expected");
  }
  void Fail(std::string_view where, const std::string& why) {
    if (error_.empty()) error_ = std::string(where) + ": " + why;
  }
  const std::string& error() const { return error_; }

 private:
  template <class T>
  T Take(base::Result<T> result, const char* name, T otherwise) {
    if (result.ok()) return std::move(*result);
    Fail(name, result.error().message);
    return otherwise;
  }
  const Graph& graph_;
  std::string error_;
};

ResourceProfile ReadProfile(Fields& in, Ref object) {
  in.ExpectClass(object,
                 {"org.apache.spark.resource.ResourceProfile", "org.apache.spark.resource.TaskResourceProfile"});
  ResourceProfile profile;
  profile.id = in.Int(object, "_id");
  for (const auto& [key, request] : in.Entries(object, "executorResources")) {
    const std::string name = in.TextAt(key, "executorResources");
    const int64_t amount = in.Long(request, "amount");
    if (amount < 0 || amount > kMemoryMibMax) in.Fail(name, "an amount of " + std::to_string(amount));
    if (name == "cores") {
      if (amount > INT32_MAX) in.Fail(name, "too many");
      profile.cores = static_cast<int32_t>(amount);
    } else if (name == "memory") {
      profile.memory_mib = amount;
    } else if (name == "offHeap") {
      profile.off_heap_mib = amount;
    } else if (name == "pyspark.memory") {
      profile.pyspark_mib = amount;
    } else if (name == "memoryOverhead") {
      profile.overhead_mib = amount;
    } else if (amount > 0) {
      profile.other.push_back(name);
    }
  }
  return profile;
}

Command ReadCommand(Fields& in, Ref object) {
  Command command;
  command.main_class = in.Text(object, "mainClass");
  command.arguments = in.Texts(object, "arguments");
  for (const auto& [key, value] : in.Entries(object, "environment")) {
    command.environment[in.TextAt(key, "environment")] = in.TextAt(value, "environment");
  }
  command.class_path = in.Texts(object, "classPathEntries");
  command.library_path = in.Texts(object, "libraryPathEntries");
  command.java_options = in.Texts(object, "javaOpts");
  return command;
}

ApplicationDescription ReadApplication(Fields& in, Ref object) {
  in.ExpectClass(object, {"org.apache.spark.deploy.ApplicationDescription"});
  ApplicationDescription application;
  application.name = in.Text(object, "name");
  application.user = in.Text(object, "user");
  application.ui_url = in.Text(object, "appUiUrl");
  application.cores_max = in.OptionalInt(object, "maxCores");
  application.initial_executor_limit = in.OptionalInt(object, "initialExecutorLimit");
  application.command = ReadCommand(in, in.Object(object, "command"));
  application.profile = ReadProfile(in, in.Object(object, "defaultProfile"));
  return application;
}

RegisterApplication ReadRegistration(Fields& in, const Graph& graph, Ref root) {
  RegisterApplication message;
  message.suid = graph.Get<js::Class>(graph.Get<js::Object>(root)->type)->suid;
  message.application = ReadApplication(in, in.Object(root, "appDescription"));
  message.driver_reference = in.Object(root, "driver");
  in.ExpectClass(message.driver_reference, {"org.apache.spark.rpc.netty.NettyRpcEndpointRef"});
  const Ref endpoint = in.Object(message.driver_reference, "endpointAddress");
  message.driver_endpoint = in.Text(endpoint, "name");
  const Ref address = in.Object(endpoint, "rpcAddress");
  message.driver.host = in.Text(address, "host");
  message.driver.port = in.Int(address, "port");
  return message;
}

RequestExecutors ReadRequest(Fields& in, Ref root) {
  RequestExecutors message;
  message.application = in.Text(root, "appId");
  for (const auto& [profile, total] : in.Entries(root, "resourceProfileToTotalExecs")) {
    message.totals.emplace_back(ReadProfile(in, profile), in.IntAt(total, "resourceProfileToTotalExecs"));
    const int32_t count = message.totals.back().second;
    if (count < 0) in.Fail("resourceProfileToTotalExecs", "a total of " + std::to_string(count));
    message.totals.back().second = std::min(count, kExecutorsMax);
  }
  return message;
}

}  // namespace

base::Result<DriverMessage> DecodeDriverMessage(std::string_view content) {
  auto graph = js::ReadStream(content);
  if (!graph) return graph.error();
  const Ref root = graph->Root();
  if (graph->Get<js::Object>(root) == nullptr) return base::Error{"a message that is no object"};
  const std::string type(graph->ClassName(root));
  const auto is = [&](std::string_view name) { return type == std::string(kDeployMessages) + std::string(name); };

  Fields in(*graph);
  DriverMessage message = OtherMessage{type};
  if (type == "org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence") {
    message = CheckExistence{in.Text(root, "name")};
  } else if (is("RegisterApplication")) {
    message = ReadRegistration(in, *graph, root);
  } else if (is("UnregisterApplication")) {
    message = UnregisterApplication{in.Text(root, "appId")};
  } else if (is("RequestExecutors")) {
    message = ReadRequest(in, root);
  } else if (is("KillExecutors")) {
    message = KillExecutors{in.Text(root, "appId"), in.Texts(root, "executorIds")};
  } else if (is("MasterChangeAcknowledged")) {
    message = MasterChangeAcknowledged{in.Text(root, "appId")};
  }
  if (!in.error().empty()) return base::Error{type + ": " + in.error()};
  if (auto* registration = std::get_if<RegisterApplication>(&message)) registration->graph = std::move(*graph);
  return message;
}

}  // namespace fairlead::endpoints::spark
