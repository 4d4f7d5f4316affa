#include "env_sim/sim_gss.h"

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "env/alive.h"
#include "env/server_pattern.h"

namespace fairlead::env_sim {

namespace {

constexpr char kReply[] = "reply:";
constexpr size_t kSumBytes = 8;

base::Result<std::string> Named(const std::string& principal, const std::string& host) {
  if (env::IsServerPattern(principal)) {
    return env::FittingServer(principal, host, [](const std::string&) { return std::string("EXAMPLE.COM"); });
  }
  constexpr std::string_view kHost = "/_HOST@";
  const size_t at = principal.find(kHost);
  if (at == std::string::npos) return principal;
  return principal.substr(0, at + 1) + host + principal.substr(at + kHost.size() - 1);
}

/// Of everything that must not change.
uint64_t Sum(const std::string& key, bool of_initiator, uint64_t number, std::string_view message) {
  uint64_t sum = 14695981039346656037ULL + number * 2 + (of_initiator ? 1 : 0);
  for (const std::string_view text : {std::string_view(key), message}) {
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return sum;
}

}  // namespace

class SimContext final : public env::GssContext {
 public:
  /// `server`: that is called, or why none is; empty: this is one.
  SimContext(SimRealm& realm, env::Loop& loop, std::string own, base::Result<std::string> server)
      : realm_(realm),
        loop_(loop),
        own_(std::move(own)),
        server_(std::move(server)),
        initiator_(!server_.ok() || !server_->empty()),
        peer_(server_.ok() ? *server_ : "") {}

  void Step(std::string token, Done done) override {
    if (initiator_ && token.empty() && realm_.silent_) return;
    loop_.Post(alive_([this, token = std::move(token), done = std::move(done)] {
      done(initiator_ ? Initiate(token) : Accept(token));
    }));
  }
  const std::string& peer() const override { return peer_; }

  base::Result<std::string> Wrap(std::string_view message, bool confidential) override {
    std::string out(1, confidential ? 'p' : 'i');
    base::ByteWriter(out).U64(Sum(key_, initiator_, sent_++, message));
    for (const char c : message) out.push_back(confidential ? static_cast<char>(~c) : c);
    return out;
  }
  base::Result<std::string> Unwrap(std::string_view wrapped, bool confidential) override {
    if (wrapped.size() < 1 + kSumBytes) return base::Error{"cut"};
    const bool sealed = wrapped[0] == 'p';
    if (confidential && !sealed) return base::Error{"not confidential"};
    std::string message(wrapped.substr(1 + kSumBytes));
    if (sealed) {
      for (char& c : message) c = static_cast<char>(~c);
    }
    const uint64_t sum = base::BigEndian<uint64_t>(wrapped.substr(1));
    if (sum != Sum(key_, !initiator_, taken_, message)) return base::Error{"changed, repeated or out of turn"};
    ++taken_;
    return message;
  }

 private:
  base::Result<Token> Initiate(const std::string& token) {
    if (!token.empty()) {
      if (token != kReply + key_) return base::Error{"the server has not shown who it is"};
      return Token{"", true};
    }
    if (!server_.ok()) return server_.error();
    if (own_.empty() || realm_.expired_.contains(own_)) return base::Error{"No Kerberos credentials available"};
    key_ = own_ + " to " + peer_ + " " + std::to_string(++realm_.last_);
    realm_.valid_.insert(key_);
    return Token{key_, false};
  }
  base::Result<Token> Accept(const std::string& token) {
    const size_t to = token.find(" to " + own_ + " ");
    if (to == std::string::npos || realm_.valid_.erase(token) == 0) return base::Error{"no valid ticket"};
    key_ = token;
    peer_ = token.substr(0, to);
    return Token{kReply + key_, true};
  }

  SimRealm& realm_;
  env::Loop& loop_;
  const std::string own_;
  const base::Result<std::string> server_;
  const bool initiator_;
  std::string peer_;
  std::string key_;
  uint64_t sent_ = 0;
  uint64_t taken_ = 0;
  env::Alive alive_;
};

namespace {

class SimGss final : public env::Gss {
 public:
  SimGss(SimRealm& realm, env::Loop& loop, std::string principal)
      : realm_(realm), loop_(loop), principal_(std::move(principal)) {}
  std::unique_ptr<env::GssContext> Accept(const std::string&) override {
    return std::make_unique<SimContext>(realm_, loop_, principal_, std::string());
  }
  std::unique_ptr<env::GssContext> Initiate(const std::string& principal, const std::string& host) override {
    return std::make_unique<SimContext>(realm_, loop_, principal_, Named(principal, host));
  }

 private:
  SimRealm& realm_;
  env::Loop& loop_;
  const std::string principal_;
};

}  // namespace

std::unique_ptr<env::Gss> SimRealm::As(env::Loop& loop, const std::string& principal) {
  return std::make_unique<SimGss>(*this, loop, principal);
}

}  // namespace fairlead::env_sim
