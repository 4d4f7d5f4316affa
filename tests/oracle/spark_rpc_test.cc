// The reader and writer of Java object streams against what real drivers, workers and masters sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/known_description.h"
#include "endpoints/spark/master_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "oracle/spark_made_messages.h"
#include "oracle/spark_rpc_recording.h"
#include "wire/java_stream/reader.h"
#include "wire/java_stream/writer.h"
#include "wire/spark_transport/frames.h"

namespace fairlead::oracle {
namespace {

using nlohmann::json;
namespace js = wire::java_stream;
namespace es = endpoints::spark;

constexpr std::string_view kDeployMessages = "org.apache.spark.deploy.DeployMessages$";
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
    const auto graph = js::ReadStream(message.stream, es::kSparkMessage);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    EXPECT_EQ(Content(*graph).Of(graph->Root()), message.content);
    EXPECT_EQ(js::WriteStream(*graph), message.stream);
  }
}

TEST_P(SparkRpc, ACutMessageIsRefused) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  for (const SparkMessage& message : *messages) {
    for (size_t length = 5; length < message.stream.size(); length += 1 + length / 16) {
      EXPECT_FALSE(js::ReadStream(message.stream.substr(0, length), es::kSparkMessage).ok())
          << message.name << ", " << length;
    }
  }
}

// ---- the messages of endpoints/spark -------------------------------------------------------------------------------

/// A build with the classes of a recording.
es::SparkBuild BuildOf(const std::string& release) {
  es::SparkBuild build{"/opt/spark", release, {}};
  const auto classes = ReadSparkClasses(kFolder, release);
  if (!classes.ok()) return build;
  for (const json& entry : *classes) {
    js::ClassShape shape{entry.at("class"), entry.at("suid"), entry.value("flags", js::kSerializable), {}, ""};
    if (entry.contains("parent") && entry.at("parent").is_string()) shape.super = entry.at("parent");
    for (const json& field : entry.at("fields")) shape.fields.emplace_back(field.at("name"), field.at("type"));
    build.classes[shape.name] = shape;
  }
  // Only in messages that were made at random, which have maps of more than four entries.
  if (build.has_module_proxies()) {
    const std::string factory = "scala.collection.MapFactory$ToFactory";
    const std::string map = "scala.collection.immutable.HashMap$";
    build.classes[factory] = {factory, 3, js::kSerializable, {{"factory", "Lscala/collection/MapFactory;"}}, ""};
    build.classes[map] = {map, 3, js::kSerializable, {}, ""};
  } else {
    build.classes["scala.collection.immutable.HashMap$SerializationProxy"].flags |= js::kWriteMethod;
  }
  return build;
}

std::optional<es::RegisterApplication> Registration(const std::vector<SparkMessage>& messages) {
  for (const SparkMessage& message : messages) {
    if (!message.type.ends_with("$RegisterApplication")) continue;
    auto decoded = es::DecodeDriverMessage(message.stream);
    if (decoded.ok()) return std::get<es::RegisterApplication>(std::move(*decoded));
  }
  return std::nullopt;
}

std::optional<std::string> TextIn(const json& option) {
  if (!option.contains("fields") || !option["fields"].contains("value")) return std::nullopt;
  return option["fields"]["value"].get<std::string>();
}

/// The message of a recording's content, written by us.
std::string Written(const es::SparkBuild& build, const json& content) {
  const std::string type = content.at("class").get<std::string>().substr(kDeployMessages.size());
  const json& fields = content.at("fields");
  if (type == "RegisteredApplication") {
    const json& address = fields["master"]["fields"]["endpointAddress"]["fields"]["rpcAddress"]["fields"];
    return es::EncodeRegistered(build, fields["appId"], {address["host"], address["port"]});
  }
  if (type == "ExecutorAdded") {
    return es::Encode(build, es::ExecutorAdded{fields["id"], fields["workerId"], fields["hostPort"], fields["cores"],
                                               fields["memory"]});
  }
  if (type == "ApplicationRemoved") return es::EncodeRemoved(build, fields["message"]);
  es::ExecutorUpdated updated;
  updated.id = fields["id"];
  updated.state = static_cast<es::ExecutorState>(fields["state"]["fields"]["i"].get<int>());
  updated.message = TextIn(fields["message"]);
  updated.worker_host = TextIn(fields["workerHost"]);
  if (fields["exitStatus"]["fields"].contains("value")) {
    updated.exit_status = fields["exitStatus"]["fields"]["value"]["fields"]["value"];
  }
  return es::Encode(build, updated);
}

