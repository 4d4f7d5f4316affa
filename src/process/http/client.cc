#include "process/http/client.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <optional>

#include "process/http/failover.h"

namespace fairlead::process::http {
namespace {

namespace beast = boost::beast;

/// 1xx answers before an answer. Servers send one or two; others would send them for ever.
constexpr int kInterimMost = 10;
/// What TLS holds for a connection besides (process/tls counts a server's alone).
constexpr size_t kTlsHeld = 72 * 1024;

/// A body that the parser hands on as it finds it, whatever length a head claims.
struct PassedOn {
  using value_type = std::function<void(std::string_view)>;
  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(beast::http::header<isRequest, Fields>&, value_type& taker) : taker_(taker) {}
    void init(const boost::optional<uint64_t>&, beast::error_code& error) { error = {}; }
    template <class Buffers>
    size_t put(const Buffers& buffers, beast::error_code& error) {
      error = {};
      for (const boost::asio::const_buffer piece : beast::buffers_range_ref(buffers)) {
        taker_({static_cast<const char*>(piece.data()), piece.size()});
      }
      return beast::buffer_bytes(buffers);
    }
    void finish(beast::error_code& error) { error = {}; }

   private:
    value_type& taker_;
  };
};

/// Owns itself until it has called `done`.
class Running final : public Exchange,
                      public env::StreamHandler,
                      public peers::Peer,
                      public std::enable_shared_from_this<Running> {
 public:
  Running(env::Loop& loop, ClientRequest request, Flow flow, std::function<void(base::Result<Response>)> done)
      : loop_(loop), request_(std::move(request)), flow_(std::move(flow)), done_(std::move(done)) {
    ExpectAnswer();
  }

  void Start(env::Net& net) {
    if (!IsVisible(request_.method) || !IsVisible(request_.target)) {
      return loop_.Post([self = shared_from_this()] {
        self->Finish(base::Error{"a request's method and target have neither spaces nor control characters"});
      });
    }
    if (request_.table) {
      request_.table->MakeRoom(request_.charged);
      seat_ = std::make_unique<peers::PeerTable::Seat>(*request_.table, *this, request_.charged);
      seat_->Become(peers::Standing::kBusy);
      Count();
    }
    StartTimer();
    waiting_ = Head() + request_.body;
    net.Connect(request_.endpoint, request_.timeout, [self = shared_from_this()](auto connected) {
      if (!connected) return self->Finish(base::Error{connected.error().message, kNotConnected});
      if (!self->done_) return;
      self->stream_ = std::move(connected).value();
      self->self_ = self;
      if (self->flow_.on_body) self->stream_->SetHighWater(0);
      self->Write(std::exchange(self->waiting_, {}));
      self->stream_->Start(self.get());
    });
  }

  void Send(std::string_view bytes) override {
    if (bytes.empty()) return;  // it would be the last
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    Write(std::string(size).append(bytes).append("\r\n"));
  }
  void SendLast() override { Write("0\r\n\r\n"); }

  void Abandon() {
    if (std::exchange(done_, nullptr)) Close();
  }

  void OnData(std::string_view bytes) override {
    Progress();
    Take(bytes);
    if (done_ && seat_) Count();
  }

  void OnDrained() override {
    Progress();
    flow_.on_sent();
  }

  void OnClosed(const std::string& reason) override {
    beast::error_code error;
    if (parser_->got_some()) parser_->put_eof(error);
    if (!error && parser_->is_done()) return Complete();
    Finish(Failure(reason.empty() ? "the connection ended before the answer" : reason));
  }

  void Evict() override { Finish(Failure("too much is fetched at once for " + request_.charged)); }
  size_t HeldBytes() const override {
    const size_t tls = request_.scheme == "https://" ? kTlsHeld : 0;
    return tls + buffer_.size() + request_.body.size() + response_.body.size();
  }

 private:
  void ExpectAnswer() {
    parser_.emplace();
    parser_->eager(true);
    parser_->body_limit(request_.body_bytes_max);
    if (request_.method == "HEAD") parser_->skip(true);
    parser_->get().body() = [this](std::string_view bytes) {
      if (!flow_.on_body) {
        response_.body += bytes;
      } else if (done_) {
        flow_.on_body(parser_->get().result_int(), bytes);
      }
    };
  }

  void Count() {
    seat_->Count();
    request_.table->Relieve(seat_.get());
  }

  void StartTimer() {
    timer_ = loop_.After(request_.timeout, [self = shared_from_this()] { self->Finish(self->Failure("timed out")); });
  }
  /// What flows may take as long as it likes, if it does.
  void Progress() {
    if (!flow_.on_body) return;
    loop_.Cancel(timer_);
    StartTimer();
  }

  void Write(std::string bytes) {
    if (!done_) return;
    Progress();
    if (!stream_) {
      waiting_ += bytes;
    } else {
      stream_->Write(std::move(bytes));
    }
  }

  void Take(std::string_view bytes) {
    buffer_ += bytes;
    while (!buffer_.empty() && done_) {
      beast::error_code error;
      const size_t used = parser_->put(boost::asio::buffer(buffer_), error);
      buffer_.erase(0, used);
      if (error == beast::http::error::need_more) return;
      if (error) return Finish(Failure("not an HTTP answer: " + error.message()));
      if (!parser_->is_done()) continue;
      if (parser_->get().result_int() / 100 != 1) return Complete();
      // "100 Continue" and the like come before it, also unasked.
      if (++interim_ > kInterimMost) return Finish(Failure("nothing but 1xx answers comes"));
      ExpectAnswer();
    }
  }

  base::Error Failure(const std::string& why) const {
    const std::string path = request_.target.substr(0, request_.target.find('?'));  // behind it tokens stand
    return {request_.method + " " + request_.scheme + request_.endpoint.ToString() + path + ": " + why};
  }

  std::string Head() const {
    std::string head = request_.method + " " + request_.target + " HTTP/1.1\r\n";
    AppendHeader(head, "Host", request_.endpoint.ToString());
    AppendHeader(head, "Connection", "close");
    for (const auto& [name, value] : request_.headers) AppendHeader(head, name, value);
    if (request_.chunked) {
      AppendHeader(head, "Transfer-Encoding", "chunked");
    } else if (!request_.body.empty() || request_.method != "GET") {
      AppendHeader(head, "Content-Length", std::to_string(request_.body.size()));
    }
    return head + "\r\n";
  }

  void Complete() {
    const auto& message = parser_->get();
    response_.status = static_cast<int>(message.result_int());
    response_.content_type = std::string(message[beast::http::field::content_type]);
    for (const auto& field : message) {
      response_.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    Finish(std::move(response_));
  }

  void Finish(base::Result<Response> result) {
    if (!done_) return;
    const auto done = std::exchange(done_, nullptr);
    Close();
    done(std::move(result));
  }

  void Close() {
    loop_.Cancel(timer_);
    if (seat_) seat_->Leave();
    if (stream_) stream_->Close();
    // Destroyed in a later turn: this runs inside the stream's callback.
    loop_.Post([self = std::move(self_)] {});
  }

  env::Loop& loop_;
  ClientRequest request_;
  const Flow flow_;  // without on_body the answer is kept
  std::function<void(base::Result<Response>)> done_;
  std::unique_ptr<peers::PeerTable::Seat> seat_;  // null: nobody counts it
  env::Loop::TimerId timer_ = 0;
  std::unique_ptr<env::Stream> stream_;
  std::shared_ptr<Running> self_;
  std::string waiting_;  // for the connection
  std::string buffer_;
  std::optional<beast::http::response_parser<PassedOn>> parser_;
  Response response_;
  int interim_ = 0;  // 1xx answers that have come
};

}  // namespace

base::Result<ClientRequest> ParseUrl(std::string_view url, std::string_view scheme, uint16_t default_port) {
  if (!url.starts_with(scheme)) return base::Error{std::string(url) + ": only " + std::string(scheme) + " is read"};
  url.remove_prefix(scheme.size());
  const size_t slash = std::min(url.find('/'), url.size());
  base::Result<env::Endpoint> endpoint = env::ParseEndpoint(url.substr(0, slash), default_port);
  if (!endpoint) return endpoint.error();
  ClientRequest request;
  request.endpoint = std::move(*endpoint);
  request.scheme = scheme;
  if (slash < url.size()) request.target = url.substr(slash);
  return request;
}

void Fetch(env::Loop& loop, env::Net& net, ClientRequest request, std::function<void(base::Result<Response>)> done) {
  std::make_shared<Running>(loop, std::move(request), Flow{}, std::move(done))->Start(net);
}

std::shared_ptr<Exchange> Open(env::Loop& loop, env::Net& net, ClientRequest request, Flow flow,
                               std::function<void(base::Result<Response>)> done) {
  const auto running = std::make_shared<Running>(loop, std::move(request), std::move(flow), std::move(done));
  running->Start(net);
  return {running.get(), [running](Exchange*) { running->Abandon(); }};
}

}  // namespace fairlead::process::http
