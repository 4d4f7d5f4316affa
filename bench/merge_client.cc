// Pushes a shuffle's blocks to a merging service of Spark's protocol, ends the merge, and reads a shuffle, merged or
// block by block; prints one JSON line.
//   bench_merge_client PHASE --port P --dirs DIR --maps M --reduces R --block B [--connections C]
// PHASE: push (registers, pushes all blocks, finalizes), open (the same without the end), merged (each reducer's
// chunks), separate (each reducer's blocks).
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "connect.h"
#include "wire/spark_shuffle/merge_statuses.h"
#include "wire/spark_shuffle/messages.h"
#include "wire/spark_transport/frames.h"

namespace {

namespace transport = fairlead::wire::spark_transport;
namespace messages = fairlead::wire::spark_shuffle;
using transport::FrameType;

struct Options {
  std::string phase;
  uint16_t port = 7337;
  std::string dir;
  int maps = 100;
  int reduces = 100;
  int block = 4096;
  int connections = 4;
};

constexpr const char* kApp = "bench";
constexpr int kPushesAtOnce = 64;

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "bench_merge_client: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

/// A connection that waits for its answers.
class Client {
 public:
  explicit Client(const Options& options) : fd_(fairlead::bench::Connect("127.0.0.1", options.port)) {
    if (fd_ < 0) Die("connect");
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0) Die("send");
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  /// Waits for so many frames.
  void Await(int frames, const std::function<void(const transport::Frame&)>& on_frame) {
    while (frames > 0) {
      const auto outcome = reader_.Next();
      if (outcome == transport::FrameReader::Outcome::kFrame) {
        const transport::Frame& frame = reader_.frame();
        const bool failed = frame.type == FrameType::kRpcFailure || frame.type == FrameType::kChunkFetchFailure;
        if (failed) Die("refused: " + std::string(frame.text));
        on_frame(frame);
        --frames;
      } else if (outcome == transport::FrameReader::Outcome::kNeedMore) {
        const ssize_t n = ::recv(fd_, buffer_.data(), buffer_.size(), 0);
        if (n <= 0) Die("the service closed the connection");
        reader_.Feed({buffer_.data(), static_cast<size_t>(n)});
      } else {
        Die("not a frame");
      }
    }
  }
  std::string Rpc(const messages::Message& message) {
    std::string out;
    transport::AppendRpcRequest(out, 1, messages::EncodeMessage(message));
    Send(out);
    std::string body;
    Await(1, [&](const transport::Frame& frame) { body = frame.body; });
    return body;
  }

