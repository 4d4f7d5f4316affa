#include "process/http/page_proxy.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "env_posix/posix_loop.h"
#include "process/http/known_hosts.h"
#include "process/http/server.h"
#include "process/http/static_file.h"

namespace fairlead::process::http {
namespace {

TEST(PageProxy, AddressesOfPages) {
  const auto page = ParsePageUrl("http://host:4040/base/", "the page");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->endpoint.ToString(), "host:4040");
  EXPECT_EQ(page->path, "/base");
  EXPECT_EQ(ParsePageUrl("host:4040", "the page")->path, "");
  EXPECT_FALSE(page->https);
  const auto secure = ParsePageUrl("https://host/base", "the page");
  ASSERT_TRUE(secure.ok());
  EXPECT_TRUE(secure->https);
  EXPECT_EQ(secure->endpoint.ToString() + secure->path, "host:443/base");
  EXPECT_FALSE(ParsePageUrl("http://host:4040/a b", "the page").ok());
  EXPECT_FALSE(ParsePageUrl("http://host:99999/", "the page").ok());
}

TEST(PageProxy, WhoIsRefused) {
  Request request;
  request.method = "GET";
  EXPECT_FALSE(ProxyRefusal(request, {"GET"}));
  EXPECT_EQ(ProxyRefusal(request, {"HEAD", "PUT"})->status, 405);
  request.headers = {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "no-cors"}};
  EXPECT_EQ(ProxyRefusal(request, {"GET"})->status, 403);
  request.headers = {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}};
  EXPECT_FALSE(ProxyRefusal(request, {"GET"})) << "somebody follows a link";
}

TEST(PageProxy, FromWhichPageABrowserAsks) {
  const auto from = [](const std::string& referer) {
    Request request;
    request.headers = {{"Referer", referer}};
    return ShownFrom(request);
  };
  EXPECT_EQ(from("http://rm:8088/proxy/application_1_0001/mapreduce?x=1"), "application_1_0001");
  EXPECT_EQ(from("https://front/below/proxy/it"), "it");
  EXPECT_EQ(from("http://rm:8088/proxy/it?x=/proxy/other/"), "it");
  for (const char* none : {"http://rm:8088/cluster", "http://proxy/it/", "/proxy/it/", "http://rm:8088/proxy/", ""}) {
    EXPECT_EQ(from(none), "") << none;
  }
}

/// Counts who connects by it.
class CountingNet final : public env::Net {
 public:
  explicit CountingNet(env::Net& net) : net_(net) {}
  using env::Net::Listen;
  base::Result<std::unique_ptr<env::Listener>> Listen(const env::Endpoint& endpoint, AcceptHandler on_accept,
                                                      CrowdHandler on_crowded) override {
    return net_.Listen(endpoint, std::move(on_accept), std::move(on_crowded));
  }
  void Adopt(std::unique_ptr<env::Stream> stream, AcceptHandler on_accept) override {
    net_.Adopt(std::move(stream), std::move(on_accept));
  }
  void Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) override {
    ++connected;
    net_.Connect(endpoint, timeout, std::move(done));
  }
  int connected = 0;

 private:
  env::Net& net_;
};

/// A page's server, which answers what `answer` makes; and a proxy before it.
class Behind {
 public:
  explicit Behind(std::function<Response(const Request&)> answer) : answer_(std::move(answer)) {
    auto server =
        Server::Listen(*loop_, *loop_, {"127.0.0.1", 0}, {}, [&](Request request, const Server::Reply& reply) {
          seen_ = std::move(request);
          reply(answer_(seen_));
        });
    EXPECT_TRUE(server.ok());
    server_ = std::move(*server);
  }
  std::string address() const { return server_->local().ToString(); }
  const Request& seen() const { return seen_; }

