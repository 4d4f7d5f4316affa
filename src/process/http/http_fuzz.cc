// Requests and answers in any cut, as strangers send them: the server answers or refuses, the client ends once, and
// both hold no more than their limits. Logins by tokens: nobody comes in who has no key.
#include <algorithm>
#include <cstdint>
#include <deque>

#include "base/check.h"
#include "process/http/client.h"
#include "process/http/server.h"
#include "process/http/token_filter.h"

namespace {

using namespace fairlead;

/// Runs what was posted when it is told; time stands still.
class Loop final : public env::Loop {
 public:
  base::Instant Now() const override { return {}; }
  base::WallTime Wall() const override { return {}; }
  TimerId At(base::Instant, Callback) override { return ++timers_; }
  void Cancel(TimerId) override {}
  void Post(Callback callback) override { posted_.push_back(std::move(callback)); }
  void Offload(Callback work, Callback done) override {
    work();
    Post(std::move(done));
  }
  void RandomBytes(std::span<uint8_t> bytes) override { std::fill(bytes.begin(), bytes.end(), uint8_t{0}); }
  void RunPosted() {
    for (; !posted_.empty(); posted_.pop_front()) posted_.front()();
  }

 private:
  TimerId timers_ = 0;
  std::deque<Callback> posted_;
};

/// What the peer sees. Takes everything at once.
struct Wire {
  env::StreamHandler* handler = nullptr;
  bool paused = false;
  bool closed = false;
  std::string answers;
};

class Stream final : public env::Stream {
 public:
  explicit Stream(Wire& wire) : wire_(wire) {}
  ~Stream() override { wire_.closed = true; }
  void Start(env::StreamHandler* handler) override { wire_.handler = handler; }
  void Write(std::string bytes) override { wire_.answers += bytes; }
  void SendFile(std::shared_ptr<env::File>, uint64_t, uint64_t) override {}
  size_t unsent() const override { return 0; }
  void PauseReading() override { wire_.paused = true; }
  void ResumeReading() override { wire_.paused = false; }
  void CloseAfterFlush() override { wire_.closed = true; }
  void Close() override { wire_.closed = true; }
  env::Endpoint peer() const override { return {"192.0.2.1", 1}; }
  env::Endpoint local() const override { return {"192.0.2.2", 80}; }

 private:
  Wire& wire_;
};

class Listener final : public env::Listener {
 public:
  env::Endpoint local() const override { return {"192.0.2.2", 80}; }
};

class Net final : public env::Net {
 public:
  Net(Loop& loop, Wire& wire) : loop_(loop), wire_(wire) {}
  base::Result<std::unique_ptr<env::Listener>> Listen(const env::Endpoint&, AcceptHandler on_accept,
                                                      CrowdHandler) override {
    accept = std::move(on_accept);
    return std::unique_ptr<env::Listener>(std::make_unique<Listener>());
  }
  void Adopt(std::unique_ptr<env::Stream>, AcceptHandler) override {}
  void Connect(const env::Endpoint&, base::Duration, ConnectHandler done) override {
    loop_.Post([this, done = std::move(done)] { done(std::unique_ptr<env::Stream>(std::make_unique<Stream>(wire_))); });
  }
  AcceptHandler accept;

 private:
  Loop& loop_;
  Wire& wire_;
};

namespace http = process::http;
constexpr size_t kBodyMax = 4096;
constexpr size_t kAnswerMax = 64;  // so short that a fuzzer finds what goes beyond it

void FeedServer(std::string_view rest, size_t cut) {
  Loop loop;
  Wire wire;
  Net net(loop, wire);
  http::ServerLimits limits;
  limits.header_bytes_max = limits.body_bytes_max = kBodyMax;
  auto server = http::Server::Listen(
      loop, net, {"192.0.2.2", 80}, http::KnownHosts{.any = true},
      [](http::Request request, const http::Server::Reply& reply) {
        FL_CHECK(request.body.size() <= kBodyMax, "a body above its limit");
        http::Response response = http::TextResponse(200, request.path);
        response.headers = {{"Location", request.path}, {request.path, request.target}};
        for (const auto& [name, value] : request.query) response.headers.emplace_back(name, value);
        reply(std::move(response));
      },
      limits);
  net.accept(std::make_unique<Stream>(wire));
  while (!rest.empty() && !wire.closed) {
    wire.handler->OnData(rest.substr(0, cut));
    rest.remove_prefix(std::min(cut, rest.size()));
    loop.RunPosted();
    FL_CHECK(!wire.paused || wire.closed, "paused though every answer is taken");
  }
  // Between heads there is no line but of the form "Name: value".
  const std::string& answers = wire.answers;
  FL_CHECK(answers.find('\0') >= answers.find("\r\n\r\n") || answers.empty(), "a zero byte in a head");
  server = base::Error{"over"};
  loop.RunPosted();
}

void FeedClient(std::string_view rest, size_t cut, bool flows) {
  Loop loop;
  Wire wire;
  Net net(loop, wire);
  http::ClientRequest request;
  request.body_bytes_max = kAnswerMax;
  size_t body = 0;
  int ended = 0;
  const auto done = [&](base::Result<http::Response> answer) {
    ++ended;
    if (answer.ok()) body += answer->body.size();
  };
  std::shared_ptr<http::Exchange> exchange;
  if (flows) {
    http::Flow flow;
    flow.on_body = [&](int, std::string_view bytes) {
      FL_CHECK(ended == 0, "a body behind its end");
      body += bytes.size();
    };
    exchange = http::Open(loop, net, request, std::move(flow), done);
  } else {
    http::Fetch(loop, net, request, done);
  }
  loop.RunPosted();
  while (!rest.empty() && !wire.closed) {
    wire.handler->OnData(rest.substr(0, cut));
    rest.remove_prefix(std::min(cut, rest.size()));
    loop.RunPosted();
  }
  if (!wire.closed) wire.handler->OnClosed("");
  loop.RunPosted();
  FL_CHECK(ended == 1, "an answer that ends not once");
  FL_CHECK(body <= kAnswerMax, "a body above its limit");
}

void FeedTokenFilter(std::string_view said) {
  static const auto filter = http::TokenFilter::Make(std::string(43, 'A'), false);
  FL_CHECK(filter.ok(), "a key that is long enough");
  for (const char* way : {"Bearer ", "Basic ", ""}) {
    http::Request request;
    request.headers.emplace_back("Authorization", way + std::string(said));
    const auto refused = filter->Check(request, {});
    FL_CHECK(refused && refused->status == 403, "a token without a key");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t cut = bytes.empty() ? 1 : data[0] + size_t{1};  // the first byte says how often
  FeedServer(bytes, cut);
  FeedClient(bytes, cut, false);
  FeedClient(bytes, cut, true);
  FeedTokenFilter(bytes);
  return 0;
}
