#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "env_sim/sim_disk.h"
#include "env_sim/world.h"
#include "process/shuffle/service.h"
#include "wire/spark_shuffle/layout.h"
#include "wire/spark_shuffle/messages.h"
#include "wire/spark_transport/frames.h"

// For tests: a service on a simulated machine, and a client that talks to it.

namespace fairlead::process::shuffle {

namespace transport = wire::spark_transport;
namespace messages = wire::spark_shuffle;

/// Remembers its lines.
class TestLog final : public env::Log {
 public:
  void Write(env::LogLevel level, std::string_view what, const Fields&) override {
    if (level == env::LogLevel::kError) errors.emplace_back(what);
    if (level == env::LogLevel::kWarn) warnings.emplace_back(what);
  }
  std::vector<std::string> warnings;
  std::vector<std::string> errors;
};

/// One client connection; frames as text.
class Client final : public env::StreamHandler {
 public:
  explicit Client(std::unique_ptr<env::Stream> stream) : stream_(std::move(stream)) { stream_->Start(this); }
  void OnData(std::string_view bytes) override {
    reader_.Feed(bytes);
    using Outcome = transport::FrameReader::Outcome;
    for (Outcome outcome = reader_.Next(); outcome != Outcome::kNeedMore; outcome = reader_.Next()) {
      if (outcome == Outcome::kError) return;
      if (outcome == Outcome::kRaw) continue;
      const auto& frame = reader_.frame();
      if (frame.type == transport::FrameType::kRpcResponse && frame.body.size() == 13) {
        stream_id = base::BigEndian<int64_t>(frame.body.substr(1));
      }
      const bool carries = frame.type == transport::FrameType::kChunkFetchSuccess ||
                           frame.type == transport::FrameType::kRpcResponse ||
                           frame.type == transport::FrameType::kMergedBlockMetaSuccess;
      chunks = frame.num_chunks;
      if (carries) body = frame.body;
      answers.push_back(std::string(transport::EnumName(frame.type)) +
                        (frame.text.empty() ? "" : " " + std::string(frame.text)));
    }
  }
  void OnClosed(const std::string&) override { closed = true; }
  void Rpc(const messages::Message& message) {
    std::string bytes;
    transport::AppendRpcRequest(bytes, 1, messages::EncodeMessage(message));
    Send(std::move(bytes));
  }
  void Chunk(int32_t index) {
    std::string bytes;
    transport::AppendChunkFetchRequest(bytes, stream_id, index);
    Send(std::move(bytes));
  }
  void Send(std::string bytes) {
    if (!closed) stream_->Write(std::move(bytes));
  }
  env::Stream& stream() { return *stream_; }
  std::vector<std::string> Take() { return std::exchange(answers, {}); }

  int64_t stream_id = 0;
  int32_t chunks = 0;
  std::string body;
  std::vector<std::string> answers;
  bool closed = false;

 private:
  std::unique_ptr<env::Stream> stream_;
  transport::FrameReader reader_{64 << 20};
};

inline constexpr const char* kRoot = "/data";

inline std::string IndexOf(const std::vector<int64_t>& offsets) {
  std::string out;
  base::ByteWriter writer(out);
  for (const int64_t offset : offsets) writer.I64(offset);
  return out;
}

class ShuffleService : public testing::Test {
 protected:
  ShuffleService() {
    config_.listen = {"server", 7337};
    config_.core.local_roots = {kRoot};
    world_.faults().delay_min = world_.faults().delay_max = base::Duration::Micros(10);
    Put("/data/b", messages::ShuffleDataName(0, 7), "aaaaabbbbbbbbbbccc");
    Put("/data/b", messages::ShuffleIndexName(0, 7), IndexOf({0, 5, 15, 18}));
  }

  void Put(const std::string& dir, const std::string& name, const std::string& bytes) {
    const std::string path = messages::FilePath({dir}, 64, name);
    ASSERT_TRUE(Disk().MakeDirectories(path.substr(0, path.rfind('/'))).ok());
    ASSERT_TRUE(Disk().WriteFileAtomically(path, bytes).ok());
  }
  env::Disk& Disk() { return server_.disk(); }
  env_sim::SimDisk& Faults() { return dynamic_cast<env_sim::SimDisk&>(server_.disk()); }

  void Start() {
    service_ = std::make_unique<Service>(server_.loop(), server_.disk(), &server_.store(), log_, config_, &Faults());
    ASSERT_TRUE(service_->Recover().ok());
    worker_ =
        std::make_unique<IoWorker>(server_.loop(), server_.net(), server_.disk(), nullptr, log_, config_, *service_);
    service_->AddWorker(*worker_);
    ASSERT_TRUE(worker_->Listen(config_.listen).ok());
  }
  /// On one loop, as if on several; the first accepts for all.
  std::vector<std::unique_ptr<IoWorker>> StartWorkers(int count) {
    service_ = std::make_unique<Service>(server_.loop(), server_.disk(), &server_.store(), log_, config_, &Faults());
    std::vector<std::unique_ptr<IoWorker>> workers;
    std::vector<IoWorker*> others;
    for (int i = 0; i < count; ++i) {
      workers.push_back(
          std::make_unique<IoWorker>(server_.loop(), server_.net(), server_.disk(), nullptr, log_, config_, *service_));
      service_->AddWorker(*workers.back());
      if (i > 0) others.push_back(workers.back().get());
    }
    EXPECT_TRUE(workers.front()->Listen(config_.listen, others).ok());
    return workers;
  }
  void CrashAndStart() {
    worker_.reset();
    service_.reset();
    server_.Crash();
    server_.Restart();
    Start();
  }
  std::unique_ptr<Client> Connect() {
    std::unique_ptr<Client> out;
    client_.net().Connect(config_.listen, base::Duration::Seconds(1), [&](auto stream) {
      if (stream.ok()) out = std::make_unique<Client>(*std::move(stream));
    });
    Run(base::Duration::Millis(100));
    return out;
  }
  void Run(base::Duration time) {
    world_.RunUntil(world_.now() + time, [] { return false; });
  }
  static messages::RegisterExecutor Registration(const std::string& executor = "1",
                                                 std::vector<std::string> dirs = {"/data/b"}) {
    return {"app", executor, std::move(dirs), 64, "sort"};
  }
  static messages::FetchShuffleBlocks Fetch(std::vector<int32_t> reduces, int64_t map = 7) {
    messages::FetchShuffleBlocks fetch{"app", "1", 0, {map}, {}, false};
    fetch.reduce_ids.Add(reduces);
    return fetch;
  }
  std::vector<std::string> Ask(Client& client, const messages::Message& message) {
    client.Rpc(message);
    Run(base::Duration::Millis(100));
    return client.Take();
  }
  std::vector<std::string> AskChunk(Client& client, int32_t index) {
    client.Chunk(index);
    Run(base::Duration::Millis(100));
    return client.Take();
  }

  env_sim::World world_{1};
  env_sim::Machine& server_ = world_.AddMachine("server");
  env_sim::Machine& client_ = world_.AddMachine("client");
  TestLog log_;
  Config config_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<IoWorker> worker_;
};

}  // namespace fairlead::process::shuffle
