#include "process/http/server.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <map>
#include <optional>
#include <sstream>

namespace fairlead::process::http {
namespace {

namespace beast = boost::beast;
namespace asio = boost::asio;

void SplitTarget(Request& request) {
  const std::string_view target = request.target;
  const size_t mark = target.find('?');
  request.path = PercentDecode(target.substr(0, mark), false);
  if (mark == std::string_view::npos) return;
  for (std::string_view rest = target.substr(mark + 1); !rest.empty();) {
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    const size_t equals = pair.find('=');
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    request.query[PercentDecode(pair.substr(0, equals), true)] = PercentDecode(value, true);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

class ServerImpl;

/// One client: reads a request, waits for its answer, reads the next.
class Session final : public env::StreamHandler {
 public:
  Session(ServerImpl& server, uint64_t id, std::unique_ptr<env::Stream> stream);
  void Start();
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void Answer(uint64_t request_number, Response response);
  void OnIdle();

 private:
  void ParseMore();
  void Dispatch();
  void Refuse(int status, const std::string& why);
  void Send(const Response& response, bool keep_alive, bool head_only);
  void ResetParser();
  void ArmIdleTimer();

  ServerImpl& server_;
  const uint64_t id_;
  std::unique_ptr<env::Stream> stream_;
  std::string buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  uint64_t request_number_ = 0;
  bool waiting_for_answer_ = false;
  bool keep_alive_ = true;
  bool head_only_ = false;
  env::Loop::TimerId idle_timer_ = 0;
  friend class ServerImpl;
};

class ServerImpl final : public Server {
 public:
  ServerImpl(env::Loop& loop, KnownHosts hosts, Handler handler, ServerLimits limits)
      : loop_(loop),
        hosts_(std::move(hosts)),
        handler_(std::move(handler)),
        limits_(limits),
        alive_(std::make_shared<bool>(true)) {}

  ~ServerImpl() override {
    *alive_ = false;
    listener_.reset();
    for (auto& [id, session] : sessions_) loop_.Cancel(session->idle_timer_);
  }

  base::Status Open(env::Net& net, const env::Endpoint& endpoint) {
    auto listener = net.Listen(endpoint, [this](std::unique_ptr<env::Stream> stream) { Accept(std::move(stream)); });
    if (!listener) return listener.error();
    listener_ = std::move(listener).value();
    return {};
  }

  env::Endpoint local() const override { return listener_->local(); }

  void Remove(uint64_t id) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;
    loop_.Cancel(found->second->idle_timer_);
    // Destroyed in a later turn: the caller may be the session itself.
    std::shared_ptr<Session> doomed = std::move(found->second);
    sessions_.erase(found);
    doomed->stream_->CloseAfterFlush();
    loop_.Post([doomed] {});
  }

  void Handle(uint64_t session, uint64_t number, Request request) {
    const Reply reply = [this, alive = alive_, session, number](Response response) {
      if (!*alive) return;
      const auto found = sessions_.find(session);
      if (found != sessions_.end()) found->second->Answer(number, std::move(response));
    };
    if (auto refusal = Refusal(hosts_, request)) return reply(*std::move(refusal));
    handler_(std::move(request), reply);
  }

  void ContinueLater(uint64_t id) {
    loop_.Post([this, alive = alive_, id] {
      if (!*alive) return;
      const auto found = sessions_.find(id);
      if (found != sessions_.end()) found->second->ParseMore();
    });
  }

  env::Loop& loop() { return loop_; }
  const ServerLimits& limits() const { return limits_; }

 private:
  void Accept(std::unique_ptr<env::Stream> stream) {
    if (sessions_.size() >= static_cast<size_t>(limits_.connections_max)) return;  // closes it
    const uint64_t id = ++last_session_;
    auto session = std::make_shared<Session>(*this, id, std::move(stream));
    sessions_.emplace(id, session);
    session->Start();
  }

  env::Loop& loop_;
  const KnownHosts hosts_;
  Handler handler_;
  ServerLimits limits_;
  std::shared_ptr<bool> alive_;
  std::unique_ptr<env::Listener> listener_;
  std::map<uint64_t, std::shared_ptr<Session>> sessions_;
  uint64_t last_session_ = 0;
};

Session::Session(ServerImpl& server, uint64_t id, std::unique_ptr<env::Stream> stream)
    : server_(server), id_(id), stream_(std::move(stream)) {
  ResetParser();
}

void Session::Start() {
  ArmIdleTimer();
  stream_->Start(this);
}

void Session::ResetParser() {
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(static_cast<std::uint32_t>(server_.limits().header_bytes_max));
  parser_->body_limit(server_.limits().body_bytes_max);
}

void Session::ArmIdleTimer() {
  server_.loop().Cancel(idle_timer_);
  idle_timer_ = server_.loop().After(server_.limits().idle, [this] { OnIdle(); });
}

void Session::OnIdle() {
  idle_timer_ = 0;
  if (waiting_for_answer_ || stream_->unsent() > 0) return ArmIdleTimer();
  server_.Remove(id_);
}

void Session::OnData(std::string_view bytes) {
  buffer_ += bytes;
  if (waiting_for_answer_) {
    // Pipelined requests wait; more than one whole request ahead is held back by TCP.
    if (buffer_.size() > server_.limits().header_bytes_max) stream_->PauseReading();
    return;
  }
  ParseMore();
}

void Session::ParseMore() {
  while (!buffer_.empty() && !waiting_for_answer_) {
    beast::error_code error;
    const size_t used = parser_->put(asio::buffer(buffer_), error);
    buffer_.erase(0, used);
    if (error == beast::http::error::need_more) {
      if (buffer_.size() > server_.limits().header_bytes_max) Refuse(431, "the request's head is too large");
      return;
    }
    if (error == beast::http::error::header_limit) return Refuse(431, "the request's head is too large");
    if (error == beast::http::error::body_limit) return Refuse(413, "the request's body is too large");
    if (error) return Refuse(400, "not an HTTP request: " + error.message());
    if (parser_->is_done()) Dispatch();
  }
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
  SplitTarget(request);
  waiting_for_answer_ = true;
  server_.Handle(id_, ++request_number_, std::move(request));
}

void Session::Answer(uint64_t request_number, Response response) {
  if (!waiting_for_answer_ || request_number != request_number_) return;
  waiting_for_answer_ = false;
  Send(response, keep_alive_, head_only_);
  if (!keep_alive_) return server_.Remove(id_);
  ArmIdleTimer();
  stream_->ResumeReading();
  // In a later turn: an answer given inside the handler must not recurse through many pipelined requests.
  if (!buffer_.empty()) server_.ContinueLater(id_);
}

void Session::Refuse(int status, const std::string& why) {
  Send(TextResponse(status, why + "\n"), false, false);
  server_.Remove(id_);
}

void Session::Send(const Response& response, bool keep_alive, bool head_only) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " " +
                    std::string(beast::http::obsolete_reason(static_cast<beast::http::status>(response.status))) +
                    "\r\n";
  out += "Content-Type: " + response.content_type + "\r\n";
  out += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  for (const auto& [name, value] : response.headers) out += name + ": " + value + "\r\n";
  if (!keep_alive) out += "Connection: close\r\n";
  out += "\r\n";
  if (!head_only) out += response.body;
  stream_->Write(std::move(out));
}

void Session::OnClosed(const std::string&) { server_.Remove(id_); }

}  // namespace

base::Result<std::unique_ptr<Server>> Server::Listen(env::Loop& loop, env::Net& net, const env::Endpoint& endpoint,
                                                     KnownHosts hosts, Handler handler, ServerLimits limits) {
  auto server = std::make_unique<ServerImpl>(loop, std::move(hosts), std::move(handler), limits);
  if (const base::Status opened = server->Open(net, endpoint); !opened.ok()) return opened.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace fairlead::process::http
