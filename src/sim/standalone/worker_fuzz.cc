#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/stored.h"
#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/master_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "env/log.h"
#include "env_sim/world.h"
#include "process/spark_worker/spark_worker.h"
#include "process/spark_worker/supervisor.h"
#include "process/spark_worker/worker_page.h"
#include "sim/standalone/spark_release.h"
#include "wire/json/json.h"
#include "wire/spark_transport/frames.h"

// A message through the life of a Standalone Worker: from its master or from a stranger, read, followed, kept by the
// supervisor, shown, told to the master, and after a restart of the Worker taken up again.

namespace {

using namespace fairlead;
namespace es = endpoints::spark;
namespace st = wire::spark_transport;
namespace sw = process::spark_worker;

void Must(bool good) {
  if (!good) std::abort();
}

const es::RpcAddress kMaster{"master", 7077};

/// One connection, whose other end is a Worker or its supervisor.
class Peer final : public env::StreamHandler {
 public:
  using OnFrame = std::function<void(Peer& peer, const st::Frame& frame)>;
  explicit Peer(OnFrame on_frame) : on_frame_(std::move(on_frame)) {}
  void Take(std::unique_ptr<env::Stream> stream) {
    stream_ = std::move(stream);
    stream_->Start(this);
  }
  void Send(std::string_view content) {
    if (closed_ || !stream_) return;
    std::string frame;
    st::AppendOneWayMessage(frame, es::EncodeRpcMessage({kMaster, std::nullopt, "Worker", content}));
    stream_->Write(std::move(frame));
  }
  void Answer(int64_t request, std::string_view content) {
    std::string frame;
    st::AppendRpcResponse(frame, request, content);
    stream_->Write(std::move(frame));
  }
  void OnClosed(const std::string&) override { closed_ = true; }
  void OnData(std::string_view bytes) override {
    reader_.Feed(bytes);
    while (reader_.Next() == st::FrameReader::Outcome::kFrame) on_frame_(*this, reader_.frame());
  }

 private:
  const OnFrame on_frame_;
  std::unique_ptr<env::Stream> stream_;
  st::FrameReader reader_{2 << 20};
  bool closed_ = false;
};

class Process final : public env_sim::SimProcess {
 public:
  explicit Process(std::function<void(env::ExitStatus)> exit) : exit_(std::move(exit)) {}
  void OnSignal(int signal) override {
    if (exit_) std::exchange(exit_, nullptr)({0, signal});
  }

 private:
  std::function<void(env::ExitStatus)> exit_;
};

class Life {
 public:
  /// Its master calls itself `name`.
  explicit Life(const es::RpcAddress& name) : name_(name) {
    host_.SetProcessFactory([](const env::SpawnRequest&, std::function<void(env::ExitStatus)> exit) {
      return std::make_unique<Process>(std::move(exit));
    });
    Must(host_.disk().WriteFileAtomically("/job.jar", "jar").ok());
    auto listener = master_host_.net().Listen({kMaster.host, 7077}, [this](std::unique_ptr<env::Stream> stream) {
      master_ = std::make_unique<Peer>([this](Peer& peer, const st::Frame& frame) { HearWorker(peer, frame); });
      master_->Take(std::move(stream));
    });
    Must(listener.ok());
    listener_ = std::move(*listener);
    auto supervisor = sw::Supervisor::Start({host_.loop(), host_.net(), host_.processes(), log_}, "worker", {}, [] {});
    Must(supervisor.ok());
    supervisor_ = std::move(*supervisor);
    Start();
  }
  ~Life() {
    worker_.reset();
    supervisor_.reset();
    host_.Crash(true);  // what runs there goes while it is known here
  }

  void Order(std::string_view content) {
    master_->Send(content);
    Pass();
  }

  void Stranger(uint16_t port, std::string_view content) {
    Peer stranger([](Peer&, const st::Frame&) {});
    stranger_host_.net().Connect({"worker", port}, base::Duration::Seconds(1),
                                 [&](base::Result<std::unique_ptr<env::Stream>> stream) {
                                   if (!stream.ok()) return;
                                   stranger.Take(std::move(*stream));
                                   stranger.Send(content);
                                 });
    Pass();
  }
  uint16_t port() const { return worker_->link().local().port; }
  uint16_t watched_port() const { return supervisor_->watched_port(); }

  void Restart() {
    const std::map<std::string, std::string> before = Running();
    worker_.reset();
    supervisor_->Detach();
    Start();
    Must(Running() == before);
  }

