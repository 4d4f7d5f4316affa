#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

std::string Reason(const std::string& bytes, const ReadLimits& limits = {}) {
  const auto graph = ReadStream(bytes, limits);
  return graph.ok() ? "" : graph.error().message;
}

/// java.lang.Boolean.TRUE as the Java virtual machine writes it.
const char* const kTrue =
    "aced0005737200116a6176612e6c616e672e426f6f6c65616ecd207280d59cfaee0200015a000576616c7565787001";

TEST(JavaStream, ReadsAndWritesABoolean) {
  const auto graph = ReadStream(Unhex(kTrue));
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
  EXPECT_THAT(Reason(bytes), HasSubstr("nested too deeply"));
}

TEST(JavaStream, CountIsBounded) {
  std::string bytes = Unhex("aced0005");
  for (int i = 0; i < 50; ++i) bytes += Unhex("740000");
  EXPECT_THAT(Reason(bytes, {.depth_max = 100, .nodes_max = 20}), HasSubstr("too many objects"));
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
  const auto graph = ReadStream(circle);
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
