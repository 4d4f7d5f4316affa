#include "env/server_pattern.h"

#include <gtest/gtest.h>

namespace fairlead::env {
namespace {

base::Result<std::string> Realm(const std::string& host) {
  EXPECT_EQ(host, "rm1.example.com");
  return std::string("EXAMPLE.COM");
}

bool Fits(const std::string& pattern, const std::string& said = "rm/rm1.example.com") {
  const auto name = FittingServer(pattern, said, Realm);
  if (name.ok()) {
    EXPECT_EQ(*name, said + "@EXAMPLE.COM");
  } else {
    EXPECT_EQ(name.error().message,
              "Server has invalid Kerberos principal: " + said + "@EXAMPLE.COM, doesn't match the pattern: " + pattern);
  }
  return name.ok();
}

// What GlobPattern takes, and what it does not.
TEST(ServerPattern, WholeNamesFit) {
  for (const char* pattern :
       {"*", "rm/*", "rm/*@EXAMPLE.COM", "rm/rm?.example.com@EXAMPLE.COM", "rm/rm1.example.com@EXAMPLE.COM",
        "{nm,rm}/*", "{yarn/*,rm/{rm1,rm2}.example.com}@EXAMPLE.COM", "rm/rm[12].*", "rm/rm[!2].*", "rm/rm[^2].*",
        "r\\m/*"}) {
    EXPECT_TRUE(Fits(pattern)) << pattern;
    EXPECT_TRUE(CheckServerPattern(pattern).ok()) << pattern;
  }
  for (const char* pattern : {"nm/*", "rm/*@OTHER.COM", "rm/rm1.example.com", "rm/rm[!1].*", "{nm,yarn}/*", "rm\\/\\*",
                              "rm/rm2?example.com@EXAMPLE.COM", "RM/*", ""}) {
    EXPECT_FALSE(Fits(pattern)) << pattern;
  }
}

TEST(ServerPattern, PatternsAreToldFromPrincipals) {
  EXPECT_FALSE(IsServerPattern("rm/_HOST@EXAMPLE.COM"));
  for (const char* pattern : {"*", "rm/?", "rm/[a]", "{a,b}", "a\\b"}) EXPECT_TRUE(IsServerPattern(pattern));
}

TEST(ServerPattern, WhatIsNoPatternIsSaid) {
  EXPECT_EQ(CheckServerPattern("{rm,nm/*").error().message, "a { is not closed");
  EXPECT_EQ(CheckServerPattern("rm/[ab*").error().message, "a [ is not closed");
  EXPECT_EQ(CheckServerPattern(std::string(2000, '*')).error().message, "it is longer than 1024 bytes");
  std::string many;
  for (int i = 0; i < 10; ++i) many += "{a,b}";
  EXPECT_EQ(CheckServerPattern(many).error().message, "it has more than 100 alternatives");
}

// A ticket for what it says would be asked for, and shown to it.
TEST(ServerPattern, AServersWordIsAServiceAndAHostOrNothing) {
  for (const std::string& said :
       {std::string(), std::string("rm"), std::string("rm/"), std::string("/host"), std::string("rm/a/b"),
        std::string("rm/host@OTHER.COM"), std::string("rm/a b"), std::string("rm/a\\@b"), std::string("rm/a\nb"),
        "rm/" + std::string(300, 'a'), std::string("rm/a\0b", 6)}) {
    const auto name = FittingServer("*", said, Realm);
    ASSERT_FALSE(name.ok()) << said;
    EXPECT_EQ(name.error().message, "the server does not say which principal it has");
  }
}

}  // namespace
}  // namespace fairlead::env
