#include "wire/yaml/yaml.h"

#include <gtest/gtest.h>

namespace fairlead::wire::yaml {
namespace {

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string Refusal(const std::string& text) {
  const auto loaded = Load(text);
  return loaded.ok() ? "" : loaded.error().message;
}

/// Ten aliases of what is one below, so many times.
std::string Laughs(int levels) {
  std::string text = "a0: &a0 lol\n";
  for (int i = 1; i <= levels; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + Repeated(alias + ", ", 9) + alias + "]\n";
  }
  return text;
}

TEST(Yaml, IsRead) {
  const auto loaded = Load("rm: {host: a}\nqueues:\n  prod: &p\n    weight: 2\n  test: *p\n---\nanother: 1\n");
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ((*loaded)["queues"]["test"]["weight"].as<int>(), 2);
  EXPECT_TRUE(Load("")->IsNull());
  EXPECT_TRUE(Load("# nothing\n")->IsNull());
}

TEST(Yaml, WhatIsNoYamlIsToldWithItsPlace) {
  const auto loaded = Load("a: 1\nb: [1, 2\n");
  ASSERT_FALSE(loaded.ok());
  EXPECT_FALSE(loaded.error().too_large);
  EXPECT_EQ(loaded.error().mark.line, 2);
  EXPECT_TRUE(loaded.error().message.starts_with("not well-formed YAML: ")) << loaded.error().message;
  EXPECT_NE(Refusal("a: *unknown"), "");
}

TEST(Yaml, DepthIsBoundedInEachStyle) {
  EXPECT_EQ(Refusal(Repeated("[", 64) + Repeated("]", 64)), "");
  EXPECT_NE(Refusal(Repeated("[", 65) + Repeated("]", 65)).find("nested deeper than 64"), std::string::npos);
  for (const char* one : {"[", "{", "{a: ", "[? ", "- ", "? ", "[a: [", "!!seq [", "&a [", "- - ? - "}) {
    const std::string refusal = Refusal(Repeated(one, 50'000));
    EXPECT_NE(refusal, "") << one;
  }
  std::string block;
  for (size_t i = 0; i < 100; ++i) block += std::string(i, ' ') + "a:\n";
  EXPECT_NE(Refusal(block).find("nested deeper than 64"), std::string::npos);
}

TEST(Yaml, AnAliasCostsWhatItStandsFor) {
  EXPECT_EQ(Refusal(Laughs(3)), "");
  EXPECT_NE(Refusal(Laughs(9)).find("is refused: what it stands for takes more than"), std::string::npos);
  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 70; ++i) {
    deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_NE(Refusal(deep).find("nested deeper than 64"), std::string::npos);
}

TEST(Yaml, AnAliasOfWhatItStandsInIsRefused) {
  EXPECT_EQ(Refusal("a: &a [1, *a]"), "an alias stands inside of what it stands for");
  EXPECT_EQ(Refusal("&a {b: {c: *a}}"), "an alias stands inside of what it stands for");
}

TEST(Yaml, BytesAndNodesAreBounded) {
  EXPECT_NE(Refusal(std::string(50 << 20, '#')).find("it may have 4194304"), std::string::npos);
  EXPECT_NE(Refusal("[" + Repeated("a,", 250'000) + "]").find("more than 250000 elements"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::wire::yaml
