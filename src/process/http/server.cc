#include "process/http/server.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "env/alive.h"
#include "process/http/target.h"

namespace fairlead::process::http {

void SplitTarget(std::string_view target, std::string& path, std::map<std::string, std::string>& query) {
  const size_t mark = target.find('?');
  path = PercentDecode(target.substr(0, mark), false);
  if (mark == std::string_view::npos) return;
  for (std::string_view rest = target.substr(mark + 1); !rest.empty();) {
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    const size_t equals = pair.find('=');
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    query[PercentDecode(pair.substr(0, equals), true)] = PercentDecode(value, true);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

namespace {

namespace beast = boost::beast;
namespace asio = boost::asio;

class ServerImpl;

constexpr char kTlsHandshake = 0x16;  // the first byte of who would speak TLS
constexpr base::Duration kSweep = base::Duration::Seconds(1);

/// One client: reads a request, waits for its answer, reads the next once that is mostly taken.
class Session final : public env::StreamHandler, public peers::Peer {
 public:
  Session(ServerImpl& server, uint64_t id, std::unique_ptr<env::Stream> stream);
  void Start();
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void OnDrained() override;
  void OnOverhead() override { Count(); }
  void Evict() override;
  size_t HeldBytes() const override;
  void Answer(uint64_t request_number, Response response);
  bool Overdue(base::Instant now);

 private:
  void ParseMore();
  void Settle();
  void Dispatch();
  void Refuse(int status, const std::string& why);
  void Send(Response response, bool keep_alive, bool head_only);
  void ResetParser();
  void Count();
  /// Nothing is parsed: an answer is still to come, or to be taken.
  bool Full() const { return waiting_for_answer_ || stream_->unsent() > kUnsentHigh; }

  static constexpr size_t kUnsentHigh = 256 * 1024;
  static constexpr size_t kCopiedMost = 64 * 1024;  // of a body that goes in one piece with its head

  ServerImpl& server_;
  const uint64_t id_;
  std::unique_ptr<env::Stream> stream_;
  peers::PeerTable::Seat seat_;
  std::string buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  uint64_t request_number_ = 0;
  bool waiting_for_answer_ = false;
  bool starved_ = false;  // what is there has no whole head
  bool keep_alive_ = true;
  bool head_only_ = false;
  bool ended_ = false;
  bool queued_ = false;        // for a turn
  base::Instant since_;        // this request's first byte, or the end of the last answer
  base::Instant taken_;        // when the peer was last seen to take something
  size_t unsent_at_look_ = 0;  // at that time
  friend class ServerImpl;
};

class ServerImpl final : public Server {
 public:
  ServerImpl(env::Loop& loop, KnownHosts hosts, Handler handler, ServerLimits limits, Vouch vouch)
      : loop_(loop),
        hosts_(std::move(hosts)),
        handler_(std::move(handler)),
        limits_(limits),
        vouch_(std::move(vouch)),
        peers_(limits.peers, true) {}

  ~ServerImpl() override {
    alive_.End();
    listener_.reset();
    if (sweep_ != 0) loop_.Cancel(sweep_);
  }

  base::Status Open(env::Net& net, const env::Endpoint& endpoint) {
    auto listener = net.Listen(
        endpoint, [this](std::unique_ptr<env::Stream> stream) { Accept(std::move(stream)); },
        [this] { peers_.Thin(); });
    if (!listener) return listener.error();
    listener_ = std::move(listener).value();
    return {};
  }

  env::Endpoint local() const override { return listener_->local(); }
  size_t held_bytes() const override { return peers_.held_bytes(); }
  uint64_t refused() const override { return refused_; }
  void CountRefused() { ++refused_; }

  enum class Ending { kAfterFlush, kNow };
  void Remove(uint64_t id, Ending ending = Ending::kAfterFlush) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;
    // Destroyed in a later turn: the caller may be the session itself.
    std::shared_ptr<Session> doomed = std::move(found->second);
    sessions_.erase(found);
    doomed->ended_ = true;
    doomed->seat_.Leave();
    ending == Ending::kNow ? doomed->stream_->Close() : doomed->stream_->CloseAfterFlush();
    loop_.Post([doomed] {});
  }

  void Handle(uint64_t session, uint64_t number, Request request) {
    const Reply reply = alive_([this, session, number](Response response) {
      const auto found = sessions_.find(session);
      if (found == sessions_.end()) return;
      const std::shared_ptr<Session> held = found->second;
      held->Answer(number, std::move(response));
    });
    request.asker = sessions_.find(session)->second;
    if (auto refusal = Refusal(hosts_, request)) {
      CountRefused();
      return reply(*std::move(refusal));
    }
    Guard(request, reply, [&] { handler_(std::move(request), reply); });
  }

  /// Lets the session parse when its turn comes: one request a turn of the loop, so that whatever else the loop has to
  /// do waits for one request at most.
  void Ready(Session& session) {
    if (std::exchange(session.queued_, true)) return;
    (session.request_number_ == 0 ? newcomers_ : waiting_).push_back(session.id_);
    PostTurn();
  }

  env::Loop& loop() { return loop_; }
  const ServerLimits& limits() const { return limits_; }
  const Vouch& vouch() const { return vouch_; }
  peers::PeerTable& peers() { return peers_; }

 private:
  void Accept(std::unique_ptr<env::Stream> stream) {
    if (!peers_.MakeRoom(stream->peer().host)) return;  // closes it
    const uint64_t id = ++last_session_;
    auto session = std::make_shared<Session>(*this, id, std::move(stream));
    sessions_.emplace(id, session);
    session->Start();
    ArmSweep();
  }

  void PostTurn() {
    if (std::exchange(turn_posted_, true)) return;
    loop_.Post(alive_([this] {
      turn_posted_ = false;
      TakeTurn();
      if (!newcomers_.empty() || !waiting_.empty()) PostTurn();
    }));
  }

  /// Newcomers go before those who have been served, but every fourth turn.
  void TakeTurn() {
    const bool newcomer = waiting_.empty() || (!newcomers_.empty() && ++turns_ % 4 != 0);
    std::deque<uint64_t>& queue = newcomer ? newcomers_ : waiting_;
    const auto found = sessions_.find(queue.front());
    queue.pop_front();
    if (found == sessions_.end()) return;
    const std::shared_ptr<Session> session = found->second;
    session->queued_ = false;
    session->ParseMore();
  }

  /// Once a second while there are connections: deadlines.
  void ArmSweep() {
    if (sweep_ != 0 || sessions_.empty()) return;
    sweep_ = loop_.After(kSweep, [this] {
      sweep_ = 0;
      std::vector<std::shared_ptr<Session>> all;  // looking at one may end others
      for (const auto& [id, session] : sessions_) all.push_back(session);
      for (const auto& session : all) {
        if (!session->ended_ && session->Overdue(loop_.Now())) Remove(session->id_, Ending::kNow);
      }
      ArmSweep();
    });
  }

  env::Loop& loop_;
  const KnownHosts hosts_;
  uint64_t refused_ = 0;
  Handler handler_;
  ServerLimits limits_;
  const Vouch vouch_;
  env::Alive alive_;
  std::unique_ptr<env::Listener> listener_;
  peers::PeerTable peers_;
  std::map<uint64_t, std::shared_ptr<Session>> sessions_;
  uint64_t last_session_ = 0;
  std::deque<uint64_t> newcomers_, waiting_;  // sessions that may parse
  uint64_t turns_ = 0;
  bool turn_posted_ = false;
  env::Loop::TimerId sweep_ = 0;
};

Session::Session(ServerImpl& server, uint64_t id, std::unique_ptr<env::Stream> stream)
    : server_(server),
      id_(id),
      stream_(std::move(stream)),
      seat_(server.peers(), *this, stream_->peer().host),
      since_(server.loop().Now()) {
  stream_->SetHighWater(kUnsentHigh);
  ResetParser();
}

void Session::Start() {
  stream_->Start(this);
  Count();
}

void Session::ResetParser() {
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(static_cast<std::uint32_t>(server_.limits().header_bytes_max));
  parser_->body_limit(server_.limits().body_bytes_max);
}

bool Session::Overdue(base::Instant now) {
  Count();
  if (waiting_for_answer_) return false;
  const ServerLimits& limits = server_.limits();
  const size_t unsent = stream_->unsent();
  if (std::exchange(unsent_at_look_, unsent) != unsent) taken_ = now;
  if (unsent > 0) return now - taken_ > limits.unread;
  const bool first = request_number_ == 0;
  const bool begun = !buffer_.empty() || parser_->got_some();
  const base::Duration limit = parser_->is_header_done() ? limits.body : begun || first ? limits.head : limits.idle;
  return now - since_ > limit;
}

size_t Session::HeldBytes() const {
  return buffer_.capacity() + parser_->get().body().size() + stream_->unsent() + stream_->overhead();
}

/// Room is made for what this connection holds now, at the cost of others that do not move.
void Session::Count() {
  seat_.Count();
  server_.peers().Relieve(&seat_);
}

void Session::OnData(std::string_view bytes) {
  seat_.Heard();
  starved_ = false;
  if (!waiting_for_answer_ && buffer_.empty() && !parser_->got_some()) since_ = server_.loop().Now();
  buffer_ += bytes;
  Settle();
}

void Session::OnDrained() {
  seat_.Move();
  if (!keep_alive_ && !waiting_for_answer_) return server_.Remove(id_);
  Settle();
}

/// Up to the end of one request.
void Session::ParseMore() {
  if (buffer_.empty() || !keep_alive_ || Full()) return Settle();
  beast::error_code error;
  const bool tls = !parser_->got_some() && buffer_.starts_with(kTlsHandshake);
  const size_t used = parser_->put(asio::buffer(buffer_), error);
  buffer_.erase(0, used);
  if (error && tls) return Refuse(400, "this port does not speak TLS: write http:// where you have https://");
  if (error == beast::http::error::need_more) {
    starved_ = true;
    if (buffer_.size() > server_.limits().header_bytes_max) return Refuse(431, "the request's head is too large");
    return Settle();
  }
  if (error == beast::http::error::header_limit) return Refuse(431, "the request's head is too large");
  if (error == beast::http::error::body_limit) return Refuse(413, "the request's body is too large");
  if (error) return Refuse(400, "not an HTTP request: " + error.message());
  if (parser_->is_done()) Dispatch();
  Settle();
}

/// After each entry: what it holds, whether it is read from, whether there is something to parse.
void Session::Settle() {
  if (ended_) return;
  if (buffer_.empty()) std::string().swap(buffer_);  // an idle connection holds no memory for what it once sent
  // Pipelined requests wait; more than one whole request ahead is held back by TCP.
  buffer_.size() > server_.limits().header_bytes_max ? stream_->PauseReading() : stream_->ResumeReading();
  Count();
  if (!buffer_.empty() && keep_alive_ && !Full() && !starved_) server_.Ready(*this);
}

void Session::Dispatch() {
  auto message = parser_->release();
  ResetParser();
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request.version = static_cast<int>(message.version());
  keep_alive_ = message.keep_alive();
  head_only_ = message.method() == beast::http::verb::head;
  request.body = std::move(message.body());
  request.peer = stream_->peer().host;
  if (server_.vouch()) request.visitor = server_.vouch()(stream_->peer(), stream_->local());
  SplitTarget(request.target, request.path, request.query);
  waiting_for_answer_ = true;
  seat_.Become(peers::Standing::kBusy);
  server_.Handle(id_, ++request_number_, std::move(request));
}

void Session::Answer(uint64_t request_number, Response response) {
  if (!waiting_for_answer_ || request_number != request_number_) return;
  waiting_for_answer_ = false;
  seat_.Become(peers::Standing::kIdle);
  Send(std::move(response), keep_alive_, head_only_);
  if (!keep_alive_ && !Full()) return server_.Remove(id_);
  taken_ = since_ = server_.loop().Now();
  unsent_at_look_ = stream_->unsent();
  Settle();
}

void Session::Refuse(int status, const std::string& why) {
  server_.CountRefused();
  Send(TextResponse(status, why + "\n"), false, false);
  server_.Remove(id_);
}

void Session::Send(Response response, bool keep_alive, bool head_only) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " " +
                    std::string(beast::http::obsolete_reason(static_cast<beast::http::status>(response.status))) +
                    "\r\n";
  AppendHeader(out, "Content-Type", response.content_type);
  AppendHeader(out, "Content-Length", std::to_string(response.body.size()));
  for (const auto& [name, value] : response.headers) AppendHeader(out, name, value);
  if (!keep_alive) AppendHeader(out, "Connection", "close");
  out += "\r\n";
  if (head_only) return stream_->Write(std::move(out));
  if (response.body.size() > kCopiedMost) {
    stream_->Write(std::move(out));
    return stream_->Write(std::move(response.body));
  }
  out += response.body;
  stream_->Write(std::move(out));
}

void Session::OnClosed(const std::string&) { server_.Remove(id_); }

void Session::Evict() { server_.Remove(id_, ServerImpl::Ending::kNow); }

}  // namespace

void Guard(const Request& request, const Server::Reply& reply, const std::function<void()>& handle) {
  if (request.method != "GET" && request.method != "HEAD") return handle();
  const std::string what = request.method + " " + request.path;  // `handle` may take the request
  try {
    handle();
  } catch (const std::exception& error) {
    reply(BrokenPage(what, error));
  }
}

base::Result<std::unique_ptr<Server>> Server::Listen(env::Loop& loop, env::Net& net, const env::Endpoint& endpoint,
                                                     KnownHosts hosts, Handler handler, ServerLimits limits,
                                                     Vouch vouch) {
  auto server = std::make_unique<ServerImpl>(loop, std::move(hosts), std::move(handler), limits, std::move(vouch));
  if (const base::Status opened = server->Open(net, endpoint); !opened.ok()) return opened.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace fairlead::process::http
