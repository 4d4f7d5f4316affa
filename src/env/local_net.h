#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/disk.h"
#include "env/net.h"

namespace fairlead::env {

/// A stream between two processes of one host, which carries open files besides bytes (SCM_RIGHTS). A file arrives not
/// later than the first of the bytes it was sent with.
class LocalStream : public Stream {
 public:
  /// As Write; the peer gets a descriptor of `file`, which must have one.
  virtual void WriteWithFile(std::string bytes, std::shared_ptr<File> file) = 0;
  /// Files that WriteWithFile was given and the kernel has not taken yet.
  virtual size_t unsent_files() const = 0;
  /// The next file that arrived; nullptr: none is there.
  virtual std::shared_ptr<File> TakeFile() = 0;
  /// User id under which the peer connected or listened (SO_PEERCRED).
  virtual uint32_t peer_user() const = 0;
};

/// Named meeting points within this host. A name that begins with "/" is a path: who may enter its directory may meet
/// there, and nobody else can take its place. Other names are of the kernel (abstract sockets of this network
/// namespace): no file stays behind, and nothing guards them, so whoever connects looks at peer_user().
class LocalNet {
 public:
  virtual ~LocalNet() = default;
  using LocalAcceptHandler = std::function<void(std::unique_ptr<LocalStream>)>;
  using LocalConnectHandler = std::function<void(base::Result<std::unique_ptr<LocalStream>>)>;

  virtual base::Result<std::unique_ptr<Listener>> ListenLocal(const std::string& name,
                                                              LocalAcceptHandler on_accept) = 0;
  /// `done` comes in a later turn; an Error at once when nobody listens.
  virtual void ConnectLocal(const std::string& name, LocalConnectHandler done) = 0;
};

}  // namespace fairlead::env
