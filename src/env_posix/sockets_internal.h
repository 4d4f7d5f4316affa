#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "env/local_net.h"
#include "env/net.h"

namespace fairlead::env_posix {

/// What sockets need of their loop: the context, buffers that all connections share, and a wrapper that keeps the clock
/// constant during one callback.
struct SocketHost {
  static constexpr size_t kSendBuffer = 256 * 1024;
  boost::asio::io_context& context;
  std::vector<char> receive_buffer = std::vector<char>(256 * 1024);
  std::unique_ptr<char[]> send_buffer;  // kSendBuffer bytes, when parts of files have been sent
  virtual ~SocketHost() = default;
  explicit SocketHost(boost::asio::io_context& io) : context(io) {}
  /// Reads the clock once for the callback that begins now.
  virtual void BeginTurn() = 0;
};

base::Result<std::unique_ptr<env::Listener>> ListenOn(SocketHost& host, const env::Endpoint& endpoint,
                                                      env::Net::AcceptHandler on_accept);
/// Called on the thread of the stream, not of `host`.
void AdoptStream(SocketHost& host, std::unique_ptr<env::Stream> stream, env::Net::AcceptHandler on_accept);
base::Result<std::unique_ptr<env::Listener>> ListenOnName(SocketHost& host, const std::string& name,
                                                          env::LocalNet::LocalAcceptHandler on_accept);
void ConnectToName(SocketHost& host, const std::string& name, env::LocalNet::LocalConnectHandler done);
void ConnectTo(SocketHost& host, const env::Endpoint& endpoint, base::Duration timeout, env::Net::ConnectHandler done);

}  // namespace fairlead::env_posix