  base::Result<Response> Ask(const Request& request, const std::string& rest, const std::string& base = "/base") {
    base::Result<Response> answer = base::Error{"none"};
    PassOn(*loop_, {http_, knows_whom_to_trust ? &https_ : nullptr}, request,
           {.page = *ParsePageUrl(scheme + address() + base, "the page"),
            .rest = rest,
            .below = "/proxy/it",
            .owner = "eve",
            .more = {{"X-More", "yes"}}},
           [&, this](base::Result<Response> got) {
             answer = std::move(got);
             loop_->Post([this] { loop_->Stop(); });  // the answer may come at once
           });
    loop_->Run();
    return answer;
  }
  std::string scheme;
  bool knows_whom_to_trust = true;
  /// Connections by HTTP and by HTTPS.
  std::pair<int, int> connected() const { return {http_.connected, https_.connected}; }
  /// Where the browser is led to, or what it is shown.
  std::string Leads(const std::string& rest, const std::string& base = "/base") {
    Request request;
    request.method = "GET";
    const base::Result<Response> answer = Ask(request, rest, base);
    if (!answer.ok()) return answer.error().message;
    const std::string_view location = FindHeader(answer->headers, "Location");
    return location.empty() ? answer->body : std::string(location);
  }

 private:
  std::unique_ptr<env_posix::PosixLoop> loop_ = env_posix::MakePosixLoop();
  CountingNet http_{*loop_}, https_{*loop_};
  std::function<Response(const Request&)> answer_;
  Request seen_;
  std::unique_ptr<Server> server_;
};

TEST(PageProxy, PassesOnWhatSaysNothingOfWhoAsksAndNoLoop) {
  Behind page([](const Request&) { return TextResponse(201, "made"); });
  Request request;
  request.method = "POST";
  request.body = "id=1";
  request.headers = {{"Accept", "text/html"}, {"Cookie", "secret"}, {"Authorization", "Bearer secret"}};
  const base::Result<Response> answer = page.Ask(request, "/jobs/?id=1");
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(FindHeader(answer->headers, "Content-Length"), "");
  const Request& seen = page.seen();
  EXPECT_EQ(seen.method + " " + seen.target + " " + seen.body, "POST /base/jobs/?id=1 id=1");
  EXPECT_EQ(FindHeader(seen.headers, "Accept"), "text/html");
  EXPECT_EQ(FindHeader(seen.headers, "X-More"), "yes");
  EXPECT_EQ(FindHeader(seen.headers, "Cookie"), "");
  EXPECT_EQ(FindHeader(seen.headers, "Authorization"), "");
  // What it gets cannot be asked of a proxy again.
  EXPECT_EQ(ProxyRefusal(seen, {"POST"})->status, 508);
}

TEST(PageProxy, RedirectionsLeadToThePageAndNowhereElse) {
  std::string location;
  Behind page([&](const Request& request) {
    Response response = TextResponse(302, "gone");
    if (request.target == "/mapreduce") return TextResponse(200, "jobs");
    if (request.target == "/round") location = "/round/";
    response.headers = {{"Location", location}};
    return response;
  });
  const auto leads = [&](const std::string& to, const std::string& base = "/base") {
    location = to;
    return page.Leads("/x", base);
  };
  EXPECT_EQ(leads("/base/jobs?id=1"), "/proxy/it/jobs?id=1");
  EXPECT_EQ(leads("http://" + page.address() + "/base"), "/proxy/it/");
  EXPECT_EQ(leads("//" + page.address() + "/mapreduce", ""), "/proxy/it/mapreduce");
  EXPECT_EQ(leads("/mapreduce", ""), "/proxy/it/mapreduce");
  EXPECT_EQ(leads("jobs/"), "jobs/");
  EXPECT_EQ(leads("/proxy/it/jobs"), "/proxy/it/jobs") << "the page knows where it is shown";
  EXPECT_EQ(leads("/mapreduce"), "jobs") << "no address of ours names it";
  EXPECT_EQ(leads("/round"), "the page leads on and on");
  for (const std::string other : {"http://127.0.0.1:1/base", "//evil.example/base", "https://127.0.0.1/base",
                                  "file:///base", "javascript:alert(1)", "HTTP:base", "http://"}) {
    EXPECT_EQ(leads(other),
              "the page leads to " + other + ", another server, and the proxy shows nothing but the page itself");
  }
}

