#include "process/tls/tls_net.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "env/alive.h"

namespace fairlead::process::tls {

namespace {

constexpr size_t kHandshakeMost = 64 * 1024;
constexpr char kHandshakeRecord = 0x16;
constexpr size_t kFilePiece = 64 * 1024;
/// What OpenSSL holds for a server's handshake, before and after the client's first message (3.0: 9 and 70 KiB).
constexpr size_t kSilentHandshake = 10 * 1024;
constexpr size_t kBegunHandshake = 72 * 1024;

/// And for an idle session (OpensslTls.AnIdleSessionKeepsNoBuffers).
constexpr size_t kIdleSession = 16 * 1024;

/// Runs a piece of a handshake of that address, now or later, as long as its owner lives.
using TakeTurn = std::function<void(const std::string& address, std::function<void()>)>;

std::string PlainAnswer() {
  const std::string text = "This port speaks TLS alone: write https:// where you have http://.\n";
  return "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: "
         "close\r\nContent-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text;
}

class TlsStream final : public env::Stream, public env::StreamHandler {
 public:
  /// `turn`: of a server's; empty at a client.
  TlsStream(env::Loop& loop, std::unique_ptr<env::Stream> stream, std::unique_ptr<env::TlsSession> session,
            TakeTurn turn, std::shared_ptr<Failures> failures)
      : loop_(loop),
        stream_(std::move(stream)),
        session_(std::move(session)),
        turn_(std::move(turn)),
        failures_(std::move(failures)) {
    SetHighWater(high_water_);
  }

  void Start(env::StreamHandler* handler) override {
    handler_ = handler;
    Flush();
    stream_->Start(this);
  }
  void Write(std::string bytes) override {
    if (queue_.empty()) {
      Send(bytes);
    } else {
      const size_t size = bytes.size();
      Enqueue({std::move(bytes), nullptr, 0, size});
    }
    full_ = full_ || unsent() > high_water_;
  }
  void SendFile(std::shared_ptr<env::File> file, uint64_t offset, uint64_t length) override {
    Enqueue({"", std::move(file), offset, length});
    SendQueued();
    full_ = full_ || unsent() > high_water_;
  }
  size_t unsent() const override { return stream_->unsent() + waiting_bytes_ + queued_bytes_; }
  size_t overhead() const override {
    if (!turn_) return 0;
    if (session_->established()) return kIdleSession;
    return (handshake_bytes_ == 0 ? kSilentHandshake : kBegunHandshake) + arrived_.capacity();
  }
  /// What is below is full earlier, so that its OnDrained comes whenever this has to tell of its own.
  void SetHighWater(size_t bytes) override {
    high_water_ = bytes;
    stream_->SetHighWater(bytes / 4);
    full_ = full_ || unsent() > high_water_;
  }
  void PauseReading() override {
    paused_ = true;
    stream_->PauseReading();
  }
  void ResumeReading() override {
    paused_ = false;
    if (arrived_.empty()) stream_->ResumeReading();
  }
  void CloseAfterFlush() override {
    handler_ = nullptr;
    if (std::exchange(closing_, true)) return;
    if (queue_.empty()) End();
  }
  void Close() override {
    handler_ = nullptr;
    stream_->Close();
  }
  env::Endpoint peer() const override { return stream_->peer(); }
  env::Endpoint local() const override { return stream_->local(); }

  void OnData(std::string_view bytes) override {
    if (session_->established()) return Take(bytes);
    if (turn_ && handshake_bytes_ == 0 && bytes.front() != kHandshakeRecord) {
      stream_->Write(PlainAnswer());
      return Break("no TLS");
    }
    handshake_bytes_ += bytes.size();
    if (!turn_) return Shake(bytes);
    const bool queued = !arrived_.empty();
    arrived_ += bytes;
    if (arrived_.size() > kHandshakeMost) stream_->PauseReading();  // an upload may follow the handshake at once
    TellOverhead();
    if (!queued) turn_(peer().host, alive_([this] { Shake(std::exchange(arrived_, {})); }));
  }
  void OnDrained() override {
    SendQueued();
    TellDrained();
  }
  void OnClosed(const std::string& reason) override {
    if (!session_->established()) {
      const std::string why = reason.empty() ? "the connection ended within the handshake of TLS" : reason;
      Note(why);
      return Tell(why);
    }
    // An end that TLS did not announce may be somebody's who is between.
    Tell(!reason.empty() || session_->ended() ? reason : "the connection was cut");
  }

