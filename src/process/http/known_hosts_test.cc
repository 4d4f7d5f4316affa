#include "process/http/known_hosts.h"

#include <gtest/gtest.h>

namespace fairlead::process::http {
namespace {

const KnownHosts kHosts{{"rm1", "rm1.example.com"}, {"portal.example.com", "door.example.com:8443"}, false};

Request To(const std::string& host, const std::string& method = "GET", Headers further = {}) {
  Request request;
  request.method = method;
  request.target = request.path = "/ws/v1/cluster";
  request.headers = {{"Host", host}};
  request.headers.insert(request.headers.end(), further.begin(), further.end());
  return request;
}

int StatusOf(const Request& request, const KnownHosts& hosts = kHosts) {
  const auto refusal = Refusal(hosts, request);
  return refusal ? refusal->status : 200;
}

TEST(KnownHosts, AddressesAndOwnNamesAreServed) {
  for (const char* host : {"127.0.0.1", "10.1.2.3:8088", "[::1]:8088", "[fe80::1]", "localhost:1", "LOCALHOST",
                           "localhost.", "rm1", "RM1.example.com:8088", "rm1.example.com.", "portal.example.com:99"}) {
    EXPECT_EQ(StatusOf(To(host)), 200) << host;
    EXPECT_EQ(StatusOf(To(host, "PUT")), 200) << host;
  }
}

TEST(KnownHosts, OtherNamesAreMisdirectedForReadingToo) {
  for (const char* host : {"evil.example", "rm1.evil.example:8088", "localhost.evil.example", "rm1.example.com.evil",
                           "127.0.0.1.evil.example", "2130706433", "0x7f000001", "127.1", "a"}) {
    EXPECT_EQ(StatusOf(To(host)), 421) << host;
    EXPECT_EQ(StatusOf(To(host, "POST", {{"Origin", "http://" + std::string(host)}})), 421) << host;
    EXPECT_EQ(StatusOf(To(host), {{}, {}, true}), 200) << host;
  }
}

TEST(KnownHosts, MalformedHostsAndTargetsAreRefused) {
  const std::vector<std::string> malformed = {"",
                                              ".",
                                              "rm1:",
                                              "rm1:99999",
                                              "rm1:80:80",
                                              "[::1",
                                              "[rm1]",
                                              "user@rm1",
                                              "rm1/",
                                              "rm1 evil",
                                              "rm1\x1b[2J",
                                              std::string("rm1\0", 4),
                                              std::string(400, 'a')};
  for (const std::string& host : malformed) {
    EXPECT_EQ(StatusOf(To(host)), 400) << host;
  }
  EXPECT_EQ(StatusOf(To("rm1", "GET", {{"host", "rm1"}})), 400);
  Request request = To("rm1");
  request.headers.clear();
  EXPECT_EQ(StatusOf(request), 400);
  request.version = 10;
  EXPECT_EQ(StatusOf(request), 200);
  request = To("rm1");
  request.target = "http://evil.example/ws/v1/cluster";
  EXPECT_EQ(StatusOf(request), 400);
}

TEST(KnownHosts, AChangeComesFromOwnPagesOrNoBrowser) {
  const auto put = [](const std::string& origin) { return To("rm1:8088", "PUT", {{"Origin", origin}}); };
  EXPECT_EQ(StatusOf(put("http://rm1:8088")), 200);
  EXPECT_EQ(StatusOf(put("https://RM1:8088")), 200);
  EXPECT_EQ(StatusOf(put("https://portal.example.com")), 200);
  EXPECT_EQ(StatusOf(put("https://door.example.com:8443")), 200);
  for (const char* origin :
       {"null", "", "http://rm1", "http://rm1:8042", "http://127.0.0.1:8088", "http://evil.example", "https://6.6.6.6",
        "https://portal.example.com:99", "https://door.example.com", "ftp://rm1:8088", "rm1:8088"}) {
    EXPECT_EQ(StatusOf(put(origin)), 403) << origin;
    EXPECT_EQ(StatusOf(put(origin), {{}, {}, true}), 403) << origin;
  }
  EXPECT_EQ(StatusOf(To("rm1", "PUT", {{"Origin", "http://rm1"}, {"Origin", "http://evil.example"}})), 403);
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"}) {
    EXPECT_EQ(StatusOf(To("rm1", method, {{"Sec-Fetch-Site", "cross-site"}})), 403) << method;
    EXPECT_EQ(StatusOf(To("rm1", method, {{"Sec-Fetch-Site", "same-site"}})), 403) << method;
    EXPECT_EQ(StatusOf(To("rm1", method, {{"Sec-Fetch-Site", "same-origin"}})), 200) << method;
  }
  EXPECT_EQ(StatusOf(To("rm1", "GET", {{"Origin", "http://evil.example"}})), 200);
}

TEST(KnownHosts, AForeignFetchIsNoFollowedLink) {
  EXPECT_TRUE(IsForeignFetch(To("rm1", "GET", {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "no-cors"}})));
  EXPECT_FALSE(IsForeignFetch(To("rm1", "GET", {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}})));
  EXPECT_FALSE(IsForeignFetch(To("rm1", "GET", {{"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Mode", "cors"}})));
  EXPECT_FALSE(IsForeignFetch(To("rm1")));
}

}  // namespace
}  // namespace fairlead::process::http
