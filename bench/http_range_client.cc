// Fetches byte ranges of files from an HTTP/1.1 server, pipelined on keep-alive connections from one thread, and prints
// one JSON line: the shuffle client's work in the terms of a web server (nginx).
//   bench_http_range_client --port P --files N --prefix PATH --block BYTES --blocks COUNT [--connections C] [--depth D]
//     [--seconds S]
// File i is PREFIX<i>; block b of it is its bytes [b * BYTES, (b + 1) * BYTES).
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connect.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  uint16_t port = 80;
  int files = 1;
  std::string prefix = "/";
  int64_t block = 4096;
  int64_t blocks = 1;
  int connections = 4;
  int depth = 64;
  double seconds = 3;
};

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "bench_http_range_client: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

class Connection {
 public:
  Connection(const Options& options, int64_t first) : options_(options), next_(first) {
    fd_ = fairlead::bench::Connect("127.0.0.1", options.port);
    if (fd_ < 0) Die("connect");
    Ask(options.depth);
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  uint64_t blocks = 0;
  uint64_t bytes = 0;

  void Read() {
    static std::vector<char> buffer(1 << 20);
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) Die("the server closed the connection");
    const uint64_t before = blocks;
    Consume({buffer.data(), static_cast<size_t>(n)});
    if (blocks > before) Ask(static_cast<int>(blocks - before));
  }

 private:
  void Ask(int count) {
    std::string out;
    for (int i = 0; i < count; ++i, ++next_) {
      const int64_t at = next_ / options_.files % options_.blocks * options_.block;
      out += "GET " + options_.prefix + std::to_string(next_ % options_.files) +
             " HTTP/1.1\r\nHost: a\r\nRange: bytes=" + std::to_string(at) + "-" +
             std::to_string(at + options_.block - 1) + "\r\n\r\n";
    }
    for (size_t at = 0; at < out.size();) {
      const ssize_t n = ::send(fd_, out.data() + at, out.size() - at, MSG_NOSIGNAL);
      if (n < 0) Die("send");
      at += static_cast<size_t>(n);
    }
  }

  void Consume(std::string_view in) {
    while (!in.empty()) {
      if (skip_ > 0) {
        const size_t part = std::min(in.size(), static_cast<size_t>(skip_));
        skip_ -= static_cast<int64_t>(part);
        in.remove_prefix(part);
        if (skip_ == 0) ++blocks;
        continue;
      }
      const size_t seen = head_.size();
      head_.append(in);
      const size_t end = head_.find("\r\n\r\n", seen < 3 ? 0 : seen - 3);
      if (end == std::string::npos) return;
      in.remove_prefix(end + 4 - seen);
      if (!head_.starts_with("HTTP/1.1 206")) Die("not a range: " + head_.substr(0, 40));
      const size_t length = head_.find("Content-Length: ");
      if (length == std::string::npos) Die("no Content-Length");
      std::from_chars(head_.data() + length + 16, head_.data() + end, skip_);
      if (skip_ != options_.block) Die("a range of another length");
      bytes += static_cast<uint64_t>(skip_);
      head_.clear();
    }
  }

  const Options& options_;
  int fd_;
  int64_t next_;
  std::string head_;
  int64_t skip_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    const std::string value = argv[i + 1];
    if (word == "--port")
      options.port = static_cast<uint16_t>(std::stoi(value));
    else if (word == "--files")
      options.files = std::stoi(value);
    else if (word == "--prefix")
      options.prefix = value;
    else if (word == "--block")
      options.block = std::stoll(value);
    else if (word == "--blocks")
      options.blocks = std::stoll(value);
    else if (word == "--connections")
      options.connections = std::stoi(value);
    else if (word == "--depth")
      options.depth = std::stoi(value);
    else if (word == "--seconds")
      options.seconds = std::stod(value);
    else
      Die("unknown option " + word);
  }
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Connection>> connections;
  const auto begin = Clock::now();
  for (int i = 0; i < options.connections; ++i) {
    connections.push_back(
        std::make_unique<Connection>(options, i * options.files * options.blocks / options.connections));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connections.back().get();
    ::epoll_ctl(poll, EPOLL_CTL_ADD, connections.back()->fd(), &event);
  }
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  std::vector<epoll_event> events(64);
  while (Clock::now() < end) {
    const int n = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), 1000);
    for (int i = 0; i < n; ++i) static_cast<Connection*>(events[static_cast<size_t>(i)].data.ptr)->Read();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  uint64_t blocks = 0, bytes = 0;
  for (const auto& connection : connections) {
    blocks += connection->blocks;
    bytes += connection->bytes;
  }
  std::printf("{\"blocks\":%llu,\"bytes\":%llu,\"seconds\":%.3f,\"blocks_per_s\":%.0f,\"gb_per_s\":%.3f}\n",
              static_cast<unsigned long long>(blocks), static_cast<unsigned long long>(bytes), seconds,
              static_cast<double>(blocks) / seconds, static_cast<double>(bytes) / seconds / 1e9);
  return 0;
}
