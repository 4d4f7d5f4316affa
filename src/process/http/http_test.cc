#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "process/http/server.h"

namespace fairlead::process::http {
namespace {

/// A loop with a server on it.
class HttpTest : public testing::Test {
 protected:
  void Serve(Server::Handler handler, ServerLimits limits = {}) {
    auto server =
        Server::Listen(*loop_, *loop_, {"127.0.0.1", 0}, KnownHosts{{"x"}, {}, false}, std::move(handler), limits);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(server).value();
  }

  base::Result<Response> Get(const std::string& target, const std::string& method = "GET",
                             const std::string& body = "") {
    ClientRequest request;
    request.endpoint = server_->local();
    request.target = target;
    request.method = method;
    request.body = body;
    return FetchNow(std::move(request));
  }

  base::Result<Response> FetchNow(ClientRequest request) {
    base::Result<Response> result = base::Error{"no answer"};
    Fetch(*loop_, *loop_, std::move(request), [&](base::Result<Response> answer) {
      result = std::move(answer);
      loop_->Stop();
    });
    loop_->Run();
    return result;
  }

  /// Sends raw bytes and gives all that comes back until the server closes.
  std::string Raw(const std::string& bytes) {
    struct Collector : env::StreamHandler {
      std::unique_ptr<env::Stream> stream;
      std::string received;
      env_posix::PosixLoop* loop = nullptr;
      void OnData(std::string_view data) override { received += data; }
      void OnClosed(const std::string&) override { loop->Stop(); }
    } collector;
    collector.loop = loop_.get();
    loop_->Connect(server_->local(), base::Duration::Seconds(5), [&](auto connected) {
      collector.stream = std::move(connected).value();
      collector.stream->Start(&collector);
      collector.stream->Write(bytes);
    });
    loop_->Run();
    return collector.received;
  }

  std::unique_ptr<env_posix::PosixLoop> loop_ = env_posix::MakePosixLoop();
  std::unique_ptr<Server> server_;
};

TEST_F(HttpTest, PathQueryAndBodyArrive) {
  Serve([](Request request, Server::Reply reply) {
    reply(TextResponse(200, request.method + " " + request.path + " " + request.query["q"] + " " + request.body));
  });
  const auto answer = Get("/a%20b?q=x%26y", "PUT", "body");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "PUT /a b x&y body");
}

TEST_F(HttpTest, AnAnswerMayComeLater) {
  Serve([&](Request, Server::Reply reply) { loop_->Post([reply] { reply(JsonResponse(404, "{}")); }); });
  const auto answer = Get("/");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->content_type, "application/json; charset=utf-8");
}

TEST_F(HttpTest, PipelinedRequestsAreAnsweredInOrder) {
  Serve([](Request request, Server::Reply reply) { reply(TextResponse(200, "<" + request.path + ">")); });
  const std::string out = Raw(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\nConnection: "
      "close\r\n\r\n");
  EXPECT_LT(out.find("</1>"), out.find("</2>"));
  EXPECT_LT(out.find("</2>"), out.find("</3>"));
  EXPECT_NE(out.find("</3>"), std::string::npos);
}

TEST_F(HttpTest, HostileInputGetsAnErrorAndTheServerGoesOn) {
  ServerLimits limits;
  limits.header_bytes_max = 1024;
  limits.body_bytes_max = 1024;
  Serve([](Request, Server::Reply reply) { reply(TextResponse(200, "ok")); }, limits);
  EXPECT_NE(Raw("hrpc\x09 garbage\r\n\r\n").find("400"), std::string::npos);
  EXPECT_NE(Raw("GET / HTTP/1.1\r\nA: " + std::string(4000, 'a') + "\r\n\r\n").find("431"), std::string::npos);
  EXPECT_NE(Raw("PUT / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n").find("413"), std::string::npos);
  EXPECT_EQ(Get("/")->body, "ok");
}

TEST_F(HttpTest, WhatIsRefusedIsCounted) {
  Serve([](const Request&, const Server::Reply& reply) { reply(TextResponse(200, "ok")); });
  EXPECT_NE(Raw("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").find("421"), std::string::npos);
  EXPECT_EQ(server_->refused(), 1U);
  EXPECT_EQ(Get("/")->body, "ok");
  EXPECT_EQ(server_->refused(), 1U);
  Raw("no words of HTTP\r\n\r\n");
  Raw("PUT / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(server_->refused(), 3U);
}

TEST_F(HttpTest, APageThatThrowsIsAnsweredForAndTheServerGoesOn) {
  Serve([](const Request& request, const Server::Reply& reply) {
    if (request.path == "/bad") throw std::runtime_error("no such column");
    reply(TextResponse(200, "ok"));
  });
  testing::internal::CaptureStderr();
  EXPECT_EQ(Get("/bad")->status, 500);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "GET /bad: no such column\n");
  EXPECT_EQ(Get("/")->body, "ok");
}