TEST(PageProxy, AnHttpsPageIsFetchedByTheNetThatSpeaksTls) {
  std::string location;
  Behind page([&](const Request& request) {
    Response response = TextResponse(302, "gone");
    if (request.target == "/elsewhere") return TextResponse(200, "jobs");
    response.headers = {{"Location", location}};
    return response;
  });
  page.scheme = "https://";
  const auto leads = [&](const std::string& to) {
    location = to;
    return page.Leads("/x");
  };
  EXPECT_EQ(leads("https://" + page.address() + "/base/jobs"), "/proxy/it/jobs");
  EXPECT_EQ(leads("/elsewhere"), "jobs");
  EXPECT_EQ(page.connected(), std::pair(0, 3)) << "what it leads to is asked for in the same way";
  for (const std::string& other : {"http://" + page.address() + "/base", std::string("https://127.0.0.1/base")}) {
    EXPECT_EQ(leads(other),
              "the page leads to " + other + ", another server, and the proxy shows nothing but the page itself");
  }
  page.knows_whom_to_trust = false;
  EXPECT_EQ(leads("/base"), "it is HTTPS, and nobody here knows whom to trust");
  EXPECT_EQ(page.connected(), std::pair(0, 5)) << "nothing is sent in the clear in its place";
}

TEST(PageProxy, AddressesThatABrowserReadsOtherwiseLeadNowhere) {
  Headers headers;
  Behind page([&](const Request&) {
    Response response = TextResponse(302, "gone");
    response.headers = headers;
    return response;
  });
  for (const Headers& each : {Headers{{"Location", "/\\evil.example/"}}, Headers{{"Location", "\\\\evil.example/base"}},
                              Headers{{"Location", "/base"}, {"location", "//evil.example/"}}}) {
    headers = each;
    EXPECT_EQ(page.Leads("/x"), "the page leads to an address that is none");
  }
}

TEST(PageProxy, WhatAPageSaysOfTheWholeServerIsNotPassedOn) {
  Behind page([](const Request&) {
    Response response = TextResponse(200, "page");
    response.headers = {{"Set-Cookie", "hadoop.auth=; Path=/"}, {"Set-Cookie", "other=1"},
                        {"Clear-Site-Data", "\"*\""},           {"strict-transport-security", "max-age=9"},
                        {"Service-Worker-Allowed", "/"},        {"Alt-Svc", "h2=\"evil.example:443\""},
                        {"Cache-Control", "no-cache"},          {"X-Frame-Options", "SAMEORIGIN"}};
    return response;
  });
  Request request;
  request.method = "GET";
  const base::Result<Response> answer = page.Ask(request, "/");
  ASSERT_TRUE(answer.ok());
  for (const char* gone :
       {"Set-Cookie", "Clear-Site-Data", "Strict-Transport-Security", "Service-Worker-Allowed", "Alt-Svc"}) {
    EXPECT_EQ(FindHeader(answer->headers, gone), "") << gone;
  }
  EXPECT_EQ(FindHeader(answer->headers, "Cache-Control"), "no-cache");
  EXPECT_EQ(FindHeader(answer->headers, "X-Frame-Options"), "SAMEORIGIN");
}

TEST(PageProxy, LinksOfAPageThatIsShownElsewhere) {
  const StaticFile file{"x.html", "text/html", "\"tag\"", "<a href=\"./\"><img src=\"./static/x.svg\"><a href=\"/y\">"};
  Request request;
  EXPECT_EQ(StaticResponse(request, file).body, file.bytes);
  request.headers = {{"If-None-Match", "\"tag\""}};
  EXPECT_EQ(StaticResponse(request, file).status, 304);
  EXPECT_EQ(StaticResponse(request, file, "/proxy/w\"1").body,
            "<a href=\"/proxy/w&quot;1/\"><img src=\"/proxy/w&quot;1/static/x.svg\"><a href=\"/y\">");
}

}  // namespace
}  // namespace fairlead::process::http
