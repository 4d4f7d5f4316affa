#include "process/executor/driver_connection.h"

#include "wire/engine/proof.h"

namespace fairlead::process::executor {

namespace we = wire::engine;

namespace {
/// A node hears within a few heartbeats that an application is over, and ends its containers.
constexpr base::Duration kTriesFor = base::Duration::Seconds(10);
constexpr base::Duration kTryInterval = base::Duration::Millis(500);
}  // namespace

DriverConnection::DriverConnection(env::Loop& loop, env::Net& net, std::string secret, we::Hello hello,
                                   Callbacks callbacks)
    : loop_(loop), net_(net), secret_(std::move(secret)), hello_(std::move(hello)), callbacks_(std::move(callbacks)) {}

DriverConnection::~DriverConnection() = default;

void DriverConnection::Connect(const env::Endpoint& driver) {
  if (!tried_since_) tried_since_ = loop_.Now();
  net_.Connect(driver, base::Duration::Seconds(20),
               alive_([this, driver](base::Result<std::unique_ptr<env::Stream>> connected) {
                 if (!connected) return OnNotReached(driver, connected.error().message);
                 stream_ = std::move(*connected);
                 stream_->Start(this);
                 last_heard_ = loop_.Now();
                 PingLater();
               }));
}

/// A driver whose job is done is gone, too, and then its executor has not failed.
void DriverConnection::OnNotReached(const env::Endpoint& driver, const std::string& why) {
  if (loop_.Now() - *tried_since_ >= kTriesFor) return End("cannot reach the driver: " + why, false);
  loop_.After(kTryInterval, alive_([this, driver] { Connect(driver); }));
}

void DriverConnection::Send(const we::Message& message) {
  if (ended_) return;
  AppendFrame(out_, message);
  if (out_.size() >= (256 << 10)) return Flush();
  if (flush_posted_) return;
  flush_posted_ = true;
  loop_.Post(alive_([this] { Flush(); }));
}

void DriverConnection::Flush() {
  flush_posted_ = false;
  if (!stream_ || !sealer_ || out_.empty()) return;  // the rest waits until the driver is known
  std::string wire;
  sealer_->Seal(out_, wire);
  out_.clear();
  stream_->Write(std::move(wire));
}

/// Also before the driver's welcome: a driver that says nothing is none.
void DriverConnection::PingLater() {
  ping_timer_.After(base::Duration::Millis(we::kPingIntervalMs), [this] {
    if (ended_) return;
    if ((loop_.Now() - last_heard_).millis() > we::kSilenceMaxMs) return End("nothing was heard of the driver", false);
    if (welcomed_) Send(we::Ping{});
    PingLater();
  });
}

void DriverConnection::OnData(std::string_view bytes) {
  last_heard_ = loop_.Now();
  std::string plain;
  if (opener_) {
    const base::Status opened = opener_->Open(bytes, plain);
    if (!opened.ok()) return End("the driver sent something malformed: " + opened.error().message, false);
  }
  parser_.Feed(opener_ ? std::string_view(plain) : bytes);
  const env::Alive::Watch alive = alive_.watch();
  we::Message message;
  for (;;) {
    const base::Result<bool> next = parser_.Next(message);
    if (!next) return End("the driver sent something malformed: " + next.error().message, false);
    if (!*next) return;
    OnMessage(message);
    if (!alive || ended_) return;
  }
}

void DriverConnection::OnMessage(we::Message& message) {
  if (const auto* refused = std::get_if<we::Refused>(&message)) {
    End("the driver refused this executor: " + refused->reason, false);
  } else if (const auto* shutdown = std::get_if<we::Shutdown>(&message)) {
    End(shutdown->reason, true);
  } else if (!opener_) {
    OnStrangersMessage(message);
  } else if (const auto* welcome = std::get_if<we::Welcome>(&message)) {
    welcomed_ = true;
    callbacks_.on_welcome(*welcome);
  } else if (welcomed_ && !std::holds_alternative<we::Ping>(message)) {
    callbacks_.on_message(std::move(message));
  }
}

void DriverConnection::OnStrangersMessage(const we::Message& message) {
  if (const auto* challenge = std::get_if<we::Challenge>(&message); challenge && driver_nonce_.empty()) {
    SayHello(challenge->nonce);
  } else if (const auto* known = std::get_if<we::Known>(&message); known && !driver_nonce_.empty()) {
    OnKnown(known->proof);
  } else {
    End("what answers at the driver's address has not shown that it knows the application's secret", false);
  }
}

void DriverConnection::SayHello(const std::string& nonce) {
  if (nonce.size() != we::kNonceBytes) return End("the driver's challenge is of another length", false);
  driver_nonce_ = nonce;
  uint8_t own[we::kNonceBytes];
  loop_.RandomBytes(own);
  hello_.nonce.assign(reinterpret_cast<const char*>(own), sizeof own);
  hello_.proof = we::ProofOf(secret_, driver_nonce_, hello_);
  std::string frame;
  we::AppendFrame(frame, hello_);
  stream_->Write(std::move(frame));
}

void DriverConnection::OnKnown(const std::string& proof) {
  if (!we::SameProof(proof, we::AnswerTo(secret_, driver_nonce_, hello_))) {
    return End("what answers at the driver's address does not know the application's secret", false);
  }
  const we::ChannelKeys keys = we::KeysOf(secret_, driver_nonce_, hello_.nonce);
  sealer_.emplace(keys.to_driver);
  opener_.emplace(keys.to_executor);
  std::string plain;
  const base::Status opened = opener_->Open(parser_.TakeRest(), plain);
  if (!opened.ok()) return End("the driver sent something malformed: " + opened.error().message, false);
  parser_.set_frame_max(we::kFrameMax);
  parser_.Feed(plain);
  Flush();
}

void DriverConnection::OnClosed(const std::string& reason) {
  End(reason.empty() ? "the driver closed the connection" : "the connection to the driver broke: " + reason, false);
}

void DriverConnection::End(const std::string& reason, bool orderly) {
  if (ended_) return;
  ended_ = true;
  callbacks_.on_end(reason, orderly);
}

}  // namespace fairlead::process::executor
