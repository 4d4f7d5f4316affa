#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "env_sim/sim_disk.h"
#include "env_sim/world.h"
#include "process/shuffle/io_worker.h"
#include "process/shuffle/merger.h"
#include "process/shuffle/service.h"
#include "wire/spark_shuffle/merge_statuses.h"
#include "wire/spark_shuffle/messages.h"
#include "wire/spark_transport/frames.h"

// A stranger's requests through the lives of a shuffle service that merges: read, stepped, merged, stored, and after
// kill -9 read again and served. An honest application beside him gets back every byte that it was told is merged.

namespace {

using namespace fairlead;
namespace messages = wire::spark_shuffle;
namespace transport = wire::spark_transport;
using base::Duration;

constexpr std::string_view kHonest = "honest";
constexpr std::string_view kStranger = "evil";
constexpr std::string_view kManager = R"(sort:{"mergeDir":"merge_manager"})";
constexpr int kRequestsMax = 60;
constexpr int kRestartsMax = 2;

void Must(bool good) {
  if (!good) std::abort();
}

/// What is left of the input; zeros behind its end.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size(); }
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto out = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return out;
  }
  /// Mostly from 0 to 3, sometimes any.
  int32_t Number() {
    const uint8_t small = Byte();
    if (small < 224) return small & 3;
    if (small < 240) return small - 232;
    const uint32_t high = Byte();
    return static_cast<int32_t>(high << 24 | Byte());
  }
  std::string Text(size_t most) {
    const std::string out(bytes_.substr(0, std::min<size_t>(most, Byte())));
    bytes_.remove_prefix(std::min(out.size(), bytes_.size()));
    return out;
  }

 private:
  std::string_view bytes_;
};

/// A connection, and the last frame that came.
class Peer final : public env::StreamHandler {
 public:
  explicit Peer(std::unique_ptr<env::Stream> stream) : stream_(std::move(stream)) { stream_->Start(this); }
  void OnData(std::string_view bytes) override {
    reader_.Feed(bytes);
    for (auto outcome = reader_.Next(); outcome != transport::FrameReader::Outcome::kNeedMore;
         outcome = reader_.Next()) {
      Must(outcome != transport::FrameReader::Outcome::kError);
      if (outcome != transport::FrameReader::Outcome::kFrame) continue;
      type = reader_.frame().type;
      body = reader_.frame().body;
      chunks = reader_.frame().num_chunks;
    }
  }
  void OnClosed(const std::string&) override { closed = true; }
  void Send(std::string bytes) {
    if (!closed) stream_->Write(std::move(bytes));
  }
  void Ask(const messages::Message& message) {
    std::string bytes;
    transport::AppendRpcRequest(bytes, 1, messages::EncodeMessage(message));
    Send(std::move(bytes));
  }

  transport::FrameType type = transport::FrameType::kRpcFailure;
  std::string body;
  int32_t chunks = 0;
  bool closed = false;

 private:
  std::unique_ptr<env::Stream> stream_;
  transport::FrameReader reader_{1 << 20};
};

class Lives {
 public:
  Lives() {
    config_.listen = {"server", 7337};
    config_.core.local_roots = {"/data"};
    config_.merges = true;
    config_.merge_limits.chunk_bytes_min = 8;
    config_.merge_limits.memory_bytes = 1 << 20;
    for (const std::string_view app : {kHonest, kStranger}) {
      for (size_t at = 0; at < 64; ++at) {
        const std::string name = {"0123456789abcdef"[at / 16], "0123456789abcdef"[at % 16]};
        Must(server_.disk().MakeDirectories("/data/" + std::string(app) + "/merge_manager/" + name).ok());
      }
    }
    Start();
    const auto peer = Connect();
    Must(peer != nullptr);
    peer->Ask(Registration(std::string(kStranger), std::string(kManager)));
    Must(Answered(*peer));
  }

