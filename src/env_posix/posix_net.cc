#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <deque>

#include "env_posix/sockets_internal.h"

namespace fairlead::env_posix {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// unsent() above this is a full queue; OnDrained comes at half of it.
constexpr size_t kDefaultHighWater = 1 << 20;
constexpr size_t kSendFilePiece = 1 << 20;
constexpr size_t kBuffersPerWrite = 64;

env::Endpoint ToEndpoint(const error_code& error, const tcp::endpoint& endpoint) {
  if (error) return {};
  return {endpoint.address().to_string(), endpoint.port()};
}

/// Bytes or a range of a file waiting to be sent.
struct Piece {
  std::string bytes;
  std::shared_ptr<env::File> file;
  uint64_t offset = 0;
  uint64_t left = 0;  // of the file, or of `bytes` counted from `offset`
};

/// The socket with its queue; kept alive by pending operations after its Stream is gone.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(SocketHost& host, tcp::socket socket) : host_(host), socket_(std::move(socket)) {
    error_code ignored;
    socket_.non_blocking(true, ignored);
    socket_.set_option(tcp::no_delay(true), ignored);
    peer_ = ToEndpoint(ignored, socket_.remote_endpoint(ignored));
    local_ = ToEndpoint(ignored, socket_.local_endpoint(ignored));
  }

  void Start(env::StreamHandler* handler) {
    handler_ = handler;
    WaitReadable();
  }

  void Enqueue(Piece piece) {
    if (closed_) return;
    unsent_ += piece.left;
    if (unsent_ > high_water_) above_high_water_ = true;
    queue_.push_back(std::move(piece));
    ScheduleFlush();
  }

  void SetHighWater(size_t bytes) {
    high_water_ = bytes;
    if (unsent_ > high_water_) above_high_water_ = true;  // the owner waits for OnDrained from now on
  }

  void SetPaused(bool paused) {
    paused_ = paused;
    if (!paused) WaitReadable();
  }

  void CloseAfterFlush() {
    handler_ = nullptr;
    closing_ = true;
    ScheduleFlush();
  }

  void Close() {
    handler_ = nullptr;
    closed_ = true;
    queue_.clear();
    unsent_ = 0;
    error_code ignored;
    socket_.close(ignored);
  }

  /// The Stream object is gone; what CloseAfterFlush promised still goes out.
  void Abandon() {
    handler_ = nullptr;
    if (!closing_) Close();
  }

  size_t unsent() const { return unsent_; }
  const env::Endpoint& peer() const { return peer_; }
  const env::Endpoint& local() const { return local_; }

 private:
  void WaitReadable() {
    if (reading_ || paused_ || closed_ || handler_ == nullptr) return;
    reading_ = true;
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
      self->reading_ = false;
      self->host_.BeginTurn();
      self->OnReadable(error);
    });
  }

  void OnReadable(const error_code& error) {
    if (closed_ || handler_ == nullptr || paused_) return;
    if (error) return Break(error.message());
    std::vector<char>& buffer = host_.receive_buffer;
    const ssize_t n = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
    if (n > 0) {
      handler_->OnData({buffer.data(), static_cast<size_t>(n)});
    } else if (n == 0) {
      return Break("");
    } else if (errno != EAGAIN && errno != EINTR) {
      return Break(std::strerror(errno));
    }
    WaitReadable();
  }

  void ScheduleFlush() {
    if (flush_scheduled_ || waiting_writable_) return;
    flush_scheduled_ = true;
    asio::post(host_.context, [self = shared_from_this()] {
      self->flush_scheduled_ = false;
      self->host_.BeginTurn();
      self->Flush();
    });
  }

  /// Sends until the kernel takes no more.
  void Flush() {
    while (!closed_ && !queue_.empty()) {
      const ssize_t sent = queue_.front().file ? SendFilePiece() : SendBytes();
      if (sent < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN) return WaitWritable();
        return Break(std::strerror(errno));
      }
      if (sent == 0) return Break("a file became shorter while it was sent");
      Advance(static_cast<uint64_t>(sent));
    }
    if (closed_) return;
    if (closing_) FinishClose();
  }

  /// Half-closes so that the peer reads everything before it sees the end.
  void FinishClose() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    Close();
  }

  ssize_t SendBytes() {
    std::array<iovec, kBuffersPerWrite> buffers;
    size_t count = 0;
    for (const Piece& piece : queue_) {
      if (piece.file || count == buffers.size()) break;
      buffers[count++] = {const_cast<char*>(piece.bytes.data()) + piece.offset, piece.left};
    }
    msghdr message{};
    message.msg_iov = buffers.data();
    message.msg_iovlen = count;
    const bool more = count < queue_.size();
    return ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
  }

  ssize_t SendFilePiece() {
    Piece& piece = queue_.front();
    if (piece.left == 0) return 0;
    auto offset = static_cast<off_t>(piece.offset);
    const size_t size = piece.left < kSendFilePiece ? piece.left : kSendFilePiece;
    return ::sendfile(socket_.native_handle(), piece.file->descriptor(), &offset, size);
  }

  void Advance(uint64_t sent) {
    unsent_ -= sent;
    while (sent > 0) {
      Piece& piece = queue_.front();
      const uint64_t part = sent < piece.left ? sent : piece.left;
      piece.offset += part;
      piece.left -= part;
      sent -= part;
      if (piece.left == 0) queue_.pop_front();
    }
    if (above_high_water_ && unsent_ <= high_water_ / 2 && handler_ != nullptr) {
      above_high_water_ = false;
      handler_->OnDrained();
    }
  }

  void WaitWritable() {
    if (waiting_writable_) return;
    waiting_writable_ = true;
    socket_.async_wait(tcp::socket::wait_write, [self = shared_from_this()](error_code error) {
      self->waiting_writable_ = false;
      self->host_.BeginTurn();
      if (self->closed_) return;
      if (error) return self->Break(error.message());
      self->Flush();
    });
  }

  void Break(const std::string& reason) {
    env::StreamHandler* handler = handler_;
    Close();
    if (handler != nullptr) handler->OnClosed(reason);
  }

  SocketHost& host_;
  tcp::socket socket_;
  env::StreamHandler* handler_ = nullptr;
  std::deque<Piece> queue_;
  uint64_t unsent_ = 0;
  uint64_t high_water_ = kDefaultHighWater;
  bool above_high_water_ = false;
  bool reading_ = false;
  bool paused_ = false;
  bool flush_scheduled_ = false;
  bool waiting_writable_ = false;
  bool closing_ = false;
  bool closed_ = false;
  env::Endpoint peer_;
  env::Endpoint local_;
};

