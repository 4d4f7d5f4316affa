#include <fcntl.h>
#include <netinet/tcp.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <string>

#include "env_posix/acceptor_internal.h"
#include "env_posix/connection_internal.h"
#include "env_posix/farewell_internal.h"
#include "env_posix/peer_user.h"

namespace fairlead::env_posix {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

env::Endpoint ToEndpoint(const error_code& error, const tcp::endpoint& endpoint) {
  if (error) return {};
  return {endpoint.address().to_string(), endpoint.port()};
}

Connection::Ends EndsOf(const tcp::socket& socket) {
  error_code peer_error, local_error;
  const tcp::endpoint peer = socket.remote_endpoint(peer_error), local = socket.local_endpoint(local_error);
  return {ToEndpoint(peer_error, peer), ToEndpoint(local_error, local)};
}

/// What to do where nobody can listen, to be said behind the reason.
std::string Remedy(int error) {
  if (error == EADDRINUSE) return "; end what listens there ('ss -ltnp' names it), or set another port";
  if (error == EADDRNOTAVAIL) return "; this machine has no such address";
  if (error == EACCES) return "; ports below 1024 are for root";
  return "";
}

std::unique_ptr<env::Stream> MakeStream(SocketHost& host, tcp::socket socket, Connection::Ends ends) {
  return std::make_unique<StreamOn<env::Stream>>(
      std::make_shared<Connection>(host, std::move(socket), std::move(ends), Connection::Kind::kTcp));
}

/// Of connections from this host, where there is no network to be careful with. One that spreads what it sends over
/// time (bbr, the default of many images for virtual machines) spends more on its timers there than all else costs.
/// This one is in every kernel and does nothing until something is lost.
constexpr const char* kControlWithoutNetwork = "reno";

std::string CongestionControlOf(int socket) {
  char name[16] = "";  // TCP_CA_NAME_MAX
  socklen_t size = sizeof name - 1;
  ::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &size);
  return name;
}

void SetCongestionControl(int socket, const std::string& name) {
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size()));
}

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
    if (!not_numeric) return Connect(tcp::resolver::results_type::create({address, endpoint_.port}, "", ""));
    resolver_.async_resolve(endpoint_.host, std::to_string(endpoint_.port), tcp::resolver::numeric_service,
                            [self = shared_from_this()](error_code error, const tcp::resolver::results_type& found) {
                              if (error) return self->Fail(error.message(), error.value());
                              self->Connect(found);
                            });
  }

 private:
  /// A name may have addresses at which nobody listens (localhost as ::1): one after the other.
  void Connect(const tcp::resolver::results_type& addresses) {
    if (!done_) return;
    asio::async_connect(socket_, addresses, [self = shared_from_this()](error_code error, const tcp::endpoint&) {
      if (error) return self->Fail(error.message(), error.value());
      if (!self->done_) return;
      self->host_.BeginTurn();
      self->timer_.cancel();
      const auto done = std::exchange(self->done_, nullptr);
      Connection::Ends ends = EndsOf(self->socket_);
      done(MakeStream(self->host_, std::move(self->socket_), std::move(ends)));
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
                                                      env::Net::AcceptHandler on_accept,
                                                      env::Net::CrowdHandler on_crowded) {
  error_code error;
  tcp::resolver resolver(host.context);
  const auto found = resolver.resolve(endpoint.host, std::to_string(endpoint.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    return base::Error{"cannot resolve '" + endpoint.host + "': " + error.message()};
  }
  const tcp::endpoint address = found.begin()->endpoint();
  tcp::acceptor acceptor(host.context);
  acceptor.open(address.protocol(), error);
  // A process that this one starts may outlive it, and would keep its port.
  if (!error) ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(address, error);
  if (!error) acceptor.listen(1024, error);
  if (error) {
    return base::Error{"cannot listen on " + endpoint.ToString() + ": " + error.message() + Remedy(error.value()),
                       error.value()};
  }
  const env::Endpoint local = ToEndpoint(error, acceptor.local_endpoint(error));
  // Connections begin with the listener's; those from elsewhere get the system's back. The other way round would come
  // too late: a connection that has begun to be paced stays so.
  const std::string systems = CongestionControlOf(acceptor.native_handle());
  SetCongestionControl(acceptor.native_handle(), kControlWithoutNetwork);
  return AcceptFrom<tcp>(
      host, std::move(acceptor), local,
      [&host, systems, on_accept = std::move(on_accept)](tcp::socket socket) {
        Connection::Ends ends = EndsOf(socket);
        if (auto stranger = StrangerAt(socket.native_handle(), ends.peer, ends.local))
          return Refuse(std::move(socket), *std::move(stranger));
        if (ends.peer.host != ends.local.host) SetCongestionControl(socket.native_handle(), systems);
        on_accept(MakeStream(host, std::move(socket), std::move(ends)));
      },
      std::move(on_crowded));
}

void AdoptStream(SocketHost& host, std::unique_ptr<env::Stream> stream, env::Net::AcceptHandler on_accept) {
  auto moved = static_cast<StreamOn<env::Stream>&>(*stream).MoveTo(host);  // no other kind has a posix loop's net
  asio::post(host.context, [&host, moved = std::move(moved), on_accept = std::move(on_accept)]() mutable {
    host.BeginTurn();
    on_accept(std::move(moved));
  });
}

void ConnectTo(SocketHost& host, const env::Endpoint& endpoint, base::Duration timeout, env::Net::ConnectHandler done) {
  std::make_shared<Connector>(host, endpoint, std::move(done))->Start(timeout);
}

}  // namespace fairlead::env_posix