TEST_P(SparkRpc, WhatWeSayHasTheBytesOfTheStockMaster) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  const es::SparkBuild build = BuildOf(GetParam());
  const auto registration = Registration(*messages);
  ASSERT_TRUE(registration.has_value());
  EXPECT_EQ(registration->suid, build.registration_suid());
  std::set<std::string> types;
  for (const SparkMessage& message : *messages) {
    const std::string type = message.type.substr(message.type.find('$') + 1);
    if (type != "RegisteredApplication" && type != "ExecutorAdded" && type != "ExecutorUpdated" &&
        type != "ApplicationRemoved") {
      continue;
    }
    types.insert(type);
    EXPECT_EQ(Written(build, message.content), message.stream) << message.name;
  }
  EXPECT_EQ(types.size(), 4u);
}

TEST_P(SparkRpc, WhatWorkersAndMastersSayIsReadAndWrittenAgain) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  const es::SparkBuild build = BuildOf(GetParam());
  std::set<std::string> types;
  for (const SparkMessage& message : *messages) {
    const auto graph = js::ReadStream(message.stream, es::kSparkMessage);
    ASSERT_TRUE(graph.ok());
    const std::string type = message.type.substr(message.type.find('$') + 1);
    const auto again = WrittenAgain(*graph, build, true);
    if (!again) continue;
    types.insert(type);
    const auto read = js::ReadStream(*again, es::kSparkMessage);
    ASSERT_TRUE(read.ok()) << message.name;
    EXPECT_EQ(WrittenAgain(*read, build, true), again);
    // A worker of 3.5 writes a Vector, which we write as a List, and its enumeration after it was asked for names.
    if (GetParam() == "3.5.5" && (type == "WorkerLatestState" || type == "ExecutorStateChanged")) continue;
    // Which equal strings are one object is the writer's own affair.
    EXPECT_EQ(Content(*read).Of(read->Root()), message.content) << message.name;
    if (message.direction == "master_to_worker") {
      EXPECT_EQ(*again, message.stream) << message.name;
    }
  }
  EXPECT_THAT(types, ::testing::IsSupersetOf({"RegisterWorker", "RegisteredWorker", "Heartbeat", "LaunchExecutor",
                                              "LaunchDriver", "KillExecutor", "KillDriver", "ApplicationFinished",
                                              "ExecutorStateChanged", "DriverStateChanged", "WorkerLatestState",
                                              "ReconnectWorker", "RegisterWorkerFailed"}));
}

TEST_P(SparkRpc, WhatIsKeptOfARegistrationHasTheBytesOfItsDescription) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  const es::SparkBuild build = BuildOf(GetParam());
  const auto registration = Registration(*messages);
  ASSERT_TRUE(registration.has_value());
  const auto kept = es::KeptRegistration(build, registration->graph, *registration);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(*kept, js::WriteStream(registration->graph));
}

TEST_P(SparkRpc, ARegistrationIsUnderstood) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  const auto registration = Registration(*messages);
  ASSERT_TRUE(registration.has_value());
  const es::ApplicationDescription& app = registration->application;
  EXPECT_EQ(app.name, "Spark Pi");
  EXPECT_EQ(app.user, "root");
  EXPECT_EQ(app.cores_max, 2);
  EXPECT_EQ(app.initial_executor_limit, std::nullopt);
  EXPECT_EQ(app.profile.id, 0);
  EXPECT_EQ(app.profile.cores, 1);
  EXPECT_EQ(app.profile.memory_mib, 512);
  EXPECT_EQ(app.command.main_class, "org.apache.spark.executor.CoarseGrainedExecutorBackend");
  EXPECT_EQ(app.command.arguments.at(2), "--executor-id");
  EXPECT_EQ(app.command.environment.at("SPARK_USER"), "root");
  EXPECT_GT(app.command.java_options.size(), 10u);
  EXPECT_EQ(registration->driver_endpoint, "AppClient");
  EXPECT_EQ(registration->driver.host, "127.0.0.1");
}

