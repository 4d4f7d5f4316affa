#include "endpoints/spark/worker_messages.h"

#include "endpoints/spark/known_description.h"
#include "endpoints/spark/message_values.h"

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;
using js::Ref;

namespace {

constexpr std::string_view kDeployMessages = "org.apache.spark.deploy.DeployMessages$";
constexpr int32_t kExecutorStates = 7;
constexpr int32_t kDriverStates = 8;
/// More than any machine has; sums of a cluster's stay below an int32_t's or are made in 64 bits.
constexpr int32_t kCoresMax = 1 << 20;
constexpr int32_t kPortMax = 65535;

// ---- reading -------------------------------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(const js::Graph& graph) : graph_(graph), in_(graph), root_(graph.Root()) {}

  void Into(RegisterWorker& m) {
    m.suid = graph_.Get<js::Class>(graph_.Get<js::Object>(root_)->type)->suid;
    m.id = Text("id");
    m.host = Text("host");
    m.port = in_.Int(root_, "port");
    m.worker = in_.Reference(root_, "worker");
    m.cores = in_.Int(root_, "cores");
    m.memory_mib = in_.Int(root_, "memory");
    m.web_url = Text("workerWebUiUrl");
    m.master = in_.Address(root_, "masterAddress");
    m.resources = ReadResources(root_);
    if (m.id.empty() || m.port < 0 || m.port > kPortMax) in_.Fail("id, port", "a worker needs both");
    if (m.cores <= 0 || m.cores > kCoresMax) in_.Fail("cores", std::to_string(m.cores) + " is not possible");
    if (m.memory_mib <= 0) in_.Fail("memory", std::to_string(m.memory_mib) + " MiB is not possible");
  }
  void Into(Heartbeat& m) {
    m.worker = Text("workerId");
    m.reference = in_.Reference(root_, "worker");
  }
  void Into(ExecutorStateChanged& m) {
    m.application = Text("appId");
    m.executor = in_.Int(root_, "execId");
    m.state = ReadExecutorState(root_);
    m.message = in_.OptionalSaid(root_, "message");
    m.exit_status = in_.OptionalInt(root_, "exitStatus");
  }
  void Into(DriverStateChanged& m) {
    m.driver = Text("driverId");
    m.state = static_cast<DriverState>(in_.Enumerated(root_, "state", kDriverStates));
    const auto thrown = in_.Optional(root_, "exception");
    if (!thrown) return;
    m.exception = graph_.ClassName(*thrown).substr(0, kNameBytesMax);
    const auto why = in_.Said(*thrown, "detailMessage");
    if (why) *m.exception += ": " + *why;
  }
  void Into(WorkerLatestState& m) {
    m.worker = Text("id");
    for (const Ref executor : in_.Elements(root_, "executors")) {
      if (!in_.Charge(sizeof(ExecutorDescription))) return;
      m.executors.push_back(ReadExecutor(executor));
    }
    m.drivers = in_.Texts(root_, "driverIds");
  }
  void Into(WorkerSchedulerStateResponse& m) {
    m.worker = Text("id");
    for (const Ref one : in_.Elements(root_, "execResponses")) {
      if (!in_.Charge(sizeof(RunningExecutor))) return;
      m.executors.push_back({ReadExecutor(in_.Object(one, "desc")), ReadResources(one)});
    }
    for (const Ref one : in_.Elements(root_, "driverResponses")) {
      if (!in_.Charge(sizeof(RunningDriver))) return;
      m.drivers.push_back({in_.Text(one, "driverId"), ReadResources(one)});
    }
  }
  void Into(WorkerDecommissioning& m) {
    m.worker = Text("id");
    m.reference = in_.Reference(root_, "workerRef");
  }