TEST_F(HttpTest, EveryConnectionBeyondTheLimitIsClosed) {
  ServerLimits limits;
  limits.peers.connections_max = 0;
  Serve([](Request, Server::Reply reply) { reply(TextResponse(200, "ok")); }, limits);
  EXPECT_FALSE(Get("/").ok());
}

/// Collects without reading until told.
struct Reader : env::StreamHandler {
  std::unique_ptr<env::Stream> stream;
  std::string received;
  std::function<void()> on_data, on_closed;
  void OnData(std::string_view data) override {
    received += data;
    if (on_data) on_data();
  }
  void OnClosed(const std::string&) override {
    if (on_closed) on_closed();
  }
};

TEST_F(HttpTest, RequestsAreTakenOnlyAsFarAsTheirAnswersAre) {
  constexpr int kRequests = 40;
  constexpr size_t kAnswer = 3 << 20;
  int taken = 0;
  Serve([&](const Request& request, const Server::Reply& reply) {
    if (request.path == "/large") ++taken;
    reply(TextResponse(200, std::string(request.path == "/large" ? kAnswer : 1, 'x')));
  });
  Reader reader;
  loop_->Connect(server_->local(), base::Duration::Seconds(5), [&](auto connected) {
    reader.stream = std::move(connected).value();
    std::string requests;
    for (int i = 0; i < kRequests; ++i) requests += "GET /large HTTP/1.1\r\nHost: x\r\n\r\n";
    reader.stream->Write(requests);
  });
  for (int i = 0; i < 2 * kRequests; ++i) ASSERT_TRUE(Get("/").ok());  // a turn takes one
  EXPECT_LT(taken, kRequests / 2);
  reader.on_data = [&] {
    if (reader.received.size() > kRequests * kAnswer) loop_->Stop();
  };
  reader.stream->Start(&reader);
  loop_->Run();
  EXPECT_EQ(taken, kRequests);
}

TEST_F(HttpTest, LongLastAnswersOfSeveralReadersArriveWhole) {
  constexpr size_t kReaders = 3;
  const std::string body(size_t{10} << 20, 'a');
  std::vector<Server::Reply> asked;
  Serve([&](Request, Server::Reply reply) {
    asked.push_back(std::move(reply));
    if (asked.size() < kReaders) return;
    for (const Server::Reply& one : asked) one(TextResponse(200, body));
  });
  std::vector<size_t> lengths;
  for (size_t i = 0; i < kReaders; ++i) {
    ClientRequest request;  // asks for the connection to be closed behind the answer
    request.endpoint = server_->local();
    Fetch(*loop_, *loop_, request, [&](base::Result<Response> answer) {
      lengths.push_back(answer.ok() ? answer->body.size() : 0);
      if (lengths.size() == kReaders) loop_->Stop();
    });
  }
  loop_->Run();
  EXPECT_EQ(lengths, (std::vector<size_t>(kReaders, body.size())));
}

TEST_F(HttpTest, AHalfHeadAndAHalfBodyEndWithTheirDeadlines) {
  ServerLimits limits;
  limits.head = limits.body = base::Duration::Millis(100);
  Serve([](const Request&, const Server::Reply& reply) { reply(TextResponse(200, "ok")); }, limits);
  EXPECT_EQ(Raw(""), "");
  EXPECT_EQ(Raw("GET / HTTP/1.1\r\nHost: "), "");
  EXPECT_EQ(Raw("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf"), "");
  // Also behind a whole request.
  EXPECT_NE(Raw("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP").find("ok"), std::string::npos);
}

TEST_F(HttpTest, AnAnswerThatIsNotTakenEndsItsConnection) {
  ServerLimits limits;
  limits.unread = base::Duration::Millis(100);
  Serve([](Request, Server::Reply reply) { reply(TextResponse(200, std::string(8 << 20, 'x'))); }, limits);
  Reader reader;  // which is not started, and so reads nothing
  loop_->Connect(server_->local(), base::Duration::Seconds(5), [&](auto connected) {
    reader.stream = std::move(connected).value();
    reader.stream->Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  });
  const base::Instant begin = loop_->Now();
  size_t most = 0;
  do {
    loop_->After(base::Duration::Millis(20), [&] { loop_->Stop(); });
    loop_->Run();
    most = std::max(most, server_->held_bytes());
  } while (loop_->Now() - begin < base::Duration::Seconds(20) && (most < 1 << 20 || server_->held_bytes() > 0));
  EXPECT_GT(most, size_t{1} << 20);
  EXPECT_EQ(server_->held_bytes(), 0U);
}

