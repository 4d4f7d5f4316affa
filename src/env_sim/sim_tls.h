#pragma once

#include <memory>
#include <string>

#include "env/tls.h"

namespace fairlead::env_sim {

/// TLS in name: two messages of a handshake, then records whose letters are turned around and counted, so that what is
/// changed, cut or plain is noticed.
class SimTls final : public env::Tls {
 public:
  /// A server's: whom its certificate names, and which authority has signed it.
  /// A client's: `name` is empty, `authority` is whom it trusts.
  SimTls(std::string name, std::string authority) : name_(std::move(name)), authority_(std::move(authority)) {}
  std::unique_ptr<env::TlsSession> Accept() override;
  std::unique_ptr<env::TlsSession> Connect(const std::string& host) override;

 private:
  const std::string name_;
  const std::string authority_;
};

}  // namespace fairlead::env_sim
