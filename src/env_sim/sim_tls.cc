#include "env_sim/sim_tls.h"

#include <utility>

namespace fairlead::env_sim {

namespace {

// Records: a kind, the length of the body in four bytes, the body.
constexpr char kHandshake = 0x16;
constexpr char kData = 0x17;
constexpr char kAlert = 0x15;
constexpr size_t kHead = 5;
constexpr size_t kMost = 1 << 20;

std::string Turned(std::string_view text) {
  std::string out;
  for (const char c : text) out.push_back(static_cast<char>(~c));
  return out;
}

class SimSession final : public env::TlsSession {
 public:
  /// `host`: of the server that is asked for; empty at the server.
  SimSession(std::string host, std::string name, std::string authority)
      : host_(std::move(host)), name_(std::move(name)), authority_(std::move(authority)) {
    if (!host_.empty()) Put(kHandshake, "hello");
  }

  base::Status Receive(std::string_view wire) override {
    arrived_ += wire;
    while (arrived_.size() >= kHead) {
      size_t size = 0;
      for (size_t i = 1; i < kHead; ++i) size = size << 8 | static_cast<unsigned char>(arrived_[i]);
      if (size > kMost) return Fail("a record that is too long");
      if (arrived_.size() < kHead + size) break;
      const char kind = arrived_[0];
      const std::string body = arrived_.substr(kHead, size);
      arrived_.erase(0, kHead + size);
      if (base::Status taken = TakeRecord(kind, body); !taken.ok()) return taken;
    }
    return {};
  }
  void Send(std::string_view plain) override {
    if (!established_) {
      waiting_ += plain;
    } else if (!plain.empty()) {
      Put(kData, static_cast<char>(sent_++) + Turned(plain));
    }
  }
  void End() override { Put(kAlert, "end"); }
  std::string TakeForPeer() override { return std::exchange(for_peer_, {}); }
  std::string TakeReceived() override { return std::exchange(received_, {}); }
  bool established() const override { return established_; }
  bool ended() const override { return ended_; }

 private:
  base::Status TakeRecord(char kind, const std::string& body) {
    if (kind == kAlert && body == "end") {
      ended_ = true;
      return {};
    }
    if (kind == kAlert) return base::Error{"the peer says: " + body};
    if (kind == kHandshake && !established_) return Shake(body);
    if (kind != kData || !established_ || body.empty() || body[0] != static_cast<char>(got_++)) {
      return Fail("a record that was changed, or out of turn");
    }
    received_ += Turned(std::string_view(body).substr(1));
    return {};
  }
  base::Status Shake(const std::string& body) {
    if (host_.empty()) {
      if (body != "hello") return Fail("no hello");
      Put(kHandshake, name_ + " by " + authority_);
    } else if (body != host_ + " by " + authority_) {
      return Fail("the certificate of " + host_ + " is not trusted");
    }
    established_ = true;
    Send(std::exchange(waiting_, {}));
    return {};
  }
  base::Error Fail(const std::string& why) {
    Put(kAlert, why);
    return {why};
  }
  void Put(char kind, std::string_view body) {
    for_peer_.push_back(kind);
    for (int shift = 24; shift >= 0; shift -= 8) for_peer_.push_back(static_cast<char>(body.size() >> shift));
    for_peer_ += body;
  }

  const std::string host_, name_, authority_;
  bool established_ = false;
  bool ended_ = false;
  uint8_t sent_ = 0, got_ = 0;
  std::string arrived_, waiting_, for_peer_, received_;
};

}  // namespace

std::unique_ptr<env::TlsSession> SimTls::Accept() { return std::make_unique<SimSession>("", name_, authority_); }

std::unique_ptr<env::TlsSession> SimTls::Connect(const std::string& host) {
  return std::make_unique<SimSession>(host, "", authority_);
}

}  // namespace fairlead::env_sim
