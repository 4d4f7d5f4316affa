#include "endpoints/spark/master_messages.h"

#include <map>

#include "base/bytes.h"
#include "wire/java_stream/writer.h"

namespace fairlead::endpoints::spark {
namespace {

namespace js = wire::java_stream;
using js::Ref;

constexpr const char* kMasterEndpoint = "Master";

std::string Written(js::Builder& builder, Ref root) {
  builder.graph().contents.emplace_back(root);
  return js::WriteStream(builder.graph());
}

Ref NewMessage(js::Builder& builder, const char* name) {
  return builder.NewObject(std::string("org.apache.spark.deploy.DeployMessages$") + name);
}

/// The reference to this master's endpoint: the driver's own with another address.
Ref MasterReference(js::Builder& builder, const RegisterApplication& registration, const RpcAddress& master) {
  const Ref reference = builder.Copy(registration.graph, registration.driver_reference);
  const Ref endpoint = builder.graph().RefOf(reference, "endpointAddress");
  builder.SetRef(endpoint, "name", builder.NewString(kMasterEndpoint));
  builder.SetRef(endpoint, "toString",
                 builder.NewString(std::string("spark://") + kMasterEndpoint + "@" + master.ToString()));
  const Ref address = builder.graph().RefOf(endpoint, "rpcAddress");
  builder.SetRef(address, "host", builder.NewString(master.host));
  builder.SetNumber(address, "port", master.port);
  return reference;
}

/// Values of Scala and Java in one message.
class Values {
 public:
  Values(js::Builder& builder, const SparkBuild& build) : builder_(builder), build_(build) {}

  /// Small integers are one object each in a Java virtual machine, others (as java.lang.Integer.valueOf makes them)
  /// new.
  Ref Integer(int32_t value) {
    const bool cached = value >= -128 && value <= 127;
    if (cached && integers_.count(value) != 0) return integers_[value];
    const Ref boxed = builder_.NewObject("java.lang.Integer");
    builder_.SetNumber(boxed, "value", value);
    if (cached) integers_[value] = boxed;
    return boxed;
  }

  Ref None() {
    if (none_ == js::kNull) none_ = Module("scala.None$");
    return none_;
  }
  Ref Some(Ref value) {
    const Ref some = builder_.NewObject("scala.Some");
    builder_.SetRef(some, "value", value);
    return some;
  }

  Ref State(ExecutorState state) {
    const auto id = static_cast<int32_t>(state);
    if (!build_.has_module_proxies()) return StatesOfWholeModule()[id];
    return StateOf(Module(kStateModule), id);
  }

 private:
  static constexpr const char* kStateModule = "org.apache.spark.deploy.ExecutorState$";
  static constexpr int32_t kStates = 7;

  /// A module without state (a Scala object).
  Ref Module(const char* name) {
    if (!build_.has_module_proxies()) return builder_.NewObject(name);
    const Ref proxy = builder_.NewObject("scala.runtime.ModuleSerializationProxy");
    builder_.SetRef(proxy, "moduleClass", builder_.NewClassObject(name));
    return proxy;
  }

  Ref StateOf(Ref module, int32_t id) {
    const Ref value = builder_.NewObject("scala.Enumeration$Val");
    builder_.SetRef(value, "$outer", module);
    builder_.SetRef(value, "scala$Enumeration$$outerEnum", module);
    builder_.SetNumber(value, "i", id);
    return value;
  }

  /// ExecutorState with all its values, as 2.12 writes it behind each of them.
  std::vector<Ref> StatesOfWholeModule() {
    const Ref module = builder_.NewObject(kStateModule);
    std::vector<Ref> states;
    for (int32_t id = 0; id < kStates; ++id) {
      states.push_back(StateOf(module, id));
      builder_.SetRef(module, Name(static_cast<ExecutorState>(id)), states.back());
    }
    builder_.SetNumber(module, "nextId", kStates);
    builder_.SetNumber(module, "scala$Enumeration$$topId", kStates);
    builder_.SetRef(module, "nmap", HashMap({}));
    // In the order in which that map hashes these keys.
    std::vector<std::pair<Ref, Ref>> entries;
    for (const int32_t id : {2, 5, 4, 1, 3, 6, 0}) entries.emplace_back(Integer(id), states[id]);
    builder_.SetRef(module, "scala$Enumeration$$vmap", HashMap(entries));
    std::vector<js::Item> finished;
    for (const auto state :
         {ExecutorState::kKilled, ExecutorState::kFailed, ExecutorState::kLost, ExecutorState::kExited}) {
      finished.emplace_back(states[static_cast<int32_t>(state)]);
    }
    finished.emplace_back(builder_.NewObject("scala.collection.immutable.ListSerializeEnd$"));
    constexpr const char* kList = "scala.collection.immutable.List$SerializationProxy";
    const Ref list = builder_.NewObject(kList);
    builder_.SetCustom(list, kList, std::move(finished));
    builder_.SetRef(module, "finishedStates", list);
    return states;
  }