 private:
  /// What waits behind a file's bytes, or these: read as they are sent.
  struct Piece {
    std::string bytes;
    std::shared_ptr<env::File> file;  // null: `bytes`
    uint64_t offset = 0;
    uint64_t left = 0;
  };

  void Send(std::string_view bytes) {
    if (!session_->established()) waiting_bytes_ += bytes.size();
    session_->Send(bytes);
    Flush();
  }
  void Enqueue(Piece piece) {
    queued_bytes_ += piece.left;
    queue_.push_back(std::move(piece));
  }
  /// As much as the stream below takes at a time.
  void SendQueued() {
    if (queue_.empty() || !session_->established()) return;
    while (!queue_.empty() && stream_->unsent() <= high_water_ / 4) {
      Piece& next = queue_.front();
      if (next.file == nullptr) {
        Send(next.bytes);
        queued_bytes_ -= next.left;
        next.left = 0;
      } else if (!SendPiece(next)) {
        queue_.clear();
        queued_bytes_ = 0;
        return loop_.Post(alive_([this] { Break("a file is shorter than it was"); }));
      }
      if (next.left == 0) queue_.pop_front();
    }
    if (!queue_.empty()) return;
    Flush();
    if (closing_) End();
  }
  /// False: the file has no more.
  bool SendPiece(Piece& piece) {
    std::array<char, kFilePiece> bytes;
    const auto got = piece.file->ReadAt(
        piece.offset, {bytes.data(), static_cast<size_t>(std::min<uint64_t>(bytes.size(), piece.left))});
    if (!got.ok() || *got == 0) return false;
    Send({bytes.data(), *got});
    piece.offset += *got;
    piece.left -= *got;
    queued_bytes_ -= *got;
    return true;
  }
  void TellOverhead() {
    if (const size_t now = overhead(); std::exchange(told_overhead_, now) != now && handler_) handler_->OnOverhead();
  }
  void TellDrained() {
    if (!full_ || unsent() > high_water_ / 2) return;
    full_ = false;
    if (handler_) handler_->OnDrained();
  }
  void End() {
    session_->End();
    Flush();
    stream_->CloseAfterFlush();
  }
  /// The handshake's bound is not that of an upload in the same bytes.
  void Shake(std::string_view bytes) {
    const env::Alive::Watch here = alive_.watch();
    Take(bytes);
    if (!here || !handler_) return;
    if (!session_->established() && handshake_bytes_ > kHandshakeMost) return Break("a handshake of more than 64 KiB");
    if (!paused_) stream_->ResumeReading();
  }
  void Take(std::string_view bytes) {
    if (!handler_ && queue_.empty()) return;
    const base::Status taken = session_->Receive(bytes);
    const bool in = session_->established();
    if (in) waiting_bytes_ = 0;
    TellOverhead();
    Flush();
    SendQueued();
    const env::Alive::Watch here = alive_.watch();
    if (const std::string received = session_->TakeReceived(); !received.empty() && handler_) {
      handler_->OnData(received);
      if (!here || !handler_) return;
    }
    if (!taken.ok()) return Break(taken.error().message);
    if (session_->ended()) Tell("");
  }
  void Flush() {
    if (std::string bytes = session_->TakeForPeer(); !bytes.empty()) stream_->Write(std::move(bytes));
    if (queue_.empty()) session_->TakeForPeer();  // nothing is left: it gives back the room that these took
  }
  void Note(const std::string& why) {
    ++failures_->count;
    failures_->last = why;
  }
  /// What was written, an alert perhaps, goes out before the end.
  void Break(const std::string& why) {
    if (!session_->established()) Note(why);
    queue_.clear();
    queued_bytes_ = 0;
    closing_ = true;
    stream_->CloseAfterFlush();
    Tell(why);
  }
  /// The owner may end this from within.
  void Tell(const std::string& reason) {
    if (env::StreamHandler* handler = std::exchange(handler_, nullptr)) handler->OnClosed(reason);
  }