TEST_F(HttpTest, WhatAllConnectionsHoldIsBoundedAndTheSilentGoFirst) {
  ServerLimits limits;
  limits.peers.bytes_max = 1 << 20;
  Serve([](const Request&, const Server::Reply& reply) { reply(TextResponse(200, "ok")); }, limits);
  constexpr int kConnections = 8;
  int closed = 0;
  std::vector<std::unique_ptr<Reader>> readers;
  for (int i = 0; i < kConnections; ++i) {
    readers.push_back(std::make_unique<Reader>());
    Reader* one = readers.back().get();
    one->on_closed = [&, one] {
      one->received = "closed";
      if (++closed == kConnections - 3) loop_->Stop();
    };
    loop_->Connect(server_->local(), base::Duration::Seconds(5), [one](auto connected) {
      one->stream = std::move(connected).value();
      one->stream->Start(one);
      one->stream->Write("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n" + std::string(300000, 'x'));
    });
  }
  loop_->After(base::Duration::Seconds(10), [&] { loop_->Stop(); });  // long before half a body's deadline
  loop_->Run();
  EXPECT_EQ(closed, kConnections - 3);
  EXPECT_EQ(Get("/")->body, "ok");
}

TEST_F(HttpTest, ControlCharactersReachNoHead) {
  Serve([](const Request& request, const Server::Reply& reply) {
    Response response = TextResponse(302, FindHeader(request.headers, "X-Seen").empty() ? "clean" : "injected");
    response.headers = {{"Location", request.query.contains("at") ? request.query.at("at") : ""},
                        {"Bad\r\nName", "x"},
                        {"X-From", std::string(FindHeader(request.headers, "X-Sent"))}};
    reply(response);
  });
  const auto answer = Get("/?at=%2Fx%0d%0aSet-Cookie:%20a%3Db%0d%0a%0d%0a%00<html>");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(FindHeader(answer->headers, "Location"), "/x  Set-Cookie: a=b     <html>");
  EXPECT_EQ(FindHeader(answer->headers, "Set-Cookie"), "");
  EXPECT_EQ(answer->body, "clean");
  for (const auto& [target, sent, ok] : {std::tuple("/", "a\r\nX-Seen: 1", true), {"/\r\nX-Seen: 1", "", false}}) {
    ClientRequest request;
    request.endpoint = server_->local();
    request.target = target;
    request.headers = {{"X-Sent", sent}};
    const base::Result<Response> result = FetchNow(request);
    ASSERT_EQ(result.ok(), ok);
    EXPECT_EQ(ok ? result->body : "clean", "clean");
  }
}

// Masters whose pages never end, seen through the resource manager's proxy.
TEST_F(HttpTest, WhatIsFetchedForOthersHasABoundTogether) {
  struct Endless : env::StreamHandler {  // half of the announced bytes, and then no more
    std::unique_ptr<env::Stream> stream;
    void OnData(std::string_view) override {
      stream->Write("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + std::string(1'000'000, 'x'));
    }
    void OnClosed(const std::string&) override {}
  };
  std::vector<std::unique_ptr<Endless>> masters;
  auto listening = loop_->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    masters.push_back(std::make_unique<Endless>());
    masters.back()->stream = std::move(stream);
    masters.back()->stream->Start(masters.back().get());
  });
  ASSERT_TRUE(listening.ok());
  Serve([](Request, Server::Reply reply) { reply(TextResponse(200, "a page")); });
  const auto table = std::make_shared<peers::PeerTable>(
      peers::PeerLimits{.connections_max = 100, .per_address_max = 50, .bytes_max = 10'000'000});
  int evicted = 0;
  const auto fetch = [&](const env::Endpoint& from, const std::string& owner, std::function<void(bool)> done) {
    ClientRequest request;
    request.endpoint = from;
    request.table = table;
    request.charged = owner;
    Fetch(*loop_, *loop_, request, [done = std::move(done)](base::Result<Response> got) { done(got.ok()); });
  };
  for (int i = 0; i < 80; ++i) fetch((*listening)->local(), "eve", [&](bool) { ++evicted; });
  EXPECT_EQ(evicted, 30) << "an owner's share";
  const auto all_sent = [&] { return masters.size() >= 50 && table->held_bytes() >= 9'000'000 && evicted >= 70; };
  while (!all_sent()) {
    loop_->After(base::Duration::Millis(5), [&] { loop_->Stop(); });
    loop_->Run();
    EXPECT_LE(table->held_bytes(), 10'000'000U + 1'000'000U);
  }
  bool good = false;
  fetch(server_->local(), "ann", [&](bool ok) {
    good = ok;
    loop_->Stop();
  });
  loop_->Run();
  EXPECT_TRUE(good) << "another owner's page";
  masters.clear();  // what is still fetched ends
  while (evicted < 80) {
    loop_->After(base::Duration::Millis(5), [&] { loop_->Stop(); });
    loop_->Run();
  }
}