 private:
  const int fd_;
  std::vector<char> buffer_ = std::vector<char>(1 << 20);
  transport::FrameReader reader_{256 << 20};
};

/// `work` on a connection for each of `count`, dealt over the connections.
void OnAll(const Options& options, int count, const std::function<void(Client&, int)>& work) {
  std::vector<std::thread> threads;
  for (int at = 0; at < options.connections; ++at) {
    threads.emplace_back([&, at] {
      Client client(options);
      for (int i = at; i < count; i += options.connections) work(client, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void PushBlocks(const Options& options) {
  const std::string block(static_cast<size_t>(options.block), 'x');
  std::atomic<int64_t> refused = 0;
  OnAll(options, options.maps, [&](Client& client, int map) {
    for (int reduce = 0; reduce < options.reduces; reduce += kPushesAtOnce) {
      std::string out;
      const int count = std::min(kPushesAtOnce, options.reduces - reduce);
      for (int i = 0; i < count; ++i) {
        const messages::PushBlockStream push{kApp, -1, 0, 0, map, (reduce + i + map) % options.reduces, 0};
        transport::AppendUploadStream(out, i, messages::EncodeMessage(push), options.block);
        out += block;
      }
      client.Send(out);
      client.Await(count,
                   [&](const transport::Frame& frame) { refused += frame.body.size() > 1 && frame.body[1] != 0; });
    }
  });
  if (refused > options.maps * int64_t{options.reduces} / 10) Die("more than a tenth of the pushes was refused");
}

/// Bytes that were merged.
uint64_t Finalize(const Options& options) {
  const auto answer = messages::DecodeMessage(Client(options).Rpc(messages::FinalizeShuffleMerge{kApp, -1, 0, 0}));
  if (!answer.ok()) Die(answer.error().message);
  const auto statuses = messages::ReadMergeStatuses(std::get<messages::MergeStatuses>(*answer));
  if (!statuses.ok()) Die(statuses.error().message);
  uint64_t bytes = 0;
  for (const auto& status : *statuses) bytes += static_cast<uint64_t>(status.bytes);
  return bytes;
}

/// Opens what `request` says and reads all chunks of it.
uint64_t ReadStream(Client& client, const messages::Message& request) {
  const auto answer = messages::DecodeMessage(client.Rpc(request));
  if (!answer.ok()) Die(answer.error().message);
  const auto handle = std::get<messages::StreamHandle>(*answer);
  std::string out;
  for (int32_t i = 0; i < handle.num_chunks; ++i) transport::AppendChunkFetchRequest(out, handle.stream_id, i);
  client.Send(out);
  uint64_t bytes = 0;
  client.Await(handle.num_chunks, [&](const transport::Frame& frame) { bytes += frame.body.size(); });
  return bytes;
}

uint64_t ReadMerged(const Options& options) {
  std::atomic<uint64_t> bytes = 0;
  OnAll(options, options.reduces, [&](Client& client, int reduce) {
    std::string out;
    transport::AppendMergedBlockMetaRequest(out, 1, kApp, 0, 0, reduce);
    client.Send(out);
    int32_t chunks = 0;
    client.Await(1, [&](const transport::Frame& frame) { chunks = frame.num_chunks; });
    messages::FetchShuffleBlockChunks fetch{kApp, "shuffle-push-merger", 0, 0, {reduce}, {}};
    for (int32_t i = 0; i < chunks; ++i) fetch.chunk_ids.AddValue(i);
    fetch.chunk_ids.CloseList();
    bytes += ReadStream(client, fetch);
  });
  return bytes;
}

uint64_t ReadSeparate(const Options& options) {
  std::atomic<uint64_t> bytes = 0;
  OnAll(options, options.reduces, [&](Client& client, int reduce) {
    messages::FetchShuffleBlocks fetch{kApp, "1", 0, {}, {}, false};
    for (int map = 0; map < options.maps; ++map) {
      fetch.map_ids.push_back(map);
      fetch.reduce_ids.Add({&reduce, 1});
    }
    bytes += ReadStream(client, fetch);
  });
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc < 2) Die("no phase");
  options.phase = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    const std::string value = argv[i + 1];
    if (word == "--port") options.port = static_cast<uint16_t>(std::stoi(value));
    if (word == "--dirs") options.dir = value;
    if (word == "--maps") options.maps = std::stoi(value);
    if (word == "--reduces") options.reduces = std::stoi(value);
    if (word == "--block") options.block = std::stoi(value);
    if (word == "--connections") options.connections = std::stoi(value);
  }
  messages::RegisterExecutor registration{kApp, "1", {options.dir}, 64, "sort:{\"mergeDir\":\"merge_manager\"}"};
  Client(options).Rpc(registration);
  const auto begin = std::chrono::steady_clock::now();
  if (options.phase == "push" || options.phase == "open") PushBlocks(options);
  const uint64_t bytes = options.phase == "push"       ? Finalize(options)
                         : options.phase == "merged"   ? ReadMerged(options)
                         : options.phase == "separate" ? ReadSeparate(options)
                                                       : 0;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("{\"bytes\":%llu,\"seconds\":%.3f,\"gb_per_s\":%.3f}\n", static_cast<unsigned long long>(bytes), seconds,
              static_cast<double>(bytes) / seconds / 1e9);
  return 0;
}
