#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::env {

/// The TLS of one connection, seen from one side: bytes in, bytes out. It knows no socket and no time.
class TlsSession {
 public:
  virtual ~TlsSession() = default;
  /// Takes what the peer has sent. An error ends the session; TakeForPeer() then has the alert that tells the peer.
  virtual base::Status Receive(std::string_view wire) = 0;
  /// Encrypts; what is sent before the handshake is over waits for its end.
  virtual void Send(std::string_view plain) = 0;
  /// Tells the peer that no more comes, so that an end is no cut.
  virtual void End() = 0;
  /// What is to go to the peer now.
  virtual std::string TakeForPeer() = 0;
  /// What the peer has sent, decrypted and whole.
  virtual std::string TakeReceived() = 0;
  /// The handshake is over.
  virtual bool established() const = 0;
  /// The peer has said that it sends no more.
  virtual bool ended() const = 0;
};

/// Keys and what is trusted, for the connections of one port or one client (RFC 8446, RFC 5246).
class Tls {
 public:
  virtual ~Tls() = default;
  /// For a client that has come. The session may outlive this.
  virtual std::unique_ptr<TlsSession> Accept() = 0;
  /// To a server that shows by its certificate that it is `host`, a name or an address; its first bytes wait to be
  /// taken.
  virtual std::unique_ptr<TlsSession> Connect(const std::string& host) = 0;
};

}  // namespace fairlead::env
