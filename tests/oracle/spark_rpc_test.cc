// The reader and writer of Java object streams against what real drivers, workers and masters sent.
#include <gtest/gtest.h>

#include <cstring>

#include "oracle/spark_rpc_recording.h"
#include "wire/java_stream/reader.h"
#include "wire/java_stream/writer.h"

namespace fairlead::oracle {
namespace {

using nlohmann::json;
namespace js = wire::java_stream;

const char* const kFolder = FAIRLEAD_SOURCE_DIR "/tests/oracles/spark-rpc";

/// A graph in the words of the recordings' "content" (their README).
class Content {
 public:
  explicit Content(const js::Graph& graph) : graph_(graph) {}

  json Of(js::Ref ref) {
    if (ref == js::kNull) return nullptr;
    if (const auto* string = graph_.Get<js::String>(ref)) return js::FromModifiedUtf8(string->bytes);
    if (const auto* constant = graph_.Get<js::Enum>(ref)) {
      return {{"enum", graph_.ClassName(ref)}, {"constant", *graph_.Text(constant->constant)}};
    }
    if (const auto* class_object = graph_.Get<js::ClassObject>(ref)) {
      const auto* type = graph_.Get<js::Class>(class_object->type);
      return {{"class_object", type->name}, {"suid", type->suid}};
    }
    if (const auto* array = graph_.Get<js::Array>(ref)) {
      json items = json::array();
      for (const js::Slot item : array->items) items.push_back(Value(graph_.ClassName(ref)[1], item));
      return {{"array", graph_.ClassName(ref)}, {"items", items}};
    }
    const auto seen = numbers_.find(ref);
    if (seen != numbers_.end()) return {{"ref", seen->second}};
    const size_t number = numbers_.size();
    numbers_[ref] = number;
    const auto* object = graph_.Get<js::Object>(ref);
    json out = {{"class", graph_.ClassName(ref)},
                {"suid", graph_.Get<js::Class>(object->type)->suid},
                {"n", number},
                {"fields", json::object()}};
    for (const js::Level& level : object->levels) AddLevel(out, level);
    return out;
  }

 private:
  void AddLevel(json& out, const js::Level& level) {
    const auto* type = graph_.Get<js::Class>(level.type);
    for (size_t f = 0; f < level.values.size(); ++f) {
      out["fields"][type->fields[f].name] = Value(type->fields[f].type, level.values[f]);
    }
    if (!js::HasCustom(type->flags)) return;
    if (!out.contains("custom")) out["custom"] = json::object();
    for (const js::Item& item : level.custom) {
      const js::Ref* object = std::get_if<js::Ref>(&item);
      out["custom"][type->name].push_back(object != nullptr ? Of(*object) : json{{"block", Hex(item)}});
    }
  }
  static std::string Hex(const js::Item& block) {
    std::string out;
    char digits[3];
    for (const char c : std::get<std::string>(block)) {
      std::snprintf(digits, sizeof digits, "%02x", static_cast<uint8_t>(c));
      out += digits;
    }
    return out;
  }
  json Value(char type, js::Slot value) {
    if (js::HoldsRef(type)) return Of(static_cast<js::Ref>(value));
    if (type == 'Z') return value != 0;
    if (type != 'D') return value;
    double number = 0;
    std::memcpy(&number, &value, sizeof number);
    return number;
  }

  const js::Graph& graph_;
  std::map<js::Ref, size_t> numbers_;
};

class SparkRpc : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Releases, SparkRpc, ::testing::ValuesIn(kSparkReleases));

TEST_P(SparkRpc, EveryMessageReadsAsRecordedAndIsWrittenWithItsBytes) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok()) << messages.error().message;
  ASSERT_GT(messages->size(), 50u);
  for (const SparkMessage& message : *messages) {
    SCOPED_TRACE(message.name);
    const auto graph = js::ReadStream(message.stream);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    EXPECT_EQ(Content(*graph).Of(graph->Root()), message.content);
    EXPECT_EQ(js::WriteStream(*graph), message.stream);
  }
}

TEST_P(SparkRpc, ACopyIsWrittenWithTheSameBytes) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  const js::ClassCatalog none;
  for (const SparkMessage& message : *messages) {
    const auto graph = js::ReadStream(message.stream);
    js::Builder builder(none);
    builder.graph().contents.emplace_back(builder.Copy(*graph, graph->Root()));
    EXPECT_EQ(js::WriteStream(builder.graph()), message.stream) << message.name;
  }
}

TEST_P(SparkRpc, ACutMessageIsRefused) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  for (const SparkMessage& message : *messages) {
    for (size_t length = 5; length < message.stream.size(); length += 1 + length / 16) {
      EXPECT_FALSE(js::ReadStream(message.stream.substr(0, length)).ok()) << message.name << ", " << length;
    }
  }
}

}  // namespace
}  // namespace fairlead::oracle
