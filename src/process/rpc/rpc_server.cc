#include "process/rpc/rpc_server.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "env/alive.h"
#include "process/rpc/gss_login.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::rpc {

using endpoints::yarn::RpcServerSession;

namespace {

constexpr size_t kNonceBytes = 30;               // 40 characters, as the JDK's
constexpr size_t kUnsentHigh = size_t{1} << 20;  // above this no call of a connection is taken
constexpr size_t kCallsHigh = 1000;              // waiting for their answers; the same
constexpr size_t kCallBytes = 256;               // what one that waits takes besides its request
/// Of one connection before others have their turn: the more of them call at that time, the fewer.
constexpr size_t kCallsPerTurnMax = 512;
constexpr size_t kCallsPerTurnMin = 16;
constexpr base::Duration kThatTime = base::Duration::Millis(100);
constexpr size_t kAnswersPerTurn = 64 << 10;  // bytes
constexpr base::Duration kSweep = base::Duration::Seconds(1);

struct Listening {
  ListenOptions options;
  std::unique_ptr<env::Listener> listener;
};

/// A call that waits for its answer.
struct WaitingCall {
  int32_t id = 0;
  size_t bytes = 0;  // its share of what its connection holds
};

std::string RandomText(env::Loop& loop) {
  std::string bytes(kNonceBytes, '\0');
  loop.RandomBytes({reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
  return wire::hadoop_rpc::EncodeBase64(bytes);
}

void NoteLogin(const env::Audit& audit, const std::string& who, const env::Endpoint& peer) {
  audit.Success("Auth successful for " + who + " from " + peer.ToString());
}

}  // namespace

/// One accepted connection: a session, its stream and when it last did something.
class Connection final : public std::enable_shared_from_this<Connection>,
                         public env::StreamHandler,
                         public RpcServerSession::Handler,
                         public peers::Peer {
 public:
  Connection(RpcServer::Impl& server, uint64_t id, const Listening& listening, std::unique_ptr<env::Stream> stream,
             std::string nonce, base::Instant now);

  void Start() { stream_->Start(this); }
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void OnDrained() override;
  void OnCall(const endpoints::yarn::RpcCall& call) override;
  void OnTooLong(const base::BudgetKind& kind) override;
  void OnLoginToken(std::string token) override;
  void OnUnprotected() override;
  bool AsksFor(const std::string& protocol) override;
  void OnRefused(Refused what, std::string_view why) override;
  bool Full() const override { return TurnIsOver() || Choked() || Held(); }
  void Evict() override;
  size_t HeldBytes() const override {
    return session_.buffered_bytes() + session_.output_bytes() + stream_->unsent() + calls_bytes_;
  }

  /// Sends what the session has to say; ends the connection when it says so.
  void Flush();
  bool Overdue(base::Instant now);
  bool HeldTooLong(base::Instant now) const { return held_since_ && now - *held_since_ > listening_.options.hold; }
  void CloseNow() { stream_->Close(); }
  /// Forgets a call that waits; its number in the session.
  int32_t Take(CallToken token);
  /// No other is taken before this one is answered.
  void HoldOthers(CallToken token) { alone_ = token; }
  void CloseAfterCalls() { ending_ = true; }
  /// After the session was given an answer.
  void Answered();
  /// Its listener is closed for now, and nobody has let it in.
  bool Held() const { return listening_.options.is_open && !let_in_ && !listening_.options.is_open(); }
  bool IsHeld() const { return held_since_.has_value(); }
  bool IsHeldSinceBefore(RpcServer::Mark mark) const { return IsHeld() && held_mark_ < mark; }
  void LetIn();
  bool gated() const { return static_cast<bool>(listening_.options.is_open); }
  const Listening& listening() const { return listening_; }

  RpcServerSession& session() { return session_; }
  peers::PeerTable::Seat& seat() { return seat_; }
  const std::unordered_map<CallToken, WaitingCall>& calls() const { return calls_; }
  bool gone = false;

 private:
  bool TurnIsOver() const { return calls_in_turn_ >= calls_per_turn_ || session_.output_bytes() > kAnswersPerTurn; }
  /// The peer has to take answers, or this daemon to give some, before a further call is taken.
  bool Choked() const {
    return stream_->unsent() + session_.output_bytes() > kUnsentHigh || calls_.size() >= kCallsHigh || alone_ ||
           ending_;
  }
  template <class Input>
  void TakeCalls(Input input);
  void GoOn();
  void Settle();
  void NoteHold();
  void LoginStepped(base::Result<wire::hadoop_rpc::LoginStep> step);
  void Admitted(const base::Status& may);
  void LoginFailed(std::string_view why);

  RpcServer::Impl& server_;
  const uint64_t id_;
  const Listening& listening_;
  std::unique_ptr<env::Stream> stream_;
  RpcServerSession session_;
  std::unique_ptr<GssLogin> login_;  // while one is made
  peers::PeerTable::Seat seat_;
  const base::Instant opened_;
  base::Instant active_;       // when bytes came
  base::Instant frame_since_;  // the first moment of the frame that is not yet whole
  base::Instant taken_;        // when the peer was last seen to take something
  size_t unsent_at_look_ = 0;  // at that time
  bool taking_calls_ = false;  // inside of the session
  size_t calls_in_turn_ = 0;
  size_t calls_per_turn_ = kCallsPerTurnMin;
  base::Instant called_;  // when it took calls
  bool turn_posted_ = false;
  bool paused_ = false;
  bool let_in_ = false;                      // for what it has sent so far
  bool reads_on_ = false;                    // a call had only begun when it was let in
  std::optional<base::Instant> held_since_;  // something waits because of Held()
  RpcServer::Mark held_mark_ = 0;            // the same, as a place in the order of the server's
  std::optional<CallToken> alone_;           // HoldOthers
  bool ending_ = false;                      // CloseAfterCalls
  size_t calls_bytes_ = 0;
  std::unordered_map<CallToken, WaitingCall> calls_;
};

struct RpcServer::Impl {
  Impl(env::Loop& l, env::Net& n, peers::PeerLimits limits) : loop(l), net(n), peers(limits) {}
  ~Impl() {
    alive.End();
    if (sweep_armed) loop.Cancel(sweep);
  }

  base::Result<env::Endpoint> Listen(const env::Endpoint& endpoint, ListenOptions options) {
    auto listening = std::make_unique<Listening>();
    listening->options = std::move(options);
    size_t& frame_max = listening->options.session.frame_bytes_max;
    frame_max = std::min(frame_max, peers.limits().bytes_max);
    listening->options.session.impersonation = static_cast<bool>(listening->options.admit);
    Listening* raw = listening.get();
    auto listener = net.Listen(
        endpoint, [this, raw](std::unique_ptr<env::Stream> stream) { Accept(*raw, std::move(stream)); },
        [this] { peers.Thin(); });
    if (!listener) return listener.error();
    listening->listener = std::move(listener).value();
    listeners.push_back(std::move(listening));
    return raw->listener->local();
  }

  void Accept(const Listening& listening, std::unique_ptr<env::Stream> stream) {
    if (!peers.MakeRoom(stream->peer().host)) return stream->Close();
    const uint64_t id = next_connection++;
    auto connection =
        std::make_shared<Connection>(*this, id, listening, std::move(stream), RandomText(loop), loop.Now());
    connections.emplace(id, connection);
    connection->Start();
    ArmSweep();
  }

  void Remove(uint64_t id) {
    const auto at = connections.find(id);
    if (at == connections.end()) return;
    std::shared_ptr<Connection> doomed = std::move(at->second);
    connections.erase(at);
    doomed->gone = true;
    doomed->seat().Leave();
    for (const auto& [token, call] : doomed->calls()) calls.erase(token);
    loop.Post([doomed] {});  // the caller may be the connection itself
  }

  void Close(uint64_t id) {
    const auto at = connections.find(id);
    if (at == connections.end()) return;
    at->second->CloseNow();
    Remove(id);
  }

  /// Closes what has been silent for too long.
  void ArmSweep() {
    if (sweep_armed || connections.empty()) return;
    sweep_armed = true;
    sweep = loop.After(kSweep, [this] {
      sweep_armed = false;
      std::vector<uint64_t> overdue;
      std::vector<uint64_t> held_long;
      for (const auto& [id, connection] : connections) {
        if (connection->HeldTooLong(loop.Now())) {
          held_long.push_back(id);
        } else if (connection->Overdue(loop.Now())) {
          overdue.push_back(id);
        }
      }
      LetIn(std::move(held_long));
      std::sort(overdue.begin(), overdue.end());
      for (const uint64_t id : overdue) Close(id);
      peers.Relieve(nullptr);
      ArmSweep();
    });
  }

  void LetIn(std::vector<uint64_t> ids) {
    std::sort(ids.begin(), ids.end());
    for (const uint64_t id : ids) {
      if (const auto at = connections.find(id); at != connections.end()) std::shared_ptr(at->second)->LetIn();
    }
  }

  void LetInAll(RpcServer::Mark mark) {
    waiting_told = false;
    std::vector<uint64_t> held;
    const Listening* others = nullptr;
    for (const auto& [id, connection] : connections) {
      if (connection->IsHeldSinceBefore(mark)) {
        held.push_back(id);
      } else if (connection->IsHeld()) {
        others = &connection->listening();
      }
    }
    LetIn(std::move(held));
    if (others != nullptr) TellWaiting(*others);
  }

  void TellWaiting(const Listening& where) {
    if (!where.options.on_waiting || std::exchange(waiting_told, true)) return;
    loop.Post(alive([&where] { where.options.on_waiting(); }));
  }

  /// For a connection that takes calls now and has last taken some at `called`, which becomes now.
  size_t CallsPerTurn(base::Instant& called) {
    const base::Instant now = loop.Now();
    if (now - counted_since > kThatTime) {
      callers_before = std::exchange(callers, 0);
      counted_since = now;
    }
    if (called < counted_since || callers == 0) ++callers;
    called = now;
    const size_t active = std::max({callers, callers_before, size_t{1}});
    return std::clamp(kCallsPerTurnMax / active, kCallsPerTurnMin, kCallsPerTurnMax);
  }

  /// The connection that waits for the answer, or null.
  Connection* Of(CallToken call) const {
    const auto at = calls.find(call);
    if (at == calls.end()) return nullptr;
    const auto found = connections.find(at->second);
    return found == connections.end() ? nullptr : found->second.get();
  }

  /// The same; forgets the call.
  std::shared_ptr<Connection> Take(CallToken call, int32_t& call_id) {
    const auto at = calls.find(call);
    if (at == calls.end()) return nullptr;
    const auto found = connections.find(at->second);
    calls.erase(at);
    if (found == connections.end()) return nullptr;
    call_id = found->second->Take(call);
    return found->second;
  }

  void Tell(CallToken call, std::optional<std::string_view> why_refused) {
    if (told.empty()) return;
    if (const auto node = told.extract(call)) node.mapped()(why_refused);
  }

  env::Loop& loop;
  env::Net& net;
  env::Alive alive;
  peers::PeerTable peers;  // before the connections, which have seats
  std::vector<std::unique_ptr<Listening>> listeners;
  std::unordered_map<uint64_t, std::shared_ptr<Connection>> connections;
  std::unordered_map<CallToken, uint64_t> calls;  // -> connection
  std::unordered_map<CallToken, RpcServer::Answered> told;
  uint64_t next_connection = 1;
  CallToken next_call = 1;
  size_t callers = 0;  // connections that have called since:
  base::Instant counted_since;
  size_t callers_before = 0;  // in such a time before that
  env::Loop::TimerId sweep = 0;
  bool sweep_armed = false;
  bool waiting_told = false;  // on_waiting was called since LetIn
  std::map<std::string_view, uint64_t> refused;
  RpcServer::Counters counters;
  RpcServer::Mark next_mark = 1;
};

Connection::Connection(RpcServer::Impl& server, uint64_t id, const Listening& listening,
                       std::unique_ptr<env::Stream> stream, std::string nonce, base::Instant now)
    : server_(server),
      id_(id),
      listening_(listening),
      stream_(std::move(stream)),
      session_(listening.options.session, std::move(nonce), this),
      seat_(server.peers, *this, stream_->peer().host),
      opened_(now),
      active_(now),
      frame_since_(now) {}

void Connection::OnData(std::string_view bytes) {
  active_ = server_.loop.Now();
  const uint64_t taken = session_.frames_taken();
  if (!session_.has_input()) frame_since_ = active_;
  TakeCalls([&] { session_.OnBytes(bytes); });
  if (session_.frames_taken() != taken) frame_since_ = active_;
  seat_.Heard();
  Settle();
}

/// A part of the calls that are there; others have their turn before the rest.
template <class Input>
void Connection::TakeCalls(Input input) {
  calls_in_turn_ = 0;
  calls_per_turn_ = server_.CallsPerTurn(called_);
  taking_calls_ = true;
  input();
  taking_calls_ = false;
  if (TurnIsOver() && session_.has_input() && !turn_posted_) {
    turn_posted_ = true;
    server_.loop.Post([weak = weak_from_this()] {
      const std::shared_ptr<Connection> connection = weak.lock();
      if (!connection || connection->gone) return;
      connection->turn_posted_ = false;
      connection->GoOn();
      connection->Settle();
    });
  }
  calls_in_turn_ = 0;
  NoteHold();
  Flush();
}

void Connection::NoteHold() {
  if (reads_on_ && (!session_.has_input() || session_.has_frame())) reads_on_ = false;
  if (!session_.has_input() || reads_on_ || !Held()) {
    held_since_.reset();
    return;
  }
  if (held_since_) return;
  held_since_ = server_.loop.Now();
  held_mark_ = server_.next_mark++;
  server_.TellWaiting(listening_);
}

void Connection::LetIn() {
  let_in_ = true;
  GoOn();
  let_in_ = false;
  reads_on_ = session_.has_input() && !session_.has_frame();
  NoteHold();
  Settle();
}

void Connection::OnDrained() {
  seat_.Move();
  GoOn();
  Settle();
}

void Connection::Answered() {
  if (taking_calls_) return;  // sent with those of its neighbours
  Flush();
  GoOn();
  Settle();
}

/// Takes the calls that were not wanted before.
void Connection::GoOn() {
  if (gone || taking_calls_ || turn_posted_ || !session_.has_input() || Choked() || Held()) return;
  frame_since_ = server_.loop.Now();
  TakeCalls([&] { session_.Resume(); });
}

/// After each entry from outside: who it is, what it holds, whether it is read from.
void Connection::Settle() {
  if (gone) return;
  using enum peers::Standing;
  seat_.Become(!session_.established() ? kStranger : calls_.empty() ? kIdle : kBusy);
  if (const bool wait = turn_posted_ || Choked() || IsHeld() || session_.login_steps(); wait != paused_) {
    paused_ = wait;
    wait ? stream_->PauseReading() : stream_->ResumeReading();
  }
  seat_.Count();
  server_.peers.Relieve(&seat_);
}

void Connection::OnClosed(const std::string&) { server_.Remove(id_); }

void Connection::Evict() { server_.Close(id_); }

void Connection::Flush() {
  if (gone) return;
  if (session_.has_output()) stream_->Write(session_.TakeOutput());
  if (!session_.closing() && !(ending_ && calls_.empty())) return;
  stream_->CloseAfterFlush();
  server_.Remove(id_);
}

int32_t Connection::Take(CallToken token) {
  const auto entry = calls_.find(token);
  const WaitingCall call = entry->second;
  calls_.erase(entry);
  if (alone_ == token) alone_.reset();
  calls_bytes_ -= call.bytes;
  return call.id;
}

bool Connection::Overdue(base::Instant now) {
  const ListenOptions& options = listening_.options;
  seat_.Count();
  if (IsHeld()) return false;
  if (!session_.established()) return now - opened_ > options.setup;
  const size_t unsent = stream_->unsent();
  if (std::exchange(unsent_at_look_, unsent) != unsent) taken_ = now;
  if (unsent > 0 && now - taken_ > options.unread) return true;
  if (turn_posted_ || Choked()) return false;
  if (session_.has_input()) return now - frame_since_ > options.frame;
  return session_.pending_calls() == 0 && now - active_ > options.idle;
}

void Connection::OnTooLong(const base::BudgetKind& kind) { ++server_.refused[kind.name]; }

void Connection::OnUnprotected() { ++server_.counters.unprotected; }

void Connection::OnRefused(Refused what, std::string_view why) {
  ++(what == Refused::kLogin ? server_.counters.logins_refused : server_.counters.unauthorized);
  if (what != Refused::kRight) LoginFailed(why);  // else whoever has judged has said so
}

/// As Server.Connection.saslProcess: the peer, whom it claims to be, what it is told, and what only this side knows.
void Connection::LoginFailed(std::string_view why) {
  const std::string& user = session_.caller().user;
  listening_.options.audit.Failure("Auth failed for " + stream_->peer().ToString() + ":" +
                                   (user.empty() ? "null" : user) + " (" + std::string(why) + ") with true cause: (" +
                                   (login_ ? login_->cause() : std::string(why)) + ")");
}

bool Connection::AsksFor(const std::string& protocol) {
  const auto answer = [weak = weak_from_this()](const base::Status& may) {
    const std::shared_ptr<Connection> connection = weak.lock();
    if (connection && !connection->gone) connection->Admitted(may);
  };
  const ListenOptions& options = listening_.options;
  if (session_.caller().by_token()) NoteLogin(options.audit, session_.caller().Shown(), stream_->peer());
  if (options.believe && session_.caller().method == model::LoginMethod::kSimple) {
    if (const base::Status may = options.believe(session_.caller(), stream_->peer(), stream_->local()); !may.ok()) {
      LoginFailed(may.error().message);
      answer(may);
      return true;
    }
  }
  if (!options.admit) return false;
  options.admit(session_.caller(), protocol, stream_->peer(), answer);
  return true;
}

void Connection::Admitted(const base::Status& may) {
  const bool inside = taking_calls_;
  session_.Admit(may);
  if (inside) return;
  TakeCalls([this] { session_.Resume(); });
  Settle();
}

void Connection::OnLoginToken(std::string token) {
  const auto stepped = [weak = weak_from_this()](base::Result<wire::hadoop_rpc::LoginStep> step) {
    const std::shared_ptr<Connection> connection = weak.lock();
    if (connection && !connection->gone) connection->LoginStepped(std::move(step));
  };
  if (!login_)
    login_ = GssLogin::OfServer(*listening_.options.gss, stream_->peer().host, listening_.options.session.protections);
  login_->Step(std::move(token), stepped);
}

void Connection::LoginStepped(base::Result<wire::hadoop_rpc::LoginStep> step) {
  const bool ends = !step.ok() || step->done;
  if (step.ok() && step->done) {
    NoteLogin(listening_.options.audit, step->principal + " (auth:KERBEROS)", stream_->peer());
  }
  // Most steps come in a turn of their own; the last ones need nothing of a KDC and come inside of the session's.
  const bool inside = taking_calls_;
  session_.LoginStepped(std::move(step));
  if (!inside) TakeCalls([this] { session_.Resume(); });
  if (ends) login_.reset();
  if (!inside) Settle();
}

void Connection::OnCall(const endpoints::yarn::RpcCall& call) {
  using endpoints::yarn::exceptions::kNoSuchMethod;
  using endpoints::yarn::exceptions::kNoSuchProtocol;
  using endpoints::yarn::exceptions::kVersionMismatch;
  using wire::hadoop_rpc::RpcErrorCodeProto;
  ++calls_in_turn_;
  const auto& services = listening_.options.services;
  const auto service =
      std::find_if(services.begin(), services.end(), [&](const Service& s) { return s.protocol == call.protocol; });
  const std::string protocol(call.protocol.substr(0, 300));
  if (service == services.end()) {
    return session_.Fail(call.call_id, kNoSuchProtocol, "Unknown protocol: " + protocol,
                         RpcErrorCodeProto::kErrorNoSuchProtocol);
  }
  if (call.protocol_version != 1) {
    return session_.Fail(call.call_id, kVersionMismatch,
                         "Protocol " + protocol +
                             " version mismatch. (client = " + std::to_string(call.protocol_version) + ", server = 1)",
                         RpcErrorCodeProto::kErrorRpcVersionMismatch);
  }
  const auto method = std::ranges::find(service->methods, call.method, &wire::proto::MethodInfo::name);
  if (method == service->methods.end()) {
    return session_.Fail(
        call.call_id, kNoSuchMethod,
        "Unknown method " + std::string(call.method.substr(0, 300)) + " called on " + protocol + " protocol.",
        RpcErrorCodeProto::kErrorNoSuchMethod);
  }
  const env::Endpoint peer = stream_->peer();
  const CallToken token = server_.next_call++;
  server_.calls.emplace(token, id_);
  const size_t bytes = kCallBytes + call.request.size();
  calls_.emplace(token, WaitingCall{call.call_id, bytes});
  calls_bytes_ += bytes;
  service->handler({token, session_.caller(), peer, call.protocol, call.method,
                    static_cast<size_t>(method - service->methods.begin()), call.request, call.retry_count,
                    weak_from_this()});
}

RpcServer::RpcServer(env::Loop& loop, env::Net& net, peers::PeerLimits limits)
    : impl_(std::make_unique<Impl>(loop, net, limits)) {}
RpcServer::~RpcServer() = default;

base::Result<env::Endpoint> RpcServer::Listen(const env::Endpoint& endpoint, ListenOptions options) {
  return impl_->Listen(endpoint, std::move(options));
}

void RpcServer::Reply(CallToken call, std::string_view response) {
  impl_->Tell(call, std::nullopt);
  int32_t call_id = 0;
  const std::shared_ptr<Connection> connection = impl_->Take(call, call_id);
  if (!connection) return;
  connection->session().Reply(call_id, response);
  connection->Answered();
}

void RpcServer::Fail(CallToken call, std::string_view exception, std::string_view message) {
  impl_->Tell(call, message);
  int32_t call_id = 0;
  const std::shared_ptr<Connection> connection = impl_->Take(call, call_id);
  if (!connection) return;
  connection->session().Fail(call_id, endpoints::yarn::JavaClass(exception), message);
  connection->Answered();
}

void RpcServer::WhenAnswered(CallToken call, Answered told) { impl_->told[call] = std::move(told); }

void RpcServer::HoldOthers(CallToken call) {
  if (Connection* const connection = impl_->Of(call)) connection->HoldOthers(call);
}

void RpcServer::CloseAfter(CallToken call) {
  if (Connection* const connection = impl_->Of(call)) connection->CloseAfterCalls();
}

RpcServer::Mark RpcServer::WaitingMark() const { return impl_->next_mark; }

void RpcServer::LetIn(Mark mark) { impl_->LetInAll(mark); }

void RpcServer::FailAll(std::string_view exception, std::string_view message) {
  std::vector<CallToken> waiting;
  for (const auto& [call, id] : impl_->calls) {
    if (const auto at = impl_->connections.find(id); at != impl_->connections.end() && at->second->gated()) {
      waiting.push_back(call);
    }
  }
  std::sort(waiting.begin(), waiting.end());
  for (const CallToken call : waiting) Fail(call, exception, message);
  // Those with nobody left who waits, and whom the next manager does not know.
  std::erase_if(impl_->told, [this](const auto& entry) { return !impl_->calls.contains(entry.first); });
}

size_t RpcServer::connections() const { return impl_->connections.size(); }
const std::map<std::string_view, uint64_t>& RpcServer::refused() const { return impl_->refused; }
const RpcServer::Counters& RpcServer::counters() const { return impl_->counters; }
size_t RpcServer::held_bytes() const { return impl_->peers.held_bytes(); }

}  // namespace fairlead::process::rpc
