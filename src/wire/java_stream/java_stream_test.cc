#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "wire/java_stream/reader.h"
#include "wire/java_stream/writer.h"

namespace fairlead::wire::java_stream {
namespace {

using ::testing::HasSubstr;

std::string Unhex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

constexpr base::BudgetKind kKind{"a stream of tests",
                                 1 << 20,
                                 100,
                                 {.floor = 1 << 16, .per_byte = 64, .most = 8 << 20},
                                 {.floor = 100'000, .most = 100'000},
                                 {.most = 0}};

std::string Reason(const std::string& bytes, const base::BudgetKind& kind = kKind) {
  const auto graph = ReadStream(bytes, kind);
  return graph.ok() ? "" : graph.error().message;
}

/// java.lang.Boolean.TRUE as the Java virtual machine writes it.
const char* const kTrue =
    "aced0005737200116a6176612e6c616e672e426f6f6c65616ecd207280d59cfaee0200015a000576616c7565787001";

TEST(JavaStream, ReadsAndWritesABoolean) {
  const auto graph = ReadStream(Unhex(kTrue), kKind);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->ClassName(graph->Root()), "java.lang.Boolean");
  EXPECT_EQ(graph->FieldOf(graph->Root(), "value", 'Z'), 1);
  EXPECT_EQ(graph->FieldOf(graph->Root(), "value", 'I'), std::nullopt);
  EXPECT_EQ(WriteStream(*graph), Unhex(kTrue));
}

TEST(JavaStream, EveryShorterStreamIsRefused) {
  const std::string whole = Unhex(kTrue);
  for (size_t length = 0; length < whole.size(); ++length) {
    if (length == 4) continue;  // a header alone is a stream of nothing
    EXPECT_NE(Reason(whole.substr(0, length)), "") << length;
  }
}

TEST(JavaStream, DepthIsBounded) {
  // An array of arrays of arrays...
  std::string bytes = Unhex("aced0005");
  for (int i = 0; i < 1000; ++i) bytes += Unhex("757200025b5b0000000000000000020000787000000001");
  EXPECT_THAT(Reason(bytes), HasSubstr("it is nested deeper than 100"));
}

TEST(JavaStream, CountIsBounded) {
  std::string bytes = Unhex("aced0005");
  for (int i = 0; i < 50; ++i) bytes += Unhex("740000");
  base::BudgetKind few = kKind;
  few.nodes.most = 20;
  EXPECT_THAT(Reason(bytes, few), HasSubstr("it has more than 20 elements"));
}

TEST(JavaStream, MemoryIsInProportionToTheStream) {
  // An array of a class of one byte a name, of nulls: eight bytes for each byte of the stream, and more for an object.
  const std::string nulls =
      Unhex("aced0005757200135b4c6a6176612e6c616e672e4f626a6563743b000000000000000002000078700000ffff");
  base::BudgetKind small = kKind;
  small.memory = {.floor = 1024, .per_byte = 4, .most = 1 << 20};
  EXPECT_THAT(Reason(nulls + std::string(0xffff, '\x70'), small), HasSubstr("what it stands for takes more than"));
  EXPECT_EQ(Reason(nulls + std::string(0xffff, '\x70')), "");
}

TEST(JavaStream, AnotherKindOfMessageMayBeLonger) {
  base::BudgetKind short_ones = kKind;
  short_ones.bytes = 10;
  EXPECT_THAT(Reason(Unhex(kTrue), short_ones), HasSubstr("it may have 10"));
}

/// A class "A" of `count` byte fields without a name, and an object of it.
std::string Wide(uint16_t count) {
  std::string bytes = Unhex("aced00057372000141000000000000000102");
  bytes.push_back(static_cast<char>(count >> 8));
  bytes.push_back(static_cast<char>(count));
  for (uint16_t i = 0; i < count; ++i) bytes += Unhex("420000");
  return bytes + Unhex("7870") + std::string(count, '\0');
}

TEST(JavaStream, FieldsOfAClassAreBounded) {
  EXPECT_EQ(Reason(Wide(256)), "");
  EXPECT_THAT(Reason(Wide(257)), HasSubstr("a class of 257 fields"));
}

TEST(JavaStream, ClassesAboveOneAnotherAreBounded) {
  // Class A0 without a parent, then each with the one before as its parent, by reference: no depth in the stream.
  const auto tower = [](uint8_t count) {
    std::string bytes = Unhex("aced0005");
    for (uint8_t i = 0; i < count; ++i) {
      bytes += Unhex("72000141000000000000000102000078");
      if (i == 0) bytes += Unhex("70");
      if (i > 0) bytes += Unhex("71007e00") + static_cast<char>(i - 1);
    }
    return bytes + Unhex("7371007e00") + static_cast<char>(count - 1);
  };
  EXPECT_EQ(Reason(tower(32)), "");
  EXPECT_THAT(Reason(tower(33)), HasSubstr("too many above it"));
}

TEST(JavaStream, InterfacesOfAProxyAreBounded) {
  const auto proxy = [](uint16_t count) {  // its description, with empty names
    return Unhex("aced00057d0000") + static_cast<char>(count >> 8) + static_cast<char>(count) +
           std::string(2 * size_t{count}, '\0') + Unhex("7870");
  };
  EXPECT_EQ(Reason(proxy(256)), "");
  EXPECT_THAT(Reason(proxy(257)), HasSubstr("a proxy with 257 interfaces"));
}

TEST(JavaStream, AChainOfReferencesIsWrittenWithoutRecursion) {
  // Objects of class X { Object n; }, each with the one before: the writer meets the last one first.
  std::string bytes = Unhex("aced0005");
  uint32_t handle = 0x7e0000;
  std::vector<uint32_t> objects;
  for (int i = 0; i < 30'000; ++i) {
    if (i == 0) {
      bytes += Unhex(
                   "73720001580000000000000001020001"
                   "4c00016e740012") +
               "Ljava/lang/Object;" + Unhex("787070");
      handle += 2;
    } else {
      bytes += Unhex("7371007e000071");
      for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(objects.back() >> shift));
    }
    objects.push_back(handle++);
  }
  auto graph = ReadStream(bytes, kKind);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(WriteStream(*graph), bytes);
  std::reverse(graph->contents.begin(), graph->contents.end());
  EXPECT_GT(WriteStream(*graph).size(), bytes.size() / 2);
}