  /// kill -9, and a new start over what is stored: all of it can be read.
  void Restart() {
    for (auto& stranger : strangers_) stranger.reset();
    worker_.reset();
    service_.reset();
    server_.Crash();
    server_.Restart();
    Start();
    Must(service_->unread().empty());
  }

  void HonestMerges() {
    const auto peer = Connect();
    Must(peer != nullptr);
    peer->Ask(Registration(std::string(kHonest), std::string(kManager)));
    Must(Answered(*peer));
    for (int32_t map = 0; map < 3; ++map) {
      peer->Send(Push(messages::PushBlockStream{std::string(kHonest), -1, 0, 0, map, 1, 0}, Block(map)));
      Must(Answered(*peer));
    }
    peer->Ask(messages::FinalizeShuffleMerge{std::string(kHonest), -1, 0, 0});
    Must(Answered(*peer));
    const auto message = messages::DecodeMessage(peer->body);
    Must(message.ok());
    const auto statuses = messages::ReadMergeStatuses(std::get<messages::MergeStatuses>(*message));
    Must(statuses.ok() && statuses->size() == 1 && (*statuses)[0].maps.Indices() == std::vector<int32_t>{0, 1, 2});
  }

  void HonestReads() {
    const auto peer = Connect();
    Must(peer != nullptr);
    std::string bytes;
    transport::AppendMergedBlockMetaRequest(bytes, 9, std::string(kHonest), 0, 0, 1);
    peer->Send(std::move(bytes));
    Must(Answered(*peer, transport::FrameType::kMergedBlockMetaSuccess));
    messages::FetchShuffleBlockChunks fetch{std::string(kHonest), "shuffle-push-merger", 0, 0, {1}, {}};
    std::vector<int32_t> ids;
    while (static_cast<int32_t>(ids.size()) < peer->chunks) ids.push_back(static_cast<int32_t>(ids.size()));
    fetch.chunk_ids.Add(ids);
    peer->Ask(fetch);
    Must(Answered(*peer) && peer->body.size() == 13);
    const auto stream = base::BigEndian<int64_t>(std::string_view(peer->body).substr(1));
    std::string read;
    for (const int32_t chunk : ids) {
      bytes.clear();
      transport::AppendChunkFetchRequest(bytes, stream, chunk);
      peer->Send(std::move(bytes));
      Must(Answered(*peer, transport::FrameType::kChunkFetchSuccess));
      read += peer->body;
    }
    Must(read == Block(0) + Block(1) + Block(2));
  }

  /// One request of the stranger's, on one of his connections.
  void Say(Input& input) {
    const uint8_t what = input.Byte();
    auto& peer = strangers_[what & 1];
    if (peer == nullptr || peer->closed) peer = Connect();
    if (peer == nullptr) return;
    switch (what / 2 % 10) {
      case 0:
        return peer->Send(input.Text(255));
      case 1:
        return peer->Ask(Registration(std::string(kStranger), "sort:" + input.Text(100)));
      case 2:
        return peer->Ask(Registration(std::string(kStranger), std::string(kManager)));
      case 3:
      case 4:
        return Push(*peer, input);
      case 5:
        return peer->Ask(messages::FinalizeShuffleMerge{std::string(kStranger), -1, input.Number(), input.Number()});
      case 6:
        return peer->Ask(messages::RemoveShuffleMerge{std::string(kStranger), -1, input.Number(), input.Number()});
      case 7:
        return Read(*peer, input);
      case 8:
        return peer.reset();
      default:
        Run();
        if (++restarts_ <= kRestartsMax) Restart();
    }
  }

  void Run() {
    world_.RunUntil(world_.now() + Duration::Millis(50), [] { return false; });
    Must(service_->merger()->book().CheckInvariants().empty());
  }