TEST_F(HttpTest, WhatIsFetchedByTlsCountsWithWhatItsSessionHolds) {
  Serve([](Request, Server::Reply reply) { reply(TextResponse(200, "a page")); });
  const auto table = std::make_shared<peers::PeerTable>(
      peers::PeerLimits{.connections_max = 100, .per_address_max = 50, .bytes_max = 10'000'000});
  for (const auto& [scheme, most] : {std::pair("http://", size_t{0}), std::pair("https://", size_t{72} << 10)}) {
    ClientRequest request;
    request.endpoint = server_->local();
    request.scheme = scheme;
    request.table = table;
    request.charged = "eve";
    bool good = false;
    size_t held = 0;
    const auto exchange =
        Open(*loop_, *loop_, request, {.on_body = [&](int, std::string_view) { held = table->held_bytes(); }},
             [&](const base::Result<Response>& got) {
               good = got.ok();
               loop_->Stop();
             });
    loop_->Run();
    EXPECT_TRUE(good);
    EXPECT_EQ(held, most) << scheme;
    EXPECT_EQ(table->held_bytes(), 0U);
  }
}

/// Takes no answer until it is told to.
class Pausing : public env::StreamHandler {
 public:
  Pausing(env_posix::PosixLoop& loop, const env::Endpoint& to, const std::string& target) {
    loop.Connect(to, base::Duration::Seconds(5), [this, target](auto connected) {
      stream = std::move(connected).value();
      stream->Start(this);
      stream->PauseReading();
      stream->Write("GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    });
  }
  void OnData(std::string_view data) override { received += data.size(); }
  void OnClosed(const std::string&) override {
    closed = true;
    on_closed();
  }

  std::unique_ptr<env::Stream> stream;
  size_t received = 0;
  bool closed = false;
  std::function<void()> on_closed = [] {};
};

TEST_F(HttpTest, AnAnswerLargerThanAPortsMemoryWaitsForItsReader) {
  constexpr size_t kLarge = size_t{40} << 20;
  Serve([&](const Request& request, const Server::Reply& reply) {
    reply(TextResponse(200, request.path == "/large" ? std::string(kLarge, 'x') : "small"));
    if (request.path == "/large") loop_->Post([this] { loop_->Stop(); });
  });
  Pausing first(*loop_, server_->local(), "/large");
  loop_->Run();
  EXPECT_GT(server_->held_bytes(), size_t{32} << 20);
  for (int i = 0; i < 20; ++i) {
    const auto small = Get("/small");
    ASSERT_TRUE(small.ok()) << small.error().message;
  }
  first.on_closed = [this] { loop_->Stop(); };
  first.stream->ResumeReading();
  loop_->Run();
  EXPECT_GT(first.received, kLarge) << "with its head";

  Pausing earlier(*loop_, server_->local(), "/large");
  loop_->Run();
  Pausing later(*loop_, server_->local(), "/large");
  loop_->Run();
  EXPECT_LT(server_->held_bytes(), size_t{64} << 20) << "one of the two";
  later.on_closed = [this] { loop_->Stop(); };
  later.stream->ResumeReading();
  loop_->Run();
  EXPECT_GT(later.received, kLarge);
}

/// A peer that says `answer` to the first bytes it hears, and nothing more.
class Saying : public env::StreamHandler {
 public:
  Saying(env_posix::PosixLoop& loop, std::string answer) : answer_(std::move(answer)) {
    listener = loop.Listen({"127.0.0.1", 0}, [this](std::unique_ptr<env::Stream> accepted) {
      stream = std::move(accepted);
      stream->Start(this);
    });
  }
  void OnData(std::string_view) override { stream->Write(std::exchange(answer_, {})); }
  void OnClosed(const std::string&) override { on_closed(); }

  base::Result<std::unique_ptr<env::Listener>> listener = base::Error{};
  std::unique_ptr<env::Stream> stream;
  std::function<void()> on_closed = [] {};

 private:
  std::string answer_;
};

TEST_F(HttpTest, AnAnswerComesBehindContinueAndInChunks) {
  Saying peer(*loop_,
              "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
              "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
  ClientRequest request;
  request.endpoint = (*peer.listener)->local();
  const auto answer = FetchNow(request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "abcde");
}

TEST_F(HttpTest, AnswersBeforeTheAnswerHaveANumber) {
  const auto after = [&](int interim) {
    std::string answer;
    for (int i = 0; i < interim; ++i) answer += "HTTP/1.1 100 Continue\r\n\r\n";
    Saying peer(*loop_, answer + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ClientRequest request;
    request.endpoint = (*peer.listener)->local();
    const auto got = FetchNow(request);
    return got.ok() ? std::to_string(got->status) : got.error().message;
  };
  EXPECT_EQ(after(10), "200");
  EXPECT_THAT(after(11), testing::EndsWith("/: nothing but 1xx answers comes"));
}

TEST_F(HttpTest, BodiesFlow) {
  Serve([](const Request& request, const Server::Reply& reply) {
    reply(TextResponse(200, std::string(FindHeader(request.headers, "Transfer-Encoding")) + " " + request.body));
  });
  ClientRequest request;
  request.endpoint = server_->local();
  request.method = "PUT";
  request.chunked = true;
  std::string body;
  int pieces = 0;
  std::shared_ptr<Exchange> exchange;
  Flow flow;
  flow.on_body = [&](int status, std::string_view bytes) {
    EXPECT_EQ(status, 200);
    body += bytes;
  };
  flow.on_sent = [&] {
    if (pieces < 3) exchange->Send("piece " + std::to_string(pieces) + ";");
    if (pieces++ == 3) exchange->SendLast();
  };
  base::Result<Response> result = base::Error{"no answer"};
  exchange = Open(*loop_, *loop_, request, flow, [&](base::Result<Response> answer) {
    result = std::move(answer);
    loop_->Stop();
  });
  loop_->Run();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(body, "chunked piece 0;piece 1;piece 2;");
  EXPECT_EQ(result->body, "");
}

TEST_F(HttpTest, AnExchangeEndsWithItsOwnerOrWithSilence) {
  for (const bool silent : {false, true}) {
    Saying peer(*loop_, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    ClientRequest request;
    request.endpoint = (*peer.listener)->local();
    if (silent) request.timeout = base::Duration::Millis(50);
    request.target = "/x?delegation=SECRET";
    std::shared_ptr<Exchange> exchange;
    std::string ended = "not ended";
    Flow flow;
    flow.on_body = [&](int, std::string_view) {
      if (!silent) exchange.reset();
    };
    peer.on_closed = [&] { loop_->Stop(); };
    exchange = Open(*loop_, *loop_, request, flow,
                    [&](base::Result<Response> answer) { ended = answer.ok() ? "whole" : answer.error().message; });
    loop_->Run();
    const std::string timed_out = "GET http://" + request.endpoint.ToString() + "/x: timed out";
    EXPECT_EQ(ended, silent ? timed_out : "not ended");
  }
}

TEST(HttpText, UrlsAreRead) {
  const auto request = ParseUrl("http://node:9864/a%20b?op=OPEN");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->endpoint, (env::Endpoint{"node", 9864}));
  EXPECT_EQ(request->target, "/a%20b?op=OPEN");
  EXPECT_EQ(ParseUrl("http://node")->endpoint.port, 80);
  EXPECT_EQ(ParseUrl("http://node")->target, "/");
  for (const char* url : {"https://node/", "node:80/", "http://", "http:///x", "http://node:x/"}) {
    EXPECT_FALSE(ParseUrl(url).ok()) << url;
  }
  EXPECT_FALSE(ParseUrl("webhdfs://node/in", "webhdfs://", 0).ok());
}

TEST(HttpText, SegmentsOfAPath) {
  EXPECT_EQ(PathSegments("/ws//v1/"), (std::vector<std::string>{"ws", "v1"}));
  EXPECT_EQ(PathSegments("/"), std::vector<std::string>{});
}

TEST(HttpText, PercentCoding) {
  EXPECT_EQ(PercentDecode("a%2Fb+c%zz%4", true), "a/b c%zz%4");
  EXPECT_EQ(PercentEncode("a/b c"), "a%2Fb%20c");
  EXPECT_EQ(PercentEncode("a/b c", Slashes::kKept), "a/b%20c");
  EXPECT_EQ(HtmlEscape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}

}  // namespace
}  // namespace fairlead::process::http
