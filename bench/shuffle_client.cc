// A raw client of Spark's shuffle protocol, for measuring any service of it: registers an executor, then fetches blocks
// over several connections from one thread and prints one JSON line.
//   bench_shuffle_client --port P --dirs DIR[,DIR] --maps M --reduces R [--register] [--connections C] [--window W]
//     [--seconds S] [--lone [--awake]]
// Each request asks for one reduce id of every map; W requests of a connection are open at a time. --lone: one
// connection, one block at a time, latencies; --awake: the client looks for its answer again and again instead of
// sleeping, so that its own waking is no part of them.
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "connect.h"
#include "wire/spark_shuffle/messages.h"
#include "wire/spark_transport/frames.h"

namespace {

namespace transport = fairlead::wire::spark_transport;
namespace messages = fairlead::wire::spark_shuffle;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string host = "127.0.0.1";
  uint16_t port = 7337;
  std::vector<std::string> dirs;
  int maps = 100;
  int reduces = 100;
  int connections = 4;
  int window = 2;
  double seconds = 3;
  bool register_first = false;
  bool lone = false;
  bool awake = false;
  std::string app = "bench";
};

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "bench_shuffle_client: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

/// One connection: reads frames without keeping bodies.
class Connection {
 public:
  Connection(const Options& options, int first_reduce) : options_(options), next_reduce_(first_reduce) {
    fd_ = fairlead::bench::Connect(options.host, options.port);
    if (fd_ < 0) Die("connect");
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  uint64_t blocks = 0;
  uint64_t bytes = 0;

  void Register() {
    messages::RegisterExecutor request{options_.app, "1", options_.dirs, 64,
                                       "org.apache.spark.shuffle.sort.SortShuffleManager"};
    std::string out;
    transport::AppendRpcRequest(out, 1, messages::EncodeMessage(request));
    Send(out);
    std::string in(21, '\0');
    if (::recv(fd_, in.data(), in.size(), MSG_WAITALL) != 21 || in[8] != 4) Die("registration refused");
  }

  /// Asks for one reduce id of every map, or of the first `maps`.
  void Ask(int maps) {
    messages::FetchShuffleBlocks request;
    request.app_id = options_.app;
    request.exec_id = "1";
    for (int map = 0; map < maps; ++map) {
      const int32_t reduce = (next_reduce_ + map) % options_.reduces;
      request.map_ids.push_back(maps == 1 ? next_reduce_ % options_.maps : map);
      request.reduce_ids.Add({&reduce, 1});
    }
    ++next_reduce_;
    std::string out;
    transport::AppendRpcRequest(out, next_reduce_, messages::EncodeMessage(request));
    Send(out);
  }

  /// Reads once. False: nothing more at the moment.
  bool Read() {
    static std::vector<char> buffer(1 << 20);
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return false;
    if (n <= 0) Die("the service closed the connection");
    Consume({buffer.data(), static_cast<size_t>(n)});
    return true;
  }
  /// Reads, waiting.
  void ReadBlocking() {
    static std::vector<char> buffer(1 << 20);
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (n <= 0) Die("the service closed the connection");
    Consume({buffer.data(), static_cast<size_t>(n)});
  }
  /// Streams read to their end since the last call.
  int TakeDone() { return std::exchange(done_, 0); }

 private:
  void Send(const std::string& out) {
    size_t at = 0;
    while (at < out.size()) {
      const ssize_t n = ::send(fd_, out.data() + at, out.size() - at, MSG_NOSIGNAL);
      if (n < 0) Die("send");
      at += static_cast<size_t>(n);
    }
  }

  void Consume(std::string_view in) {
    while (!in.empty()) {
      if (skip_ > 0) {
        const size_t part = std::min<size_t>(in.size(), static_cast<size_t>(skip_));
        skip_ -= static_cast<int64_t>(part);
        in.remove_prefix(part);
        continue;
      }
      const size_t wanted = kHead - head_.size();
      const size_t part = std::min(wanted, in.size());
      head_.append(in.substr(0, part));
      in.remove_prefix(part);
      if (head_.size() < kHead) return;
      OnHead();
    }
  }

  /// 21 bytes: length, type, then stream id and chunk, or request id and body size.
  void OnHead() {
    const std::string_view head = head_;
    const auto length = fairlead::base::BigEndian<int64_t>(head);
    const auto type = static_cast<transport::FrameType>(static_cast<uint8_t>(head[8]));
    if (type == transport::FrameType::kChunkFetchSuccess) {
      skip_ = length - static_cast<int64_t>(kHead);
      ++blocks;
      bytes += static_cast<uint64_t>(skip_);
      if (fairlead::base::BigEndian<int32_t>(head.substr(17)) + 1 == chunks_) ++done_;
      head_.clear();
      return;
    }
    if (type != transport::FrameType::kRpcResponse) Die("an answer of type " + std::string(EnumName(type)));
    if (kHead == 21) {  // StreamHandle: 13 more bytes
      kHead = 34;
      if (head_.size() < kHead) return;
    }
    const auto stream = fairlead::base::BigEndian<int64_t>(std::string_view(head_).substr(22));
    chunks_ = fairlead::base::BigEndian<int32_t>(std::string_view(head_).substr(30));
    kHead = 21;
    head_.clear();
    std::string out;
    for (int32_t i = 0; i < chunks_; ++i) transport::AppendChunkFetchRequest(out, stream, i);
    Send(out);
  }

  const Options& options_;
  int fd_;
  int next_reduce_;
  size_t kHead = 21;
  std::string head_;
  int64_t skip_ = 0;
  int32_t chunks_ = 0;
  int done_ = 0;
};

void Throughput(const Options& options) {
  std::vector<std::unique_ptr<Connection>> connections;
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < options.connections; ++i) {
    connections.push_back(std::make_unique<Connection>(options, i * options.reduces / options.connections));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connections.back().get();
    ::epoll_ctl(poll, EPOLL_CTL_ADD, connections.back()->fd(), &event);
    for (int w = 0; w < options.window; ++w) connections.back()->Ask(options.maps);
  }
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  std::vector<epoll_event> events(64);
  while (Clock::now() < end) {
    const int n = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), 1000);
    for (int i = 0; i < n; ++i) {
      auto* connection = static_cast<Connection*>(events[static_cast<size_t>(i)].data.ptr);
      connection->Read();
      for (int done = connection->TakeDone(); done > 0; --done) connection->Ask(options.maps);
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  uint64_t blocks = 0, bytes = 0;
  for (const auto& connection : connections) {
    blocks += connection->blocks;
    bytes += connection->bytes;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"blocks\":%llu,\"bytes\":%llu,\"seconds\":%.3f,\"blocks_per_s\":%.0f,\"gb_per_s\":%.3f}\n",
              static_cast<unsigned long long>(blocks), static_cast<unsigned long long>(bytes), seconds,
              static_cast<double>(blocks) / seconds, static_cast<double>(bytes) / seconds / 1e9);
}