  env::Loop& loop_;
  std::unique_ptr<env::Stream> stream_;
  std::unique_ptr<env::TlsSession> session_;
  const TakeTurn turn_;
  const std::shared_ptr<Failures> failures_;
  env::StreamHandler* handler_ = nullptr;
  bool closing_ = false;
  bool paused_ = false;  // by the owner
  size_t high_water_ = 1 << 20;
  bool full_ = false;  // above it, and not told that it is drained
  std::deque<Piece> queue_;
  size_t queued_bytes_ = 0;
  size_t handshake_bytes_ = 0;
  size_t waiting_bytes_ = 0;  // for the handshake's end
  std::string arrived_;       // for a turn
  size_t told_overhead_ = 0;
  env::Alive alive_;
};

}  // namespace

/// Which handshake goes on next. Lives as long as a stream that may ask for a turn.
class TlsListening::Turns : public std::enable_shared_from_this<Turns> {
 public:
  explicit Turns(env::Loop& loop) : loop_(loop) {}

  void Add(const std::string& address, std::function<void()> work) {
    waiting_[address].push_back(std::move(work));
    if (std::exchange(posted_, true)) return;
    loop_.Post([self = shared_from_this()] { self->RunOne(); });
  }
  void Stop() { waiting_.clear(); }

  const std::shared_ptr<Failures> failures = std::make_shared<Failures>();

 private:
  void RunOne() {
    if (waiting_.empty()) {
      posted_ = false;
      return;
    }
    auto next = waiting_.upper_bound(last_);
    if (next == waiting_.end()) next = waiting_.begin();
    last_ = next->first;
    const std::function<void()> work = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) waiting_.erase(next);
    const base::Instant began = loop_.ReadClock();
    work();
    const base::Duration took = loop_.ReadClock() - began;
    // As long as it took, the loop is for others.
    loop_.At(loop_.ReadClock() + took, [self = shared_from_this()] { self->RunOne(); });
  }

  env::Loop& loop_;
  std::map<std::string, std::deque<std::function<void()>>> waiting_;  // by address; none is empty
  std::string last_;                                                  // whose turn it was
  bool posted_ = false;
};

TlsListening::TlsListening(env::Loop& loop, env::Net& net, env::Tls& tls)
    : loop_(loop), net_(net), tls_(tls), turns_(std::make_shared<Turns>(loop)) {}

TlsListening::~TlsListening() { turns_->Stop(); }

uint64_t TlsListening::failed() const { return turns_->failures->count; }

base::Result<std::unique_ptr<env::Listener>> TlsListening::Listen(const env::Endpoint& endpoint,
                                                                  AcceptHandler on_accept, CrowdHandler on_crowded) {
  auto accept = [this, on_accept = std::move(on_accept)](std::unique_ptr<env::Stream> stream) {
    auto turn = [turns = turns_](const std::string& address, std::function<void()> work) {
      turns->Add(address, std::move(work));
    };
    on_accept(std::make_unique<TlsStream>(loop_, std::move(stream), tls_.Accept(), std::move(turn), turns_->failures));
  };
  return net_.Listen(endpoint, std::move(accept), std::move(on_crowded));
}

void TlsListening::Adopt(std::unique_ptr<env::Stream> stream, AcceptHandler on_accept) {
  net_.Adopt(std::move(stream), std::move(on_accept));
}

void TlsListening::Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) {
  net_.Connect(endpoint, timeout, std::move(done));
}

void TlsConnecting::Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) {
  auto connected = [this, host = endpoint.host, done = std::move(done)](base::Result<std::unique_ptr<env::Stream>> to) {
    if (!to.ok()) return done(to.error());
    done(std::unique_ptr<env::Stream>(
        std::make_unique<TlsStream>(loop_, std::move(*to), tls_.Connect(host), TakeTurn(), failures_)));
  };
  net_.Connect(endpoint, timeout, std::move(connected));
}

}  // namespace fairlead::process::tls
