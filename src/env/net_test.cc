#include "env/net.h"

#include <gtest/gtest.h>

namespace fairlead::env {
namespace {

TEST(Endpoint, ParsesHostAndPort) {
  EXPECT_EQ(*ParseEndpoint("node1:8032"), (Endpoint{"node1", 8032}));
  EXPECT_EQ(*ParseEndpoint("[::1]:80"), (Endpoint{"::1", 80}));
  EXPECT_EQ(*ParseEndpoint("node1", 8032), (Endpoint{"node1", 8032}));
  EXPECT_EQ(ParseEndpoint("[::1]:80")->ToString(), "[::1]:80");
}

TEST(Endpoint, LoopbackIsThisHostOnly) {
  for (const char* text : {"localhost", "127.0.0.1", "127.9.0.2", "::1"}) EXPECT_TRUE(IsLoopback(text)) << text;
  for (const char* text : {"12.7.0.1", "10.127.0.1", "localhost.example.org", "::"})
    EXPECT_FALSE(IsLoopback(text)) << text;
}

TEST(Endpoint, RefusesWhatIsNot) {
  for (const char* text : {"", ":80", "node1", "node1:", "node1:port", "node1:70000", "[::1", "::1"}) {
    EXPECT_FALSE(ParseEndpoint(text).ok()) << text;
  }
}

}  // namespace
}  // namespace fairlead::env