class PosixStream : public env::Stream {
 public:
  explicit PosixStream(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~PosixStream() override { connection_->Abandon(); }
  void Start(env::StreamHandler* handler) override { connection_->Start(handler); }
  void Write(std::string bytes) override {
    const uint64_t size = bytes.size();
    if (size > 0) connection_->Enqueue({std::move(bytes), nullptr, 0, size});
  }
  void SendFile(std::shared_ptr<env::File> file, uint64_t offset, uint64_t length) override {
    if (length > 0) connection_->Enqueue({{}, std::move(file), offset, length});
  }
  size_t unsent() const override { return connection_->unsent(); }
  void SetHighWater(size_t bytes) override { connection_->SetHighWater(bytes); }
  void PauseReading() override { connection_->SetPaused(true); }
  void ResumeReading() override { connection_->SetPaused(false); }
  void CloseAfterFlush() override { connection_->CloseAfterFlush(); }
  void Close() override { connection_->Close(); }
  env::Endpoint peer() const override { return connection_->peer(); }
  env::Endpoint local() const override { return connection_->local(); }

 private:
  std::shared_ptr<Connection> connection_;
};

/// Accepts until its Listener is destroyed.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(SocketHost& host, env::Net::AcceptHandler on_accept)
      : host_(host), acceptor_(host.context), retry_(host.context), on_accept_(std::move(on_accept)) {}

