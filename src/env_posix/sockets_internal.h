#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "env/local_net.h"
#include "env/net.h"

namespace fairlead::env_posix {

/// What sockets need of their loop: the context, buffers that all connections share, and a wrapper that keeps the clock
/// constant during one callback.
class Connection;

struct SocketHost {
  static constexpr size_t kSendBuffer = 256 * 1024;
  boost::asio::io_context& context;
  std::vector<char> receive_buffer = std::vector<char>(256 * 1024);
  std::unique_ptr<char[]> send_buffer;               // kSendBuffer bytes, when parts of files have been sent
  inline static std::atomic<size_t> sockets;         // connections of this process
  size_t sockets_max = 0;                            // more are not accepted: the rest of the open files is for files
  std::list<std::function<void()>*> crowd_handlers;  // of the listeners, which own them
  std::list<Connection*> lingering;                  // closed by their owners, and not all is sent; the longest first
  size_t lingering_bytes = 0;                        // what they had in memory when they were closed
  virtual ~SocketHost() = default;
  explicit SocketHost(boost::asio::io_context& io);
  /// Reads the clock once for the callback that begins now.
  virtual void BeginTurn() = 0;
  /// No further connection can be accepted now.
  virtual void NoteCrowd(const std::string& reason) = 0;
};

base::Result<std::unique_ptr<env::Listener>> ListenOn(SocketHost& host, const env::Endpoint& endpoint,
                                                      env::Net::AcceptHandler on_accept,
                                                      env::Net::CrowdHandler on_crowded);
/// Called on the thread of the stream, not of `host`.
void AdoptStream(SocketHost& host, std::unique_ptr<env::Stream> stream, env::Net::AcceptHandler on_accept);
base::Result<std::unique_ptr<env::Listener>> ListenOnName(SocketHost& host, const std::string& name,
                                                          env::LocalNet::LocalAcceptHandler on_accept);
void ConnectToName(SocketHost& host, const std::string& name, env::LocalNet::LocalConnectHandler done);
void ConnectTo(SocketHost& host, const env::Endpoint& endpoint, base::Duration timeout, env::Net::ConnectHandler done);

}  // namespace fairlead::env_posix
