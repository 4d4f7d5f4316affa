#include <gtest/gtest.h>

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
    base::Result<Response> result = base::Error{"no answer"};
    ClientRequest request;
    request.endpoint = server_->local();
    request.target = target;
    request.method = method;
    request.body = body;
    Fetch(*loop_, *loop_, request, [&](base::Result<Response> answer) {
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

TEST_F(HttpTest, EveryConnectionBeyondTheLimitIsClosed) {
  ServerLimits limits;
  limits.connections_max = 0;
  Serve([](Request, Server::Reply reply) { reply(TextResponse(200, "ok")); }, limits);
  EXPECT_FALSE(Get("/").ok());
}

TEST(HttpText, PercentCoding) {
  EXPECT_EQ(PercentDecode("a%2Fb+c%zz%4", true), "a/b c%zz%4");
  EXPECT_EQ(PercentEncode("a/b c"), "a%2Fb%20c");
  EXPECT_EQ(HtmlEscape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}

}  // namespace
}  // namespace fairlead::process::http