  void Into(RegisteredWorker& m) {
    m.master = in_.Reference(root_, "master");
    m.web_url = Text("masterWebUiUrl");
    m.dialled = in_.Address(root_, "masterAddress");
    m.duplicate = in_.Flag(root_, "duplicate");
  }
  void Into(RegisterWorkerFailed& m) { m.message = in_.Said(root_, "message").value_or(""); }
  void Into(MasterInStandby&) {}
  void Into(ReconnectWorker& m) { m.master_url = Text("masterUrl"); }
  void Into(LaunchExecutor& m) {
    m.master_url = Text("masterUrl");
    m.application = Text("appId");
    m.executor = in_.Int(root_, "execId");
    m.profile = in_.Int(root_, "rpId");
    m.description = ReadApplication(in_, in_.Object(root_, "appDesc"));
    m.cores = in_.Int(root_, "cores");
    m.memory_mib = in_.Int(root_, "memory");
    m.resources = ReadResources(root_);
  }
  void Into(LaunchDriver& m) {
    m.driver = Text("driverId");
    m.description = ReadDriver(in_, in_.Object(root_, "driverDesc"));
    m.resources = ReadResources(root_);
  }
  void Into(KillExecutor& m) {
    m.master_url = Text("masterUrl");
    m.application = Text("appId");
    m.executor = in_.Int(root_, "execId");
  }
  void Into(KillDriver& m) { m.driver = Text("driverId"); }
  void Into(ApplicationFinished& m) { m.application = Text("id"); }
  void Into(MasterChanged& m) {
    m.master = in_.Reference(root_, "master");
    m.web_url = Text("masterWebUiUrl");
  }
  void Into(DecommissionWorker&) {}

  const std::string& error() const { return in_.error(); }

 private:
  std::string Text(const char* field) { return in_.Text(root_, field); }
  ExecutorState ReadExecutorState(Ref object) {
    return static_cast<ExecutorState>(in_.Enumerated(object, "state", kExecutorStates));
  }
  ExecutorDescription ReadExecutor(Ref object) {
    in_.ExpectClass(object, {"org.apache.spark.deploy.ExecutorDescription"});
    return {in_.Text(object, "appId"), in_.Int(object, "execId"),   in_.Int(object, "rpId"),
            in_.Int(object, "cores"),  in_.Int(object, "memoryMb"), ReadExecutorState(object)};
  }
  Resources ReadResources(Ref object) {
    Resources resources;
    const auto entries = in_.Entries(object, "resources");
    if (entries.size() > MessageWriter::kSmallMapMax) in_.Fail("resources", "at most four kinds are taken");
    for (const auto& [name, information] : entries) {
      if (!in_.ok()) break;
      resources.emplace_back(in_.TextAt(name, "resources"), in_.TextArray(information, "addresses"));
    }
    return resources;
  }

  const js::Graph& graph_;
  Fields in_;
  const Ref root_;
};

/// A Scala object's class ends in "$".
template <class T>
constexpr std::string_view kName;
template <>
constexpr std::string_view kName<RegisterWorker> = "RegisterWorker";
template <>
constexpr std::string_view kName<Heartbeat> = "Heartbeat";
template <>
constexpr std::string_view kName<ExecutorStateChanged> = "ExecutorStateChanged";
template <>
constexpr std::string_view kName<DriverStateChanged> = "DriverStateChanged";
template <>
constexpr std::string_view kName<WorkerLatestState> = "WorkerLatestState";
template <>
constexpr std::string_view kName<WorkerSchedulerStateResponse> = "WorkerSchedulerStateResponse";
template <>
constexpr std::string_view kName<WorkerDecommissioning> = "WorkerDecommissioning";
template <>
constexpr std::string_view kName<RegisteredWorker> = "RegisteredWorker";
template <>
constexpr std::string_view kName<RegisterWorkerFailed> = "RegisterWorkerFailed";
template <>
constexpr std::string_view kName<MasterInStandby> = "MasterInStandby$";
template <>
constexpr std::string_view kName<ReconnectWorker> = "ReconnectWorker";
template <>
constexpr std::string_view kName<LaunchExecutor> = "LaunchExecutor";
template <>
constexpr std::string_view kName<LaunchDriver> = "LaunchDriver";
template <>
constexpr std::string_view kName<KillExecutor> = "KillExecutor";
template <>
constexpr std::string_view kName<KillDriver> = "KillDriver";
template <>
constexpr std::string_view kName<ApplicationFinished> = "ApplicationFinished";
template <>
constexpr std::string_view kName<MasterChanged> = "MasterChanged";
template <>
constexpr std::string_view kName<DecommissionWorker> = "DecommissionWorker$";

