#include "process/http/client.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>

namespace fairlead::process::http {
namespace {

namespace beast = boost::beast;

/// Owns itself until it has called `done`.
class Exchange final : public env::StreamHandler, public peers::Peer, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(env::Loop& loop, ClientRequest request, std::function<void(base::Result<Response>)> done)
      : loop_(loop), request_(std::move(request)), done_(std::move(done)) {
    parser_.eager(true);
    parser_.body_limit(request_.body_bytes_max);
    if (request_.method == "HEAD") parser_.skip(true);
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
    }
    timer_ = loop_.After(request_.timeout, [self = shared_from_this()] { self->Finish(self->Failure("timed out")); });
    net.Connect(request_.endpoint, request_.timeout, [self = shared_from_this()](auto connected) {
      if (!connected) return self->Finish(connected.error());
      if (!self->done_) return;
      self->stream_ = std::move(connected).value();
      self->self_ = self;
      self->stream_->Write(self->Head() + self->request_.body);
      self->stream_->Start(self.get());
    });
  }

  void OnData(std::string_view bytes) override {
    Take(bytes);
    if (!done_ || !seat_) return;
    seat_->Count();
    request_.table->Relieve(seat_.get());
  }

  void OnClosed(const std::string& reason) override {
    beast::error_code error;
    if (parser_.got_some()) parser_.put_eof(error);
    if (!error && parser_.is_done()) return Complete();
    Finish(Failure(reason.empty() ? "the connection ended before the answer" : reason));
  }

  void Evict() override { Finish(Failure("too much is fetched at once for " + request_.charged)); }
  size_t HeldBytes() const override { return buffer_.size() + request_.body.size() + parser_.get().body().size(); }

 private:
  void Take(std::string_view bytes) {
    buffer_ += bytes;
    beast::error_code error;
    while (!buffer_.empty() && !parser_.is_done()) {
      const size_t used = parser_.put(boost::asio::buffer(buffer_), error);
      buffer_.erase(0, used);
      if (error == beast::http::error::need_more) return;
      if (error) return Finish(Failure("not an HTTP answer: " + error.message()));
    }
    if (parser_.is_done()) Complete();
  }

  base::Error Failure(const std::string& why) const {
    return {request_.method + " http://" + request_.endpoint.ToString() + request_.target + ": " + why};
  }

  std::string Head() const {
    std::string head = request_.method + " " + request_.target + " HTTP/1.1\r\n";
    AppendHeader(head, "Host", request_.endpoint.ToString());
    AppendHeader(head, "Connection", "close");
    for (const auto& [name, value] : request_.headers) AppendHeader(head, name, value);
    if (!request_.body.empty() || request_.method != "GET") {
      AppendHeader(head, "Content-Length", std::to_string(request_.body.size()));
    }
    return head + "\r\n";
  }

  void Complete() {
    auto message = parser_.release();
    Response response;
    response.status = static_cast<int>(message.result_int());
    response.content_type = std::string(message[beast::http::field::content_type]);
    for (const auto& field : message) {
      response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    response.body = std::move(message.body());
    Finish(std::move(response));
  }

  void Finish(base::Result<Response> result) {
    if (!done_) return;
    const auto done = std::exchange(done_, nullptr);
    loop_.Cancel(timer_);
    if (seat_) seat_->Leave();
    if (stream_) stream_->Close();
    // Destroyed in a later turn: this runs inside the stream's callback.
    loop_.Post([self = std::move(self_)] {});
    done(std::move(result));
  }

  env::Loop& loop_;
  ClientRequest request_;
  std::function<void(base::Result<Response>)> done_;
  std::unique_ptr<peers::PeerTable::Seat> seat_;  // null: nobody counts it
  env::Loop::TimerId timer_ = 0;
  std::unique_ptr<env::Stream> stream_;
  std::shared_ptr<Exchange> self_;
  std::string buffer_;
  beast::http::response_parser<beast::http::string_body> parser_;
};

}  // namespace

void Fetch(env::Loop& loop, env::Net& net, ClientRequest request, std::function<void(base::Result<Response>)> done) {
  std::make_shared<Exchange>(loop, std::move(request), std::move(done))->Start(net);
}

}  // namespace fairlead::process::http
