#include "process/executor/driver_connection.h"

#include "wire/engine/proof.h"

namespace fairlead::process::executor {

namespace we = wire::engine;

DriverConnection::DriverConnection(env::Loop& loop, env::Net& net, std::string secret, we::Hello hello,
                                   Callbacks callbacks)
    : loop_(loop), net_(net), secret_(std::move(secret)), hello_(std::move(hello)), callbacks_(std::move(callbacks)) {}

DriverConnection::~DriverConnection() = default;

void DriverConnection::Connect(const env::Endpoint& driver) {
  net_.Connect(driver, base::Duration::Seconds(20),
               alive_([this](base::Result<std::unique_ptr<env::Stream>> connected) {
                 if (!connected) return End("cannot reach the driver: " + connected.error().message, false);
                 stream_ = std::move(*connected);
                 stream_->Start(this);
                 last_heard_ = loop_.Now();
                 PingLater();
               }));
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
  if (!stream_ || out_.empty()) return;
  stream_->Write(std::move(out_));
  out_.clear();
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
  parser_.Feed(bytes);
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
  if (const auto* challenge = std::get_if<we::Challenge>(&message)) {
    hello_.proof = we::ProofOf(secret_, challenge->nonce);
    Send(hello_);
  } else if (const auto* welcome = std::get_if<we::Welcome>(&message)) {
    welcomed_ = true;
    callbacks_.on_welcome(*welcome);
  } else if (const auto* refused = std::get_if<we::Refused>(&message)) {
    End("the driver refused this executor: " + refused->reason, false);
  } else if (const auto* shutdown = std::get_if<we::Shutdown>(&message)) {
    End(shutdown->reason, true);
  } else if (welcomed_ && !std::holds_alternative<we::Ping>(message)) {
    callbacks_.on_message(std::move(message));
  }
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