template <class Variant, size_t I = 0>
base::Result<std::optional<Variant>> Decode(const js::Graph& graph, std::string_view name) {
  if constexpr (I == std::variant_size_v<Variant>) {
    return std::optional<Variant>();
  } else {
    using Message = std::variant_alternative_t<I, Variant>;
    if (name != kName<Message>) return Decode<Variant, I + 1>(graph, name);
    Message message;
    Reader reader(graph);
    reader.Into(message);
    if (!reader.error().empty()) return base::Error{std::string(name) + ": " + reader.error()};
    return std::optional<Variant>(std::move(message));
  }
}

// ---- writing -------------------------------------------------------------------------------------------------------

Ref Made(MessageWriter& out, const Resources& resources) {
  std::vector<std::pair<Ref, Ref>> entries;
  for (const auto& [name, addresses] : resources) {
    std::vector<js::Slot> texts;
    for (const std::string& address : addresses) texts.push_back(out.Text(address));
    const Ref key = out.Text(name);
    const Ref information = out.builder().NewObject("org.apache.spark.resource.ResourceInformation");
    out.builder().SetRef(information, "name", key);
    out.builder().SetRef(information, "addresses", out.builder().NewArray("[Ljava.lang.String;", std::move(texts)));
    entries.emplace_back(key, information);
  }
  return out.SmallMap(entries);
}

Ref Made(MessageWriter& out, const ExecutorDescription& executor) {
  js::Builder& builder = out.builder();
  const Ref made = builder.NewObject("org.apache.spark.deploy.ExecutorDescription");
  builder.SetRef(made, "appId", out.Text(executor.application));
  builder.SetNumber(made, "execId", executor.executor);
  builder.SetNumber(made, "rpId", executor.profile);
  builder.SetNumber(made, "cores", executor.cores);
  builder.SetNumber(made, "memoryMb", executor.memory_mib);
  builder.SetRef(made, "state", out.State(ExecutorStates(), static_cast<int32_t>(executor.state)));
  return made;
}

Ref Made(MessageWriter& out, const DriverDescription& driver) {
  js::Builder& builder = out.builder();
  const Ref made = builder.NewObject("org.apache.spark.deploy.DriverDescription");
  builder.SetRef(made, "jarUrl", out.Text(driver.jar_url));
  builder.SetNumber(made, "mem", driver.memory_mib);
  builder.SetNumber(made, "cores", driver.cores);
  builder.SetNumber(made, "supervise", driver.supervise);
  builder.SetRef(made, "command", WriteCommand(out, driver.command));
  std::vector<Ref> requests;
  for (const auto& [name, amount] : driver.resources) {
    requests.push_back(builder.NewObject("org.apache.spark.resource.ResourceRequirement"));
    builder.SetRef(requests.back(), "resourceName", out.Text(name));
    builder.SetNumber(requests.back(), "amount", amount);
    builder.SetNumber(requests.back(), "numParts", 1);
  }
  builder.SetRef(made, "resourceReqs", out.List(requests));
  return made;
}

Ref Made(MessageWriter& out, const EndpointReference& reference) {
  return out.Reference(reference.address, reference.name);
}

void Write(MessageWriter& out, const RegisterWorker& m) {
  out.Set("id", m.id).Set("host", m.host).SetNumber("port", m.port).Set("worker", Made(out, m.worker));
  out.SetNumber("cores", m.cores).SetNumber("memory", m.memory_mib).Set("workerWebUiUrl", m.web_url);
  out.Set("masterAddress", out.Address(m.master)).Set("resources", Made(out, m.resources));
}
void Write(MessageWriter& out, const Heartbeat& m) {
  out.Set("workerId", m.worker).Set("worker", Made(out, m.reference));
}
void Write(MessageWriter& out, const ExecutorStateChanged& m) {
  out.Set("appId", m.application).SetNumber("execId", m.executor);
  out.Set("state", out.State(ExecutorStates(), static_cast<int32_t>(m.state)));
  out.Set("message", out.Option(m.message)).Set("exitStatus", out.Option(m.exit_status));
}
void Write(MessageWriter& out, const DriverStateChanged& m) {
  out.Set("driverId", m.driver).Set("state", out.State(DriverStates(), static_cast<int32_t>(m.state)));
  out.Set("exception", m.exception ? out.Some(out.Exception(*m.exception)) : out.None());
}
void Write(MessageWriter& out, const WorkerLatestState& m) {
  std::vector<Ref> executors;
  for (const ExecutorDescription& executor : m.executors) executors.push_back(Made(out, executor));
  out.Set("id", m.worker).Set("executors", out.List(executors)).Set("driverIds", out.Texts(m.drivers));
}
void Write(MessageWriter& out, const WorkerSchedulerStateResponse& m) {
  js::Builder& builder = out.builder();
  std::vector<Ref> executors, drivers;
  for (const RunningExecutor& executor : m.executors) {
    executors.push_back(builder.NewObject(std::string(kDeployMessages) + "WorkerExecutorStateResponse"));
    builder.SetRef(executors.back(), "desc", Made(out, executor.description));
    builder.SetRef(executors.back(), "resources", Made(out, executor.resources));
  }
  for (const RunningDriver& driver : m.drivers) {
    drivers.push_back(builder.NewObject(std::string(kDeployMessages) + "WorkerDriverStateResponse"));
    builder.SetRef(drivers.back(), "driverId", out.Text(driver.driver));
    builder.SetRef(drivers.back(), "resources", Made(out, driver.resources));
  }
  out.Set("id", m.worker).Set("execResponses", out.List(executors)).Set("driverResponses", out.List(drivers));
}
void Write(MessageWriter& out, const WorkerDecommissioning& m) {
  out.Set("id", m.worker).Set("workerRef", Made(out, m.reference));
}

