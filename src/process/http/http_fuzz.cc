// Requests in any cut, as strangers send them: the server answers or refuses, and holds no more than its limits.
#include <algorithm>
#include <cstdint>
#include <deque>

#include "base/check.h"
#include "process/http/server.h"

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

/// What the client sees. Takes everything at once.
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
  base::Result<std::unique_ptr<env::Listener>> Listen(const env::Endpoint&, AcceptHandler on_accept,
                                                      CrowdHandler) override {
    accept = std::move(on_accept);
    return std::unique_ptr<env::Listener>(std::make_unique<Listener>());
  }
  void Adopt(std::unique_ptr<env::Stream>, AcceptHandler) override {}
  void Connect(const env::Endpoint&, base::Duration, ConnectHandler) override {}
  AcceptHandler accept;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace http = process::http;
  Loop loop;
  Net net;
  http::ServerLimits limits;
  limits.header_bytes_max = limits.body_bytes_max = 4096;
  auto server = http::Server::Listen(
      loop, net, {"192.0.2.2", 80}, http::KnownHosts{.any = true},
      [](http::Request request, const http::Server::Reply& reply) {
        FL_CHECK(request.body.size() <= 4096, "a body above its limit");
        http::Response response = http::TextResponse(200, request.path);
        response.headers = {{"Location", request.path}, {request.path, request.target}};
        for (const auto& [name, value] : request.query) response.headers.emplace_back(name, value);
        reply(std::move(response));
      },
      limits);
  Wire wire;
  net.accept(std::make_unique<Stream>(wire));
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const size_t cut =
      rest.empty() ? 1 : static_cast<uint8_t>(rest.front()) + size_t{1};  // the first byte says how often
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
  return 0;
}