TEST_P(SparkRpc, RequestsForExecutorsAreUnderstood) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  size_t seen = 0;
  for (const SparkMessage& message : *messages) {
    const auto decoded = es::DecodeDriverMessage(message.stream);
    ASSERT_TRUE(decoded.ok()) << message.name << ": " << decoded.error().message;
    if (const auto* kill = std::get_if<es::KillExecutors>(&*decoded)) {
      ++seen;
      EXPECT_EQ(kill->application, "app-1");
      EXPECT_EQ(kill->executors.front(), "3");
      EXPECT_EQ(kill->executors.size(), message.name.ends_with("two") ? 2u : 1u);
    }
    if (const auto* request = std::get_if<es::RequestExecutors>(&*decoded)) {
      ++seen;
      EXPECT_EQ(request->totals.front().second, 5);
      EXPECT_EQ(request->totals.front().first.cores, 2);
      EXPECT_EQ(request->totals.front().first.memory_mib, 1024);
      if (!message.name.ends_with("two profiles")) continue;
      EXPECT_EQ(request->totals.at(1).second, 0);
      EXPECT_EQ(request->totals.at(1).first.cores, 4);
    }
  }
  EXPECT_EQ(seen, 4u);
}

TEST(SparkMadeMessages, AreUnderstoodAndWrittenAsBySpark) {
  for (const std::string release : {"3.5.5", "4.3.0"}) {
    const auto messages = ReadMadeMessages(kFolder, release);
    ASSERT_TRUE(messages.ok()) << messages.error().message;
    ASSERT_GT(messages->size(), 100u);
    const es::SparkBuild build = BuildOf(release);
    for (const json& message : *messages) {
      EXPECT_EQ(DifferenceToMadeMessage(message, build), "") << release << ", " << message["class"];
    }
  }
}

TEST(SparkMadeMessages, AChangedOneIsADifference) {
  const auto messages = ReadMadeMessages(kFolder, "4.3.0");
  ASSERT_TRUE(messages.ok());
  const es::SparkBuild build = BuildOf("4.3.0");
  for (json message : *messages) {
    for (auto& [name, value] : message["said"].items()) {
      if (name == "registration" || !(value.is_number() || value.is_string())) continue;
      value = value.is_number() ? json(value.get<int64_t>() - 1) : json(value.get<std::string>() + "x");
      EXPECT_NE(DifferenceToMadeMessage(message, build), "") << message["class"];
      break;
    }
  }
}

TEST_P(SparkRpc, FramesAreTakenApartAndPutTogether) {
  const auto messages = ReadSparkMessages(kFolder, GetParam());
  ASSERT_TRUE(messages.ok());
  size_t seen = 0;
  for (const SparkMessage& message : *messages) {
    if (message.frame.empty()) continue;
    const auto frame = wire::spark_transport::DecodeFrame(std::string_view(message.frame).substr(8));
    ASSERT_TRUE(frame.ok());
    if (frame->type == wire::spark_transport::FrameType::kRpcResponse) {
      EXPECT_EQ(frame->body, es::EncodeBoolean(true));
      continue;
    }
    ++seen;
    const auto decoded = es::DecodeRpcMessage(frame->body);
    ASSERT_TRUE(decoded.ok()) << message.name;
    EXPECT_TRUE(decoded->sender.has_value());
    EXPECT_EQ(decoded->content, message.stream);
    EXPECT_EQ(es::EncodeRpcMessage(*decoded), frame->body);
  }
  EXPECT_GT(seen, 10u);
}

}  // namespace
}  // namespace fairlead::oracle