  void Show() {
    sw::WorkerPages pages(host_.loop(), host_.disk(), [] { return process::http::WebRefusals{}; });
    for (const char* path : {"/", "/json/", "/metrics", "/metrics/json/"}) {
      process::http::Request request;
      request.method = "GET";
      request.path = request.target = path;
      pages.Handle(*worker_, request, [&](const process::http::Response& response) {
        Must(response.status == 200);
        if (request.path.find("json") != std::string::npos) {
          Must(wire::json::Parse(response.body, wire::json::kAnswer).ok());
        }
      });
    }
  }

 private:
  void Start() {
    supervisor_->Attach();
    sw::SparkWorkerSettings settings;
    settings.listen = {"worker", 35000};
    settings.host = "worker";
    settings.masters = {kMaster};
    settings.cores = 16;
    settings.memory_mib = 1 << 20;
    settings.work_directory = "/work";
    settings.launch.spark_home = sim::SimulatedSpark().home;
    settings.launch.java = "/opt/java/bin/java";
    settings.id = supervisor_->identity().id;
    settings.runs = supervisor_->Runs();
    auto worker = sw::SparkWorker::Start({host_.loop(), host_.net(), *supervisor_, host_.disk(), log_},
                                         sim::SimulatedSpark(), settings, [](const std::string&) {});
    Must(worker.ok());
    worker_ = std::move(*worker);
    supervisor_->SetIdentity({worker_->link().id(), worker_->link().local().port});
    Pass();
  }

  void Pass() {
    const base::Instant until = world_.now() + base::Duration::Seconds(1);
    world_.Script(until, [] {});  // time goes on even when nothing happens
    world_.RunUntil(until, [] { return false; });
  }

  std::map<std::string, std::string> Running() const {
    std::map<std::string, std::string> all;
    for (const auto& [key, run] : worker_->executors()) all[key] = base::EncodeStored(run.launch.description);
    for (const auto& [key, run] : worker_->drivers()) {
      if (!run.pausing) all[key] = base::EncodeStored(run.launch.description);
    }
    return all;
  }

  /// A Master of ours: it registers the Worker, and has every endpoint that it is asked for.
  void HearWorker(Peer& peer, const st::Frame& frame) const {
    const auto envelope = es::DecodeRpcMessage(frame.body);
    Must(envelope.ok());
    const auto graph = es::DecodeObject(envelope->content);
    Must(graph.ok());
    if (frame.type == st::FrameType::kRpcRequest) peer.Answer(frame.id, es::EncodeBoolean(true));
    const auto message = es::DecodeWorkerMessage(*graph);
    Must(message.ok());
    if (!message->has_value() || !std::holds_alternative<es::RegisterWorker>(**message)) return;
    es::RegisteredWorker registered;
    registered.master = {name_, es::kMasterEndpoint};
    registered.web_url = "http://master:8080";
    registered.dialled = kMaster;
    peer.Send(es::Encode(sim::SimulatedSpark(), registered));
  }

  const es::RpcAddress name_;
  env_sim::World world_{1};
  env_sim::Machine& host_ = world_.AddMachine("worker");
  env_sim::Machine& master_host_ = world_.AddMachine(kMaster.host);
  env_sim::Machine& stranger_host_ = world_.AddMachine("stranger");
  env::NullLog log_;
  std::unique_ptr<env::Listener> listener_;
  std::unique_ptr<Peer> master_;
  std::unique_ptr<sw::Supervisor> supervisor_;
  std::unique_ptr<sw::SparkWorker> worker_;
};

/// What must be true for the Worker to follow the message, where it is an order.
struct Followed {
  es::RpcAddress master = kMaster;  // the name under which it must know its master
  std::string order;                // the message, or that of a driver whose jar is there
};

Followed ToBeFollowed(std::string_view content) {
  Followed followed{kMaster, std::string(content)};
  const auto graph = es::DecodeObject(content);
  if (!graph.ok()) return followed;
  const auto order = es::DecodeMasterMessage(*graph);
  if (!order.ok() || !order->has_value()) return followed;
  if (const auto* executor = std::get_if<es::LaunchExecutor>(&**order)) {
    const auto address =
        env::ParseEndpoint(executor->master_url.substr(std::min<size_t>(8, executor->master_url.size())));
    if (address.ok()) followed.master = {address->host, address->port};
  } else if (const auto* driver = std::get_if<es::LaunchDriver>(&**order)) {
    es::LaunchDriver launch = *driver;
    launch.description.jar_url = "file:/job.jar";
    followed.order = es::Encode(sim::SimulatedSpark(), launch);
  }
  return followed;
}

}  // namespace

/// The first byte says who sends the message that follows.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view content(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Followed followed = ToBeFollowed(content);
  Life life(followed.master);
  if (data[0] % 3 == 0) life.Order(followed.order);
  if (data[0] % 3 == 1) life.Stranger(life.port(), content);
  if (data[0] % 3 == 2) life.Stranger(life.watched_port(), content);
  life.Show();
  life.Restart();
  life.Show();
  return 0;
}
