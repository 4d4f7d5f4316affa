#include "process/http/page_proxy.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(ParsePageUrl("https://host", "the page").error().message,
            "the page is HTTPS, which the proxy does not speak");
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

TEST(PageProxy, PassesOnWhatSaysNothingOfWhoAsksAndNoLoop) {
  const auto loop = env_posix::MakePosixLoop();
  Request seen;
  const auto server =
      Server::Listen(*loop, *loop, {"127.0.0.1", 0}, {}, [&](Request request, const Server::Reply& reply) {
        seen = std::move(request);
        Response response = TextResponse(302, "gone");
        response.headers = {{"Location", "/elsewhere"}};
        reply(std::move(response));
      });
  ASSERT_TRUE(server.ok());
  const PageAddress page = *ParsePageUrl((*server)->local().ToString() + "/base", "the page");
  Request request;
  request.method = "POST";
  request.body = "id=1";
  request.headers = {{"Accept", "text/html"}, {"Cookie", "secret"}, {"Authorization", "Bearer secret"}};
  base::Result<Response> answer = base::Error{"none"};
  PassOn(*loop, *loop, request, page, "/jobs/?id=1", "eve", {{"X-More", "yes"}}, [&](base::Result<Response> got) {
    answer = std::move(got);
    loop->Stop();
  });
  loop->Run();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 302);
  EXPECT_EQ(FindHeader(answer->headers, "Location"), "/elsewhere");
  EXPECT_EQ(FindHeader(answer->headers, "Content-Length"), "");
  EXPECT_EQ(seen.method + " " + seen.target + " " + seen.body, "POST /base/jobs/?id=1 id=1");
  EXPECT_EQ(FindHeader(seen.headers, "Accept"), "text/html");
  EXPECT_EQ(FindHeader(seen.headers, "X-More"), "yes");
  EXPECT_EQ(FindHeader(seen.headers, "Cookie"), "");
  EXPECT_EQ(FindHeader(seen.headers, "Authorization"), "");
  // What it gets cannot be asked of a proxy again.
  EXPECT_EQ(ProxyRefusal(seen, {"POST"})->status, 508);
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
