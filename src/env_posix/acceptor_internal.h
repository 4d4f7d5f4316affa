#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "env/net.h"
#include "env_posix/sockets_internal.h"

namespace fairlead::env_posix {

/// Accepts connections of one protocol until its Listener is destroyed.
template <class Protocol>
class Acceptor : public std::enable_shared_from_this<Acceptor<Protocol>> {
 public:
  using OnSocket = std::function<void(typename Protocol::socket)>;
  /// `listening` is open and bound to `local`.
  Acceptor(SocketHost& host, typename Protocol::acceptor listening, env::Endpoint local, OnSocket on_socket,
           std::function<void()> on_crowded)
      : host_(host),
        acceptor_(std::move(listening)),
        retry_(host.context),
        local_(std::move(local)),
        on_socket_(std::move(on_socket)),
        on_crowded_(std::move(on_crowded)) {
    if (on_crowded_) place_ = host_.crowd_handlers.insert(host_.crowd_handlers.end(), &on_crowded_);
  }

  void Accept() {
    const size_t sockets = host_.sockets;
    if (sockets >= host_.sockets_max && !MakeRoom(std::to_string(sockets) + " connections")) return AcceptLater();
    acceptor_.async_accept(
        [self = this->shared_from_this()](boost::system::error_code error, typename Protocol::socket socket) {
          if (self->stopped_) return;
          self->host_.BeginTurn();
          if (error && !(WantsFiles(error) && self->MakeRoom(error.message()))) return self->AcceptLater();
          if (!error) self->on_socket_(std::move(socket));
          if (!self->stopped_) self->Accept();
        });
  }

  void Stop() {
    stopped_ = true;
    if (on_crowded_) host_.crowd_handlers.erase(place_);
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
  }

  const env::Endpoint& local() const { return local_; }

 private:
  static bool WantsFiles(const boost::system::error_code& error) {
    using namespace boost::system::errc;
    return error == too_many_files_open || error == too_many_files_open_in_system;
  }

  /// Out of descriptors: those who are needed least are closed, of all listeners; false: there are none.
  bool MakeRoom(const std::string& reason) {
    host_.NoteCrowd(reason);
    const size_t before = host_.sockets;
    for (std::function<void()>* handler : host_.crowd_handlers) (*handler)();
    return host_.sockets < before;
  }

  /// Waiting a little lets connections end instead of spinning.
  void AcceptLater() {
    retry_.expires_after(std::chrono::milliseconds(50));
    retry_.async_wait([self = this->shared_from_this()](boost::system::error_code) {
      if (self->stopped_) return;
      self->host_.BeginTurn();
      self->Accept();
    });
  }

  SocketHost& host_;
  typename Protocol::acceptor acceptor_;
  boost::asio::steady_timer retry_;
  const env::Endpoint local_;
  OnSocket on_socket_;
  std::function<void()> on_crowded_;
  std::list<std::function<void()>*>::iterator place_;
  bool stopped_ = false;
};

template <class Protocol>
class ListenerOn final : public env::Listener {
 public:
  explicit ListenerOn(std::shared_ptr<Acceptor<Protocol>> acceptor) : acceptor_(std::move(acceptor)) {
    acceptor_->Accept();
  }
  ~ListenerOn() override { acceptor_->Stop(); }
  env::Endpoint local() const override { return acceptor_->local(); }

 private:
  std::shared_ptr<Acceptor<Protocol>> acceptor_;
};

/// Accepts from now on; `on_socket` is called on the loop's thread, once a connection.
template <class Protocol>
std::unique_ptr<env::Listener> AcceptFrom(SocketHost& host, typename Protocol::acceptor listening, env::Endpoint local,
                                          typename Acceptor<Protocol>::OnSocket on_socket,
                                          std::function<void()> on_crowded = nullptr) {
  return std::make_unique<ListenerOn<Protocol>>(std::make_shared<Acceptor<Protocol>>(
      host, std::move(listening), std::move(local), std::move(on_socket), std::move(on_crowded)));
}

}  // namespace fairlead::env_posix