void Write(MessageWriter& out, const RegisteredWorker& m) {
  out.Set("master", Made(out, m.master)).Set("masterWebUiUrl", m.web_url);
  out.Set("masterAddress", out.Address(m.dialled)).SetNumber("duplicate", m.duplicate);
}
void Write(MessageWriter& out, const RegisterWorkerFailed& m) { out.Set("message", m.message); }
void Write(MessageWriter&, const MasterInStandby&) {}
void Write(MessageWriter& out, const ReconnectWorker& m) { out.Set("masterUrl", m.master_url); }
void Write(MessageWriter& out, const LaunchExecutor& m) {
  out.Set("masterUrl", m.master_url).Set("appId", m.application).SetNumber("execId", m.executor);
  out.SetNumber("rpId", m.profile).SetNumber("cores", m.cores).SetNumber("memory", m.memory_mib);
  out.Set("resources", Made(out, m.resources));
}
void Write(MessageWriter& out, const LaunchDriver& m) {
  out.Set("driverId", m.driver).Set("resources", Made(out, m.resources));
}
void Write(MessageWriter& out, const KillExecutor& m) {
  out.Set("masterUrl", m.master_url).Set("appId", m.application).SetNumber("execId", m.executor);
}
void Write(MessageWriter& out, const KillDriver& m) { out.Set("driverId", m.driver); }
void Write(MessageWriter& out, const ApplicationFinished& m) { out.Set("id", m.application); }
void Write(MessageWriter& out, const MasterChanged& m) {
  out.Set("master", Made(out, m.master)).Set("masterWebUiUrl", m.web_url);
}
void Write(MessageWriter&, const DecommissionWorker&) {}

}  // namespace

base::Result<std::optional<WorkerMessage>> DecodeWorkerMessage(const js::Graph& graph) {
  return Decode<WorkerMessage>(graph, MessageName(graph));
}
base::Result<std::optional<MasterMessage>> DecodeMasterMessage(const js::Graph& graph) {
  return Decode<MasterMessage>(graph, MessageName(graph));
}

std::string Encode(const SparkBuild& build, const WorkerMessage& message) {
  return std::visit(
      [&](const auto& m) {
        MessageWriter out(build, kName<std::decay_t<decltype(m)>>);
        Write(out, m);
        return out.Written();
      },
      message);
}

std::string Encode(const SparkBuild& build, const MasterMessage& message, std::string_view kept) {
  return std::visit(
      [&](const auto& m) {
        using Message = std::decay_t<decltype(m)>;
        MessageWriter out(build, kName<Message>);
        if constexpr (std::is_same_v<Message, LaunchExecutor>) out.Set("appDesc", PutKept(out, build, kept));
        if constexpr (std::is_same_v<Message, LaunchDriver>) {
          out.Set("driverDesc", kept.empty() ? Made(out, m.description) : PutKept(out, build, kept));
        }
        Write(out, m);
        return out.Written();
      },
      message);
}

}  // namespace fairlead::endpoints::spark
