#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::env {

/// One login by GSSAPI's Kerberos mechanism, seen from one side; after it, messages wrapped and unwrapped in their
/// order. Destroying it ends it at any moment: what it waits for is dropped.
class GssContext {
 public:
  struct Token {
    std::string bytes;  // to the peer; may be empty
    bool done = false;  // this side is content
  };
  using Done = std::function<void(base::Result<Token>)>;

  virtual ~GssContext() = default;
  /// Takes what the peer has sent (nothing at the initiator's first step). `done` runs on the loop, never from inside
  /// this call; one step at a time. An error is for the log and for this side's user, never for the peer.
  virtual void Step(std::string token, Done done) = 0;
  /// After the last step: who the peer is, in full ("alice@EXAMPLE.COM").
  virtual const std::string& peer() const = 0;
  /// After the last step; on the loop. With `confidential` nobody else can read the message.
  virtual base::Result<std::string> Wrap(std::string_view message, bool confidential) = 0;
  /// The message; an error when it was changed, repeated, out of turn, or not `confidential` where that is asked.
  virtual base::Result<std::string> Unwrap(std::string_view wrapped, bool confidential) = 0;
};

/// Kerberos as one identity: a daemon's, of a keytab, or that of the process' user with the ticket that kinit got.
/// Steps read files and ask a KDC, so they run off the loop: a KDC that does not answer keeps waiting those alone who
/// want a ticket of it.
class Gss {
 public:
  virtual ~Gss() = default;
  /// For a client that comes to this identity from `address`. Addresses take turns: many steps of one keep no other's
  /// waiting.
  virtual std::unique_ptr<GssContext> Accept(const std::string& address) = 0;
  /// To a service: "rm/_HOST@EXAMPLE.COM", where _HOST stands for the name of `host`, a name or an address. Or to one
  /// that fits a pattern (IsServerPattern): `host` is what it says it is then, "rm/rm1.example.com".
  virtual std::unique_ptr<GssContext> Initiate(const std::string& principal, const std::string& host) = 0;
};

}  // namespace fairlead::env