void Lone(const Options& options) {
  Connection connection(options, 0);
  std::vector<double> micros;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  while (Clock::now() < end) {
    const auto begin = Clock::now();
    const uint64_t before = connection.blocks;
    connection.Ask(1);
    while (connection.blocks == before || connection.TakeDone() == 0) {
      if (options.awake) {
        connection.Read();
      } else {
        connection.ReadBlocking();
      }
    }
    micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(micros.begin(), micros.end());
  std::printf("{\"requests\":%zu,\"p50_us\":%.1f,\"p99_us\":%.1f}\n", micros.size(), micros[micros.size() / 2],
              micros[micros.size() * 99 / 100]);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (word == "--port")
      options.port = static_cast<uint16_t>(std::stoi(next()));
    else if (word == "--host")
      options.host = next();
    else if (word == "--dirs") {
      std::string list = next();
      for (size_t at = 0; at < list.size();) {
        const size_t end = std::min(list.find(',', at), list.size());
        options.dirs.push_back(list.substr(at, end - at));
        at = end + 1;
      }
    } else if (word == "--maps")
      options.maps = std::stoi(next());
    else if (word == "--reduces")
      options.reduces = std::stoi(next());
    else if (word == "--connections")
      options.connections = std::stoi(next());
    else if (word == "--window")
      options.window = std::stoi(next());
    else if (word == "--seconds")
      options.seconds = std::stod(next());
    else if (word == "--app")
      options.app = next();
    else if (word == "--register")
      options.register_first = true;
    else if (word == "--lone")
      options.lone = true;
    else if (word == "--awake")
      options.awake = true;
    else
      Die("unknown option " + word);
  }
  if (options.register_first) Connection(options, 0).Register();
  if (options.lone) {
    Lone(options);
  } else if (options.seconds > 0) {
    Throughput(options);
  }
  return 0;
}
