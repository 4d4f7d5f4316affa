#include "process/driver/executor_server.h"

#include <optional>

#include "env/alive.h"
#include "env/timer.h"
#include "wire/engine/channel.h"
#include "wire/engine/proof.h"

namespace fairlead::process::driver {

namespace we = wire::engine;

/// One connection.
class ExecutorServer::Peer : public env::StreamHandler, public ExecutorLink, public peers::Peer {
 public:
  Peer(ExecutorServer& server, uint64_t number, std::unique_ptr<env::Stream> stream)
      : server_(server),
        number_(number),
        stream_(std::move(stream)),
        seat_(server.table_, *this, stream_->peer().host) {
    uint8_t nonce[we::kNonceBytes];
    server_.loop_.RandomBytes(nonce);
    nonce_.assign(reinterpret_cast<const char*>(nonce), sizeof nonce);
    // A peer that says nothing does not hold its connection for ever.
    timer_.After(base::Duration::Seconds(10), [this] { Refuse("no hello in time"); });
    stream_->Start(this);
    Send(we::Challenge{nonce_});
  }
  ~Peer() override = default;

  void Send(const we::Message& message) override {
    if (!stream_) return;
    AppendFrame(out_, message);
    if (out_.size() >= (256 << 10)) return Flush();
    if (flush_posted_) return;
    flush_posted_ = true;
    server_.loop_.Post(alive_([this] { Flush(); }));
  }

  void OnData(std::string_view bytes) override {
    last_heard_ = server_.loop_.Now();
    std::string plain;
    if (opener_) {
      const base::Status opened = opener_->Open(bytes, plain);
      if (!opened.ok()) return Lose("malformed message: " + opened.error().message);
    }
    parser_.Feed(opener_ ? std::string_view(plain) : bytes);
    const env::Alive::Watch alive = alive_.watch();
    we::Message message;
    for (;;) {
      const base::Result<bool> next = parser_.Next(message);
      if (!next) return Lose("malformed message: " + next.error().message);
      if (!*next) return;
      if (admitted_) {
        server_.driver_.OnMessage(index_, std::move(message));
      } else if (const auto* hello = std::get_if<we::Hello>(&message)) {
        Admit(*hello);
      } else {
        return Lose("first message is no hello");
      }
      if (!alive || !stream_) return;
    }
  }
  void OnClosed(const std::string& reason) override {
    Lose(reason.empty() ? "the executor closed its connection" : "the connection broke: " + reason);
  }

  void Evict() override { Lose("there are too many connections"); }
  size_t HeldBytes() const override { return 0; }  // bounded each: executors are this job's own

  void Goodbye(const std::string& reason) {
    Send(we::Shutdown{reason});
    Flush();
  }
  /// The same before it is known who that is.
  void Decline(const std::string& reason) { Part(we::Shutdown{reason}); }
  bool admitted() const { return admitted_; }
  model::tasks::ExecutorIndex index() const { return index_; }

