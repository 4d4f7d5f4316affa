#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// TLS below the frames (spark.ssl.rpc.* of Spark 4): the server's side as bytes in, bytes out. The protocol is
// OpenSSL's.

namespace fairlead::wire::spark_transport {

/// The contents of key files, and what may be agreed upon.
struct TlsKeys {
  // Either PEM texts (privateKey, certChain) ...
  std::string private_key;
  std::string private_key_password;
  std::string cert_chain;
  // ... or a keystore in PKCS12, which needs a key and its certificates.
  std::string key_store;
  std::string key_store_password;
  /// "TLSv1.2", "TLSv1.3"; empty: both (SSLFactory.enabledProtocols).
  std::string protocol;
  /// Java's names of cipher suites (IANA's); empty: OpenSSL's choice for the protocols.
  std::vector<std::string> cipher_suites;
};

/// Keys in the form that connections share; immutable, for any thread.
class TlsContext {
 public:
  /// An Error names what is wrong with which key and, for a JKS keystore, the command that converts it.
  static base::Result<std::shared_ptr<const TlsContext>> Make(const TlsKeys& keys);

  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

 private:
  friend class TlsServer;
  struct State;
  explicit TlsContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// One connection of a server. After an error nothing but closing is left.
class TlsServer {
 public:
  explicit TlsServer(const TlsContext& context);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  /// Takes the next bytes from the peer; appends what they say to `plain` and what must be answered to `out`, also with
  /// an error (the alert).
  base::Status Receive(std::string_view bytes, std::string& plain, std::string& out);
  /// Appends the encrypted form of `plain`. Only after the handshake, that is after Receive gave bytes.
  void Send(std::string_view plain, std::string& out);
  /// Appends the orderly end of this side.
  void End(std::string& out);
  /// The peer said that nothing more will come.
  bool peer_ended() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fairlead::wire::spark_transport
