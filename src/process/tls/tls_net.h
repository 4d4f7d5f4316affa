#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "env/loop.h"
#include "env/net.h"
#include "env/tls.h"

namespace fairlead::process::tls {

/// Handshakes that did not come to their end.
struct Failures {
  uint64_t count = 0;
  std::string last;  // why
};

/// Another net's connections, in TLS. Who uses its streams knows nothing of it: a stream is there before the handshake,
/// what is written waits, and a handshake that fails closes it with the reason.
///
/// A server's handshakes take turns, by address, with at most half of the loop's time: a crowd of strangers keeps its
/// like waiting, and nobody who is in. A handshake of more than 64 KiB ends; for one that takes too long the owner of
/// the stream has its deadline. Who speaks plain HTTP is told so in plain HTTP.
class TlsListening final : public env::Net {
 public:
  TlsListening(env::Loop& loop, env::Net& net, env::Tls& tls);
  ~TlsListening() override;

  using env::Net::Listen;
  base::Result<std::unique_ptr<env::Listener>> Listen(const env::Endpoint& endpoint, AcceptHandler on_accept,
                                                      CrowdHandler on_crowded) override;
  /// The other net's, without TLS: a port's own fetches go where they are told to.
  void Adopt(std::unique_ptr<env::Stream> stream, AcceptHandler on_accept) override;
  void Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) override;

  /// Handshakes that did not come to their end, plain HTTP among them.
  uint64_t failed() const;

 private:
  class Turns;
  env::Loop& loop_;
  env::Net& net_;
  env::Tls& tls_;
  std::shared_ptr<Turns> turns_;
};

/// A client's net: what it connects to speaks TLS.
class TlsConnecting : public env::Net {
 public:
  TlsConnecting(env::Loop& loop, env::Net& net, env::Tls& tls) : loop_(loop), net_(net), tls_(tls) {}

  using env::Net::Listen;
  base::Result<std::unique_ptr<env::Listener>> Listen(const env::Endpoint& endpoint, AcceptHandler on_accept,
                                                      CrowdHandler on_crowded) override {
    return net_.Listen(endpoint, std::move(on_accept), std::move(on_crowded));
  }
  void Adopt(std::unique_ptr<env::Stream> stream, AcceptHandler on_accept) override {
    net_.Adopt(std::move(stream), std::move(on_accept));
  }
  void Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) override;

  /// Why the last handshake that failed did; empty: none has.
  const std::string& failure() const { return failures_->last; }

 private:
  env::Loop& loop_;
  env::Net& net_;
  env::Tls& tls_;
  const std::shared_ptr<Failures> failures_ = std::make_shared<Failures>();
};

}  // namespace fairlead::process::tls
