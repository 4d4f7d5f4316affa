#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "env_posix/connection_internal.h"

namespace fairlead::env_posix {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

env::Endpoint ToEndpoint(const error_code& error, const tcp::endpoint& endpoint) {
  if (error) return {};
  return {endpoint.address().to_string(), endpoint.port()};
}

std::unique_ptr<env::Stream> MakeStream(SocketHost& host, tcp::socket socket) {
  error_code peer_error, local_error;
  const tcp::endpoint peer = socket.remote_endpoint(peer_error), local = socket.local_endpoint(local_error);
  return std::make_unique<StreamOn<env::Stream>>(std::make_shared<Connection>(
      host, std::move(socket), Connection::Ends{ToEndpoint(peer_error, peer), ToEndpoint(local_error, local)},
      Connection::Kind::kTcp));
}

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
      self->on_accept_(MakeStream(self->host_, std::move(socket)));
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
      done(MakeStream(self->host_, std::move(self->socket_)));
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
