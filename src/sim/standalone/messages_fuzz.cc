#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <variant>

#include "base/stored.h"
#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/known_description.h"
#include "endpoints/spark/submission_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "env/log.h"
#include "env_sim/world.h"
#include "process/spark_master/standalone_master.h"
#include "sim/standalone/spark_release.h"
#include "wire/spark_transport/frames.h"

// A stranger's message, an object stream, as far as it goes: read, understood, stored, read again, sent on and read
// there; and all that in a Standalone Master, which has a Worker that notes what it is told.

namespace {

using namespace fairlead;
namespace es = endpoints::spark;
namespace st = wire::spark_transport;

void Must(bool good) {
  if (!good) std::abort();
}

/// What a Master tells a Worker is what it was told.
template <class Launch>
void SentOn(const es::SparkBuild& build, const Launch& launch, const std::string& kept) {
  const std::string sent = es::Encode(build, launch, kept);
  const auto graph = es::DecodeObject(sent);
  Must(graph.ok());
  const auto order = es::DecodeMasterMessage(*graph);
  Must(order.ok() && order->has_value());
  const auto* again = std::get_if<Launch>(&**order);
  Must(again != nullptr && base::EncodeStored(again->description) == base::EncodeStored(launch.description));
}

void Registers(const es::SparkBuild& build, const es::RegisterApplication& message) {
  const auto kept = es::KeptRegistration(build, message.graph, message);
  if (!kept.ok()) return;
  const auto stored = base::DecodeStored<std::string>(base::EncodeStored(*kept));
  Must(stored.ok());
  auto again = es::DecodeDriverMessage(*stored);
  Must(again.ok());
  const auto* registration = std::get_if<es::RegisterApplication>(&*again);
  Must(registration != nullptr);
  Must(base::EncodeStored(registration->application) == base::EncodeStored(message.application));
  const auto twice = es::KeptRegistration(build, registration->graph, *registration);
  Must(twice.ok() && *twice == *kept);
  es::LaunchExecutor launch;
  launch.description = message.application;
  SentOn(build, launch, *kept);
}

void Submits(const es::SparkBuild& build, const wire::java_stream::Graph& graph,
             const es::RequestSubmitDriver& message) {
  const auto kept = es::KeptDescription(build, graph, message.stored);
  if (!kept.ok()) return;
  const auto stored = base::DecodeStored<es::DriverDescription>(base::EncodeStored(message.description));
  Must(stored.ok());
  SentOn(build, es::LaunchDriver{"driver-1", *stored, {}}, *kept);
  SentOn(build, es::LaunchDriver{"driver-1", *stored, {}}, "");  // after a restart
}

void Understand(std::string_view content) {
  const es::SparkBuild& build = sim::SimulatedSpark();
  auto graph = es::DecodeObject(content);
  if (!graph.ok()) return;
  const auto of_worker = es::DecodeWorkerMessage(*graph);
  if (of_worker.ok() && of_worker->has_value()) (void)es::DecodeObject(es::Encode(build, **of_worker)).ok();
  const auto of_master = es::DecodeMasterMessage(*graph);
  if (of_master.ok() && of_master->has_value()) (void)es::DecodeObject(es::Encode(build, **of_master)).ok();
  const auto of_client = es::DecodeSubmissionMessage(*graph);
  if (of_client.ok() && of_client->has_value()) {
    if (const auto* submit = std::get_if<es::RequestSubmitDriver>(&**of_client)) Submits(build, *graph, *submit);
  }
  const auto of_driver = es::DecodeDriverMessage(std::move(*graph));
  if (!of_driver.ok()) return;
  if (const auto* message = std::get_if<es::RegisterApplication>(&*of_driver)) Registers(build, *message);
}

/// A peer that sends one message, and reads what comes.
class Peer final : public env::StreamHandler {
 public:
  Peer(env_sim::World& world, const std::string& host, std::string_view content, bool asks) {
    std::string frame;
    const std::string body = es::EncodeRpcMessage({es::RpcAddress{host, 1}, std::nullopt, "Master", content});
    asks ? st::AppendRpcRequest(frame, 1, body) : st::AppendOneWayMessage(frame, body);
    world.AddMachine(host).net().Connect({"master", 7077}, base::Duration::Seconds(1),
                                         [this, frame](base::Result<std::unique_ptr<env::Stream>> stream) {
                                           if (!stream.ok()) return;
                                           stream_ = std::move(*stream);
                                           stream_->Start(this);
                                           stream_->Write(frame);
                                         });
  }
  void OnClosed(const std::string&) override {}
  void OnData(std::string_view bytes) override {
    reader_.Feed(bytes);
    while (reader_.Next() == st::FrameReader::Outcome::kFrame) {
      if (reader_.frame().type != st::FrameType::kOneWayMessage) continue;
      const auto envelope = es::DecodeRpcMessage(reader_.frame().body);
      Must(envelope.ok());
      const auto graph = es::DecodeObject(envelope->content);
      Must(graph.ok() && es::DecodeMasterMessage(*graph).ok());
    }
  }

 private:
  std::unique_ptr<env::Stream> stream_;
  st::FrameReader reader_{2 << 20};
};

void Master(std::string_view content, bool asks) {
  namespace sm = process::spark_master;
  const es::SparkBuild& build = sim::SimulatedSpark();
  env_sim::World world(1);
  env::NullLog log;
  env_sim::Machine& machine = world.AddMachine("master");
  sm::StandaloneMaster::Options options;
  options.master.listen = {"master", 7077};
  options.master.host = "master";
  options.master.builds = {build};
  sm::StandaloneMaster master(machine.loop(), machine.net(), log, std::move(options));
  Must(master.LeadAlone(nullptr, {}).ok());
  es::RegisterWorker worker;
  worker.id = "worker-1";
  worker.host = "worker";
  worker.port = 1;
  worker.worker = {{"worker", 1}, "Worker"};
  worker.cores = 1000;
  worker.memory_mib = 1 << 20;
  worker.master = {"master", 7077};
  const Peer honest(world, "worker", es::Encode(build, worker), false);
  world.RunUntil(world.now() + base::Duration::Seconds(1), [] { return false; });
  const Peer stranger(world, "stranger", content, asks);
  world.RunUntil(world.now() + base::Duration::Seconds(1), [] { return false; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view content(reinterpret_cast<const char*>(data) + 1, size - 1);
  Understand(content);
  Master(content, data[0] % 2 == 1);
  return 0;
}