 private:
  void Admit(const we::Hello& hello) {
    StopTimer();
    if (hello.nonce.size() != we::kNonceBytes) return Refuse("a hello of another build");
    if (!we::SameProof(hello.proof, we::ProofOf(server_.secret_, nonce_, hello))) return Refuse("wrong secret");
    if (!BeginChannel(hello)) return Lose("more than a hello");
    if (hello.build_id != server_.build_id_) {
      return Refuse("build " + hello.build_id + " is not the driver's build " + server_.build_id_);
    }
    base::Result<ExecutorInfo> info = server_.callbacks_.admit(hello);
    if (!info) return Refuse(info.error().message);
    admitted_ = true;
    seat_.Become(peers::Standing::kMember);
    id_ = info->id;
    parser_.set_frame_max(we::kFrameMax);
    index_ = server_.driver_.AddExecutor(*info, this);
    Send(we::Welcome{index_.value});
    PingLater();
    server_.callbacks_.on_ready(id_, index_);
  }
  /// Shows that the driver knows the secret, too; what follows is sealed. False: the executor did not wait for it.
  bool BeginChannel(const we::Hello& hello) {
    Send(we::Known{we::AnswerTo(server_.secret_, nonce_, hello)});
    Flush();
    const we::ChannelKeys keys = we::KeysOf(server_.secret_, nonce_, hello.nonce);
    sealer_.emplace(keys.to_executor);
    opener_.emplace(keys.to_driver);
    return parser_.TakeRest().empty();
  }
  void Refuse(const std::string& why) { Part(we::Refused{why}); }
  void Part(const we::Message& with) {
    Send(with);
    Flush();
    if (stream_) stream_->CloseAfterFlush();
    server_.Remove(number_);
  }
  void PingLater() {
    timer_.After(base::Duration::Millis(we::kPingIntervalMs), [this] {
      if ((server_.loop_.Now() - last_heard_).millis() > we::kSilenceMaxMs) return Lose("nothing was heard of it");
      Send(we::Ping{});
      PingLater();
    });
  }
  void Lose(const std::string& why) {
    StopTimer();
    stream_.reset();
    if (admitted_) {
      admitted_ = false;
      server_.driver_.Detach(index_);
      if (!server_.callbacks_.on_lost(id_, index_, why)) {
        server_.driver_.RemoveExecutor(index_, model::tasks::LossKind::kProcessLost, false, why);
      }
    }
    server_.Remove(number_);
  }
  void Flush() {
    flush_posted_ = false;
    if (!stream_ || out_.empty()) return;
    std::string wire;
    if (sealer_) {
      sealer_->Seal(out_, wire);
    } else {
      wire = std::move(out_);
    }
    out_.clear();
    stream_->Write(std::move(wire));
  }
  void StopTimer() { timer_.Stop(); }

  ExecutorServer& server_;
  const uint64_t number_;
  std::unique_ptr<env::Stream> stream_;
  peers::PeerTable::Seat seat_;
  we::FrameParser parser_{we::kFrameMaxUnknownPeer};
  std::string nonce_;
  std::optional<we::Sealer> sealer_;  // both from when each side is known to the other
  std::optional<we::Opener> opener_;
  std::string id_;
  model::tasks::ExecutorIndex index_;
  bool admitted_ = false;
  bool flush_posted_ = false;
  std::string out_;
  env::Timer timer_{server_.loop_};
  base::Instant last_heard_;
  env::Alive alive_;
};

ExecutorServer::ExecutorServer(env::Loop& loop, env::Net& net, JobDriver& driver, std::string secret,
                               std::string build_id, Callbacks callbacks)
    : loop_(loop),
      net_(net),
      driver_(driver),
      secret_(std::move(secret)),
      build_id_(std::move(build_id)),
      callbacks_(std::move(callbacks)) {}

ExecutorServer::~ExecutorServer() = default;

base::Result<env::Endpoint> ExecutorServer::Listen(const env::Endpoint& endpoint) {
  auto listener = net_.Listen(
      endpoint,
      [this](std::unique_ptr<env::Stream> stream) {
        if (!table_.MakeRoom(stream->peer().host)) return;
        const uint64_t number = ++last_peer_;
        const auto& peer = peers_[number] = std::make_unique<Peer>(*this, number, std::move(stream));
        if (!farewell_.empty()) peer->Decline(farewell_);  // who comes late has not failed
      },
      [this] { table_.Thin(); });
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  return listener_->local();
}

/// The peer may be in the middle of a call: it goes in a later turn.
void ExecutorServer::Remove(uint64_t peer) {
  loop_.Post(alive_([this, peer] { peers_.erase(peer); }));
}

void ExecutorServer::ShutDown(const std::string& reason) {
  farewell_ = reason;
  for (auto& [number, peer] : peers_) peer->Goodbye(reason);
}

void ExecutorServer::Dismiss(model::tasks::ExecutorIndex executor, const std::string& reason) {
  for (auto& [number, peer] : peers_) {
    if (peer->admitted() && peer->index() == executor) peer->Goodbye(reason);
  }
}

size_t ExecutorServer::connected() const {
  size_t count = 0;
  for (const auto& [number, peer] : peers_) count += peer->admitted() ? 1 : 0;
  return count;
}

}  // namespace fairlead::process::driver