  base::Status Open(const env::Endpoint& endpoint, bool shared) {
    using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
    error_code error;
    tcp::resolver resolver(host_.context);
    const auto found = resolver.resolve(endpoint.host, std::to_string(endpoint.port),
                                        tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (error || found.empty()) {
      return base::Error{"cannot resolve '" + endpoint.host + "': " + error.message()};
    }
    const tcp::endpoint address = found.begin()->endpoint();
    acceptor_.open(address.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && shared) acceptor_.set_option(ReusePort(true), error);
    if (!error) acceptor_.bind(address, error);
    if (!error) acceptor_.listen(1024, error);
    if (error) return base::Error{"cannot listen on " + endpoint.ToString() + ": " + error.message(), error.value()};
    local_ = ToEndpoint(error, acceptor_.local_endpoint(error));
    Accept();
    return {};
  }

  void Stop() {
    stopped_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
  }

  const env::Endpoint& local() const { return local_; }

 private:
  void Accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
      if (self->stopped_) return;
      self->host_.BeginTurn();
      if (error) return self->AcceptLater();
      self->on_accept_(std::make_unique<PosixStream>(std::make_shared<Connection>(self->host_, std::move(socket))));
      if (!self->stopped_) self->Accept();
    });
  }

  /// Out of descriptors: waiting a little lets connections end instead of spinning.
  void AcceptLater() {
    retry_.expires_after(std::chrono::milliseconds(50));
    retry_.async_wait([self = shared_from_this()](error_code) {
      if (!self->stopped_) self->Accept();
    });
  }

  SocketHost& host_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  env::Net::AcceptHandler on_accept_;
  env::Endpoint local_;
  bool stopped_ = false;
};

class PosixListener : public env::Listener {
 public:
  explicit PosixListener(std::shared_ptr<Acceptor> acceptor) : acceptor_(std::move(acceptor)) {}
  ~PosixListener() override { acceptor_->Stop(); }
  env::Endpoint local() const override { return acceptor_->local(); }

 private:
  std::shared_ptr<Acceptor> acceptor_;
};

/// One connect with its time limit.
class Connector : public std::enable_shared_from_this<Connector> {
 public:
  Connector(SocketHost& host, env::Endpoint endpoint, env::Net::ConnectHandler done)
      : host_(host),
        endpoint_(std::move(endpoint)),
        resolver_(host.context),
        socket_(host.context),
        timer_(host.context),
        done_(std::move(done)) {}

  void Start(base::Duration timeout) {
    timer_.expires_after(std::chrono::nanoseconds(timeout.ns));
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->Fail("timed out", ETIMEDOUT);
    });
    error_code not_numeric;
    const auto address = asio::ip::make_address(endpoint_.host, not_numeric);
    if (!not_numeric) return Connect({address, endpoint_.port});
    resolver_.async_resolve(endpoint_.host, std::to_string(endpoint_.port), tcp::resolver::numeric_service,
                            [self = shared_from_this()](error_code error, const tcp::resolver::results_type& found) {
                              if (error) return self->Fail(error.message(), error.value());
                              self->Connect(found.begin()->endpoint());
                            });
  }

 private:
  void Connect(const tcp::endpoint& address) {
    if (!done_) return;
    socket_.async_connect(address, [self = shared_from_this()](error_code error) {
      if (error) return self->Fail(error.message(), error.value());
      if (!self->done_) return;
      self->host_.BeginTurn();
      self->timer_.cancel();
      const auto done = std::exchange(self->done_, nullptr);
      done(std::unique_ptr<env::Stream>(
          std::make_unique<PosixStream>(std::make_shared<Connection>(self->host_, std::move(self->socket_)))));
    });
  }

  void Fail(const std::string& reason, int code) {
    if (!done_) return;
    host_.BeginTurn();
    timer_.cancel();
    resolver_.cancel();
    error_code ignored;
    socket_.close(ignored);
    const auto done = std::exchange(done_, nullptr);
    done(base::Error{"cannot connect to " + endpoint_.ToString() + ": " + reason, code});
  }

  SocketHost& host_;
  env::Endpoint endpoint_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  env::Net::ConnectHandler done_;
};

}  // namespace

base::Result<std::unique_ptr<env::Listener>> ListenOn(SocketHost& host, const env::Endpoint& endpoint,
                                                      env::Net::AcceptHandler on_accept, bool shared) {
  auto acceptor = std::make_shared<Acceptor>(host, std::move(on_accept));
  if (const base::Status opened = acceptor->Open(endpoint, shared); !opened.ok()) return opened.error();
  return std::unique_ptr<env::Listener>(std::make_unique<PosixListener>(std::move(acceptor)));
}

void ConnectTo(SocketHost& host, const env::Endpoint& endpoint, base::Duration timeout, env::Net::ConnectHandler done) {
  std::make_shared<Connector>(host, endpoint, std::move(done))->Start(timeout);
}

}  // namespace fairlead::env_posix
