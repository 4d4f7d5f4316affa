#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "env/disk.h"

namespace fairlead::env {

/// A host name or numeric address, and a port.
struct Endpoint {
  std::string host;
  uint16_t port = 0;
  std::string ToString() const;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// "host:port" or "[v6]:port" -> Endpoint; the port may be left out when `default_port` is not 0.
base::Result<Endpoint> ParseEndpoint(std::string_view text, uint16_t default_port = 0);
/// Nobody but this host answers there.
bool IsLoopback(std::string_view host);

/// The owner's side of a Stream. None of these is called after Close() or after OnClosed.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  /// Bytes in order; `bytes` lives only during the call.
  virtual void OnData(std::string_view bytes) = 0;
  /// The peer ended the stream or it broke (`reason` empty: orderly end). Unsent bytes are gone. The owner may destroy
  /// the Stream from here.
  virtual void OnClosed(const std::string& reason) = 0;
  /// unsent() fell to half of its high-water mark or below after having been above it.
  virtual void OnDrained() {}
  /// overhead() has changed.
  virtual void OnOverhead() {}
};

/// A connected byte stream. Destroying it closes it at once; nothing is called any more.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Begins to read; `handler` must outlive the stream or its Close().
  virtual void Start(StreamHandler* handler) = 0;
  /// Queues bytes; never blocks. Writes and file sends go out in the order of the calls.
  virtual void Write(std::string bytes) = 0;
  /// Queues `length` bytes of `file` from `offset` (sendfile where there is one). A short file closes the stream.
  virtual void SendFile(std::shared_ptr<File> file, uint64_t offset, uint64_t length) = 0;
  /// Bytes queued and not yet taken by the kernel.
  virtual size_t unsent() const = 0;
  /// unsent() above this is a full queue, and OnDrained comes at half of it (at first 1 MiB).
  virtual void SetHighWater(size_t) {}
  /// While paused no OnData comes and the peer is slowed down by TCP.
  virtual void PauseReading() = 0;
  virtual void ResumeReading() = 0;
  /// Sends what is queued, then closes; OnClosed is not called. A peer that takes nothing of it for some seconds, or
  /// longest among too many, is cut off.
  virtual void CloseAfterFlush() = 0;
  /// Closes at once.
  virtual void Close() = 0;
  virtual Endpoint peer() const = 0;
  virtual Endpoint local() const = 0;
  /// What it holds in memory besides unsent(), in bytes: a handshake that is under way.
  virtual size_t overhead() const { return 0; }
};

class Listener {
 public:
  /// Stops accepting.
  virtual ~Listener() = default;
  /// The bound address; the port is the real one when 0 was asked for.
  virtual Endpoint local() const = 0;
};

class Net {
 public:
  virtual ~Net() = default;
  using AcceptHandler = std::function<void(std::unique_ptr<Stream>)>;
  using CrowdHandler = std::function<void()>;
  using ConnectHandler = std::function<void(base::Result<std::unique_ptr<Stream>>)>;

  /// Binds and listens; host "0.0.0.0" or "::" for every address. `on_crowded` is called while this process cannot take
  /// more connections for want of open files: the owner closes those that it needs least, and accepting goes on soon.
  virtual base::Result<std::unique_ptr<Listener>> Listen(const Endpoint& endpoint, AcceptHandler on_accept,
                                                         CrowdHandler on_crowded) = 0;
  base::Result<std::unique_ptr<Listener>> Listen(const Endpoint& endpoint, AcceptHandler on_accept) {
    return Listen(endpoint, std::move(on_accept), nullptr);
  }
  /// Takes a stream over from a loop of another thread, where it is not started and where this is called; `on_accept`
  /// gets it on this net's loop.
  virtual void Adopt(std::unique_ptr<Stream> stream, AcceptHandler on_accept) = 0;
  /// Resolves and connects; `done` gets a stream that is not yet started, or why not.
  virtual void Connect(const Endpoint& endpoint, base::Duration timeout, ConnectHandler done) = 0;
};

}  // namespace fairlead::env
