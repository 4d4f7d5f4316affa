// The least a server of Spark's chunk protocol can do on this machine, as the measure for the real one: epoll, no
// registry, no checks, files opened once, sendfile of whole blocks (or copies below --copy bytes).
//   bench_sendfile_probe --port P --dirs DIR[,DIR] --block BYTES [--copy BYTES] [--piece BYTES]
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wire/spark_shuffle/layout.h"
#include "wire/spark_shuffle/messages.h"
#include "wire/spark_transport/frames.h"

namespace {

namespace transport = fairlead::wire::spark_transport;
namespace messages = fairlead::wire::spark_shuffle;

struct Probe {
  std::vector<std::string> dirs;
  int64_t block = 4096;
  int64_t copy = 48 * 1024;
  size_t piece = 1 << 20;
  std::map<int64_t, int> files;
  int Open(int64_t map) {
    int& fd = files.try_emplace(map, -1).first->second;
    if (fd < 0) fd = ::open(messages::FilePath(dirs, 64, messages::ShuffleDataName(0, map)).c_str(), O_RDONLY);
    return fd;
  }
};

struct Part {
  std::string bytes;
  size_t sent = 0;
  int fd = -1;
  off_t offset = 0;
  size_t left = 0;
};

class Peer {
 public:
  Peer(Probe& probe, int fd) : probe_(probe), fd_(fd) {}
  bool OnReadable() {
    static std::vector<char> buffer(256 * 1024);
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) return false;
    reader_.Feed({buffer.data(), static_cast<size_t>(n)});
    while (reader_.Next() == transport::FrameReader::Outcome::kFrame) OnFrame(reader_.frame());
    return Flush();
  }
  /// False: the peer is gone. Sets writable() while the socket is full.
  bool Flush() {
    while (!queue_.empty()) {
      Part& part = queue_.front();
      ssize_t n;
      if (part.fd < 0) {
        n = ::send(fd_, part.bytes.data() + part.sent, part.bytes.size() - part.sent,
                   MSG_NOSIGNAL | MSG_DONTWAIT | (queue_.size() > 1 ? MSG_MORE : 0));
      } else {
        n = ::sendfile(fd_, part.fd, &part.offset, std::min(part.left, probe_.piece));
      }
      if (n < 0 && errno == EAGAIN) return true;
      if (n < 0) return false;
      if (part.fd < 0) {
        part.sent += static_cast<size_t>(n);
        if (part.sent == part.bytes.size()) queue_.pop_front();
      } else {
        part.left -= static_cast<size_t>(n);
        if (part.left == 0) queue_.pop_front();
      }
    }
    return true;
  }
  bool waiting() const { return !queue_.empty(); }

 private:
  std::string& Bytes() {
    if (queue_.empty() || queue_.back().fd >= 0 || queue_.back().bytes.size() > 512 * 1024) queue_.emplace_back();
    return queue_.back().bytes;
  }
  void OnFrame(const transport::Frame& frame) {
    if (frame.type == transport::FrameType::kRpcRequest) {
      auto message = messages::DecodeMessage(frame.body);
      if (auto* fetch = message.ok() ? std::get_if<messages::FetchShuffleBlocks>(&*message) : nullptr) {
        const auto chunks = static_cast<int32_t>(fetch->map_ids.size());
        streams_[++last_] = std::move(*fetch);
        transport::AppendRpcResponse(Bytes(), frame.id, messages::EncodeMessage(messages::StreamHandle{last_, chunks}));
      } else {
        transport::AppendRpcResponse(Bytes(), frame.id, "");
      }
    } else if (frame.type == transport::FrameType::kChunkFetchRequest) {
      const auto& fetch = streams_[frame.id];
      const auto i = static_cast<size_t>(frame.chunk_index);
      SendBlock(frame.id, frame.chunk_index, probe_.Open(fetch.map_ids[i]), fetch.reduce_ids[i][0] * probe_.block);
      if (i + 1 == fetch.map_ids.size()) streams_.erase(frame.id);
    }
  }
  void SendBlock(int64_t stream, int32_t chunk, int file, off_t offset) {
    std::string& out = Bytes();
    transport::AppendChunkFetchSuccessHeader(out, stream, chunk, probe_.block);
    const auto size = static_cast<size_t>(probe_.block);
    if (probe_.block <= probe_.copy) {
      const size_t at = out.size();
      out.resize(at + size);
      if (::pread(file, out.data() + at, size, offset) != static_cast<ssize_t>(size)) std::abort();
      return;
    }
    Part part;
    part.fd = file;
    part.offset = offset;
    part.left = size;
    queue_.push_back(std::move(part));
  }

  Probe& probe_;
  int fd_;
  transport::FrameReader reader_{1 << 26};
  std::deque<Part> queue_;
  std::map<int64_t, messages::FetchShuffleBlocks> streams_;
  int64_t last_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Probe probe;
  int port = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i], value = argv[i + 1];
    if (word == "--port") port = std::stoi(value);
    if (word == "--block") probe.block = std::stoll(value);
    if (word == "--copy") probe.copy = std::stoll(value);
    if (word == "--piece") probe.piece = std::stoull(value);
    if (word == "--dirs") {
      for (size_t at = 0; at < value.size();) {
        const size_t end = std::min(value.find(',', at), value.size());
        probe.dirs.push_back(value.substr(at, end - at));
        at = end + 1;
      }
    }
  }
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  ::setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);  // as Fairlead on one host (env_posix/posix_net.cc)
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0 || ::listen(listener, 64) < 0) {
    std::perror("bench_sendfile_probe");
    return 1;
  }
  const int poll = ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listener;
  ::epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  std::map<int, std::unique_ptr<Peer>> peers;
  std::vector<epoll_event> events(64);
  while (true) {
    const int n = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == listener) {
        const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
        ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        peers[accepted] = std::make_unique<Peer>(probe, accepted);
        event.events = EPOLLIN;
        event.data.fd = accepted;
        ::epoll_ctl(poll, EPOLL_CTL_ADD, accepted, &event);
        continue;
      }
      Peer& peer = *peers[fd];
      const bool was_waiting = peer.waiting();
      // While the socket is full nothing is read: the requests wait in the kernel.
      const bool alive = was_waiting ? peer.Flush() : peer.OnReadable();
      if (!alive) {
        peers.erase(fd);
        ::close(fd);
      } else if (peer.waiting() != was_waiting) {
        event.events = peer.waiting() ? EPOLLOUT : EPOLLIN;
        event.data.fd = fd;
        ::epoll_ctl(poll, EPOLL_CTL_MOD, fd, &event);
      }
    }
  }
}