TEST(JavaStream, WhatIsWrongInAGraphIsWrittenAsNothing) {
  Graph graph;
  const Ref signature = graph.Add(String{"Ljava/lang/Object;"});
  const Ref type =
      graph.Add(Class{"A", 1, kSerializable, {{'J', "j", kNull}, {'L', "l", signature}}, {}, kNull, false, {}});
  // A field that leads nowhere; a value too few, two too many.
  graph.contents.emplace_back(graph.Add(Object{type, {{type, {1, 12345}, {}}}}));
  graph.contents.emplace_back(graph.Add(Object{type, {{type, {1}, {}}}}));
  graph.contents.emplace_back(graph.Add(Object{type, {{type, {1, 0, 7, 8}, {}}}}));
  const std::string written = WriteStream(graph);
  const auto read = ReadStream(written, kKind);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->contents.size(), 3u);
  EXPECT_EQ(WriteStream(*read), written);
}

TEST(JavaStream, LengthsBeyondTheStreamAreRefused) {
  EXPECT_THAT(Reason(Unhex("aced0005757200025b42000000000000000002000078707fffffff")),
              HasSubstr("longer than the stream"));
  EXPECT_THAT(Reason(Unhex("aced00057c7fffffffffffffff")), HasSubstr("longer than the stream"));
  EXPECT_THAT(Reason(Unhex("aced00057affffffff")), HasSubstr("negative length"));
}

TEST(JavaStream, WrongReferencesAreRefused) {
  EXPECT_THAT(Reason(Unhex("aced0005710000000a")), HasSubstr("a reference to nothing"));
  EXPECT_THAT(Reason(Unhex("aced0005717e0000")), HasSubstr("ends early"));
  EXPECT_THAT(Reason(Unhex("aced000571007e0000")), HasSubstr("a reference to nothing"));
  // A string as an object's class; a class that is its own parent.
  EXPECT_THAT(Reason(Unhex("aced0005740001617371007e0000")), HasSubstr("an object without a class"));
  EXPECT_THAT(Reason(Unhex("aced0005737200014100000000000000000200007871007e0000")), HasSubstr("a class whose parent"));
}

TEST(JavaStream, ObjectsMayPointInCircles) {
  // class A { Object a; } with a = this.
  const std::string circle = Unhex("aced0005737200014100000000000000010200014c0001617400014f787071007e0002");
  const auto graph = ReadStream(circle, kKind);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->RefOf(graph->Root(), "a"), graph->Root());
  EXPECT_EQ(WriteStream(*graph), circle);
}

TEST(JavaStream, ABuiltObjectIsWrittenAsJavaWritesIt) {
  const ClassCatalog catalog = {
      {"java.lang.Boolean", {"java.lang.Boolean", -3665804199014368530, kSerializable, {{"value", "Z"}}, ""}}};
  Builder builder(catalog);
  const Ref object = builder.NewObject("java.lang.Boolean");
  builder.SetNumber(object, "value", 1);
  builder.SetNumber(object, "of another release", 1);
  builder.graph().contents.emplace_back(object);
  EXPECT_EQ(WriteStream(builder.graph()), Unhex(kTrue));
}

TEST(JavaStream, TextGoesToUtf8AndBack) {
  const std::string text = std::string("a\0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\xA2", 11);
  const std::string modified = std::string("a\xC0\x80\xC3\xA9\xE2\x82\xAC\xED\xA0\xBD\xED\xBA\xA2");
  EXPECT_EQ(ToModifiedUtf8(text), modified);
  EXPECT_EQ(FromModifiedUtf8(modified), text);
  EXPECT_EQ(FromModifiedUtf8("\xFF\xED\xA0"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace fairlead::wire::java_stream