  /// scala.collection.mutable.HashMap of 2.12: load factor (in thousandths), size, seed of the hash and a flag, then
  /// keys and values in turn.
  Ref HashMap(const std::vector<std::pair<Ref, Ref>>& entries) {
    constexpr int32_t kLoadFactor = 750;
    constexpr int32_t kSeed = 4;
    std::string head;
    base::ByteWriter out(head);
    out.I32(kLoadFactor);
    out.I32(static_cast<int32_t>(entries.size()));
    out.I32(kSeed);
    out.U8(0);
    std::vector<js::Item> items = {head};
    for (const auto& [key, value] : entries) {
      items.emplace_back(key);
      items.emplace_back(value);
    }
    constexpr const char* kMap = "scala.collection.mutable.HashMap";
    const Ref map = builder_.NewObject(kMap);
    builder_.SetCustom(map, kMap, std::move(items));
    return map;
  }

  js::Builder& builder_;
  const SparkBuild& build_;
  std::map<int32_t, Ref> integers_;
  Ref none_ = js::kNull;
};

}  // namespace

std::string_view Name(ExecutorState state) {
  constexpr std::string_view kNames[] = {"LAUNCHING", "RUNNING", "KILLED",        "FAILED",
                                         "LOST",      "EXITED",  "DECOMMISSIONED"};
  return kNames[static_cast<int32_t>(state)];
}

std::string EncodeBoolean(bool value) {
  static const js::ClassCatalog kBoolean = [] {
    js::ClassCatalog catalog;
    (void)js::AddClass(
        "java.lang.Boolean", [](std::string_view) { return std::nullopt; }, catalog)
        .ok();
    return catalog;
  }();
  js::Builder builder(kBoolean);
  const Ref boxed = builder.NewObject("java.lang.Boolean");
  builder.SetNumber(boxed, "value", value);
  return Written(builder, boxed);
}

std::string EncodeRegistered(const SparkBuild& build, const RegisterApplication& registration,
                             const std::string& application, const RpcAddress& master) {
  js::Builder builder(build.classes);
  const Ref message = NewMessage(builder, "RegisteredApplication");
  builder.SetRef(message, "appId", builder.NewString(application));
  builder.SetRef(message, "master", MasterReference(builder, registration, master));
  return Written(builder, message);
}

std::string EncodeMasterChanged(const SparkBuild& build, const RegisterApplication& registration,
                                const RpcAddress& master, const std::string& web_url) {
  js::Builder builder(build.classes);
  const Ref message = NewMessage(builder, "MasterChanged");
  builder.SetRef(message, "master", MasterReference(builder, registration, master));
  builder.SetRef(message, "masterWebUiUrl", builder.NewString(web_url));
  return Written(builder, message);
}

std::string Encode(const SparkBuild& build, const ExecutorAdded& added) {
  js::Builder builder(build.classes);
  const Ref message = NewMessage(builder, "ExecutorAdded");
  builder.SetNumber(message, "id", added.id);
  builder.SetRef(message, "workerId", builder.NewString(added.worker_id));
  builder.SetRef(message, "hostPort", builder.NewString(added.host_port));
  builder.SetNumber(message, "cores", added.cores);
  builder.SetNumber(message, "memory", added.memory_mib);
  return Written(builder, message);
}

std::string Encode(const SparkBuild& build, const ExecutorUpdated& updated) {
  js::Builder builder(build.classes);
  Values values(builder, build);
  const auto text = [&](const std::optional<std::string>& option) {
    return option ? values.Some(builder.NewString(*option)) : values.None();
  };
  const Ref message = NewMessage(builder, "ExecutorUpdated");
  builder.SetNumber(message, "id", updated.id);
  builder.SetRef(message, "exitStatus",
                 updated.exit_status ? values.Some(values.Integer(*updated.exit_status)) : values.None());
  builder.SetRef(message, "message", text(updated.message));
  builder.SetRef(message, "state", values.State(updated.state));
  builder.SetRef(message, "workerHost", text(updated.worker_host));
  return Written(builder, message);
}

std::string EncodeRemoved(const SparkBuild& build, const std::string& reason) {
  js::Builder builder(build.classes);
  const Ref message = NewMessage(builder, "ApplicationRemoved");
  builder.SetRef(message, "message", builder.NewString(reason));
  return Written(builder, message);
}

}  // namespace fairlead::endpoints::spark