 private:
  static std::string Block(int32_t map) { return "block of map " + std::to_string(map) + "."; }
  static messages::RegisterExecutor Registration(const std::string& app, std::string manager) {
    return {app, "1", {"/data/" + app + "/blockmgr"}, 64, std::move(manager)};
  }
  static std::string Push(const messages::PushBlockStream& push, const std::string& block) {
    std::string out;
    transport::AppendUploadStream(out, 5, messages::EncodeMessage(push), static_cast<int64_t>(block.size()));
    return out + block;
  }
  /// Whole, or with more or fewer bytes than it announces.
  static void Push(Peer& peer, Input& input) {
    const int32_t shuffle = input.Number();
    const int32_t merge = input.Number();
    const int32_t map = input.Number();
    const messages::PushBlockStream push{std::string(kStranger), -1, shuffle, merge, map, input.Number(), 0};
    std::string frame = Push(push, input.Text(255));
    const uint8_t cut = input.Byte();
    if (cut > 200) frame.resize(frame.size() - std::min<size_t>(cut - 200u, frame.size()));
    peer.Send(std::move(frame));
  }
  static void Read(Peer& peer, Input& input) {
    const int32_t shuffle = input.Number();
    const int32_t merge = input.Number();
    const int32_t reduce = input.Number();
    std::string bytes;
    transport::AppendMergedBlockMetaRequest(bytes, 3, std::string(kStranger), shuffle, merge, reduce);
    peer.Send(std::move(bytes));
    messages::FetchShuffleBlockChunks fetch{
        std::string(kStranger), "shuffle-push-merger", shuffle, merge, {reduce}, {}};
    const int32_t chunks[] = {0, input.Number()};
    fetch.chunk_ids.Add(chunks);
    peer.Ask(fetch);
  }

  bool Answered(Peer& peer, transport::FrameType wanted = transport::FrameType::kRpcResponse) {
    peer.type = transport::FrameType::kRpcFailure;
    Run();
    return peer.type == wanted;
  }
  std::unique_ptr<Peer> Connect() {
    std::unique_ptr<Peer> out;
    client_.net().Connect(config_.listen, Duration::Seconds(1), [&](auto stream) {
      if (stream.ok()) out = std::make_unique<Peer>(*std::move(stream));
    });
    Run();
    return out;
  }
  void Start() {
    auto& files = dynamic_cast<env_sim::SimDisk&>(server_.disk());
    service_ = std::make_unique<process::shuffle::Service>(server_.loop(), server_.disk(), &server_.store(), log_,
                                                           config_, &files);
    Must(service_->Recover().ok());
    worker_ = std::make_unique<process::shuffle::IoWorker>(server_.loop(), server_.net(), server_.disk(), nullptr, log_,
                                                           config_, *service_);
    service_->AddWorker(*worker_);
    Must(worker_->Listen(config_.listen).ok());
  }

  class NoLog final : public env::Log {
   public:
    void Write(env::LogLevel, std::string_view, const Fields&) override {}
  };

  env_sim::World world_{1};
  env_sim::Machine& server_ = world_.AddMachine("server");
  env_sim::Machine& client_ = world_.AddMachine("client");
  NoLog log_;
  process::shuffle::Config config_;
  std::unique_ptr<process::shuffle::Service> service_;
  std::unique_ptr<process::shuffle::IoWorker> worker_;
  std::unique_ptr<Peer> strangers_[2];
  int restarts_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), std::min<size_t>(size, 4096));
  if (bytes.find(kHonest) != std::string_view::npos) return 0;  // nothing keeps a stranger from another's application
  Lives lives;
  Input input(bytes);
  for (int said = 0; said < kRequestsMax / 2 && input.size() > bytes.size() / 2; ++said) lives.Say(input);
  lives.HonestMerges();
  for (int said = 0; said < kRequestsMax / 2 && !input.empty(); ++said) lives.Say(input);
  lives.Run();
  lives.HonestReads();
  lives.Restart();
  lives.HonestReads();
  return 0;
}
