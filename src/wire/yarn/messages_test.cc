// Every message against protobuf's own C++: messages filled at random by reflection, encoded by protobuf, decoded and
// encoded again by the generated structs, must come out byte for byte.
#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "wire/hadoop_rpc/ha_service.h"
#include "wire/hadoop_rpc/rpc.h"
#include "wire/hadoop_rpc/security.h"
#include "wire/yarn/admin.h"
#include "wire/yarn/client.h"
#include "wire/yarn/container_manager.h"
#include "wire/yarn/master.h"
#include "wire/yarn/records.h"
#include "wire/yarn/tokens.h"
#include "wire/yarn/tracker.h"

namespace fairlead::wire::yarn {
namespace {

using base::Rng;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

int64_t AnyNumber(Rng& rng) {
  const int bits = static_cast<int>(rng.Below(64));
  const int64_t magnitude = static_cast<int64_t>(rng.Next() >> (63 - bits) >> 1);
  return rng.Chance(0.3) ? -magnitude : magnitude;
}

std::string AnyText(Rng& rng) {
  std::string text(rng.Chance(0.05) ? rng.Below(400) : rng.Below(12), 'x');
  for (char& c : text) c = static_cast<char>('!' + rng.Below(90));
  return text;
}

void Fill(Message& message, Rng& rng, int depth);

void SetOne(Message& message, const FieldDescriptor* field, Rng& rng, int depth) {
  const Reflection& r = *message.GetReflection();
  const bool many = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      const int32_t v = static_cast<int32_t>(AnyNumber(rng));
      return many ? r.AddInt32(&message, field, v) : r.SetInt32(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const int64_t v = AnyNumber(rng);
      return many ? r.AddInt64(&message, field, v) : r.SetInt64(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      const uint32_t v = static_cast<uint32_t>(AnyNumber(rng));
      return many ? r.AddUInt32(&message, field, v) : r.SetUInt32(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      const uint64_t v = static_cast<uint64_t>(AnyNumber(rng));
      return many ? r.AddUInt64(&message, field, v) : r.SetUInt64(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      const bool v = rng.Chance(0.5);
      return many ? r.AddBool(&message, field, v) : r.SetBool(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_FLOAT: {
      const float v = static_cast<float>(rng.Unit() * 1e6);
      return many ? r.AddFloat(&message, field, v) : r.SetFloat(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const double v = rng.Unit() * 1e6;
      return many ? r.AddDouble(&message, field, v) : r.SetDouble(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string v = AnyText(rng);
      return many ? r.AddString(&message, field, v) : r.SetString(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* v = field->enum_type()->value(static_cast<int>(rng.Below(field->enum_type()->value_count())));
      return many ? r.AddEnum(&message, field, v) : r.SetEnum(&message, field, v);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Fill(many ? *r.AddMessage(&message, field) : *r.MutableMessage(&message, field), rng, depth + 1);
  }
}

void Fill(Message& message, Rng& rng, int depth) {
  const auto* type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    // A required chain may be cyclic; beyond this depth only what must be there is there.
    const double chance = depth > 6 ? 0 : depth > 3 ? 0.25 : 0.6;
    if (!field->is_required() && !rng.Chance(chance)) continue;
    if (depth > 40) continue;
    const uint64_t count = field->is_repeated() ? 1 + rng.Below(3) : 1;
    for (uint64_t n = 0; n < count; ++n) SetOne(message, field, rng, depth);
  }
}

struct ProtoFile {
  const char* path;
  std::span<const proto::MessageEntry> (*messages)();
};

constexpr ProtoFile kFiles[] = {
    {"wire/hadoop_rpc/proto/rpc.proto", &hadoop_rpc::RpcMessages},
    {"wire/hadoop_rpc/proto/security.proto", &hadoop_rpc::SecurityMessages},
    {"wire/hadoop_rpc/proto/ha_service.proto", &hadoop_rpc::HaServiceMessages},
    {"wire/yarn/proto/records.proto", &RecordsMessages},
    {"wire/yarn/proto/client.proto", &ClientMessages},
    {"wire/yarn/proto/master.proto", &MasterMessages},
    {"wire/yarn/proto/container_manager.proto", &ContainerManagerMessages},
    {"wire/yarn/proto/tracker.proto", &TrackerMessages},
    {"wire/yarn/proto/admin.proto", &AdminMessages},
    {"wire/yarn/proto/tokens.proto", &TokensMessages},
};

class Messages : public ::testing::Test {
 protected:
  Messages() : importer_(&tree_, nullptr) { tree_.MapPath("", FAIRLEAD_SOURCE_DIR "/src"); }

  /// Calls `check` for each message with protobuf's prototype and our entry.
  template <class Check>
  void ForEachMessage(Check check) {
    int count = 0;
    for (const ProtoFile& file : kFiles) {
      const auto* descriptor = importer_.Import(file.path);
      ASSERT_NE(descriptor, nullptr) << file.path;
      ASSERT_EQ(static_cast<size_t>(descriptor->message_type_count()), file.messages().size());
      for (const proto::MessageEntry& entry : file.messages()) {
        const auto* type = descriptor->FindMessageTypeByName(std::string(entry.name));
        ASSERT_NE(type, nullptr) << entry.name;
        check(*factory_.GetPrototype(type), entry);
        ++count;
      }
    }
    EXPECT_GE(count, 279);
  }

  google::protobuf::compiler::DiskSourceTree tree_;
  google::protobuf::compiler::Importer importer_;
  google::protobuf::DynamicMessageFactory factory_;
};

TEST_F(Messages, RandomMessagesKeepTheirBytes) {
  Rng rng(20240607);
  size_t checked = 0;
  ForEachMessage([&](const Message& prototype, const proto::MessageEntry& entry) {
    for (int round = 0; round < 30; ++round) {
      const std::unique_ptr<Message> message(prototype.New());
      Fill(*message, rng, 0);
      if (!message->IsInitialized()) continue;
      const std::string bytes = message->SerializeAsString();
      const auto recoded = entry.recode(bytes);
      ASSERT_TRUE(recoded.ok()) << entry.name << ": " << recoded.error().message;
      ASSERT_EQ(*recoded, bytes) << entry.name << "\n" << message->DebugString();
      ASSERT_TRUE(entry.to_json(bytes).ok());
      ++checked;
    }
  });
  EXPECT_GT(checked, 8000U);
}

TEST_F(Messages, EveryPrefixIsReadOrRefused) {
  const google::protobuf::LogSilencer silencer;
  Rng rng(7);
  ForEachMessage([&](const Message& prototype, const proto::MessageEntry& entry) {
    const std::unique_ptr<Message> message(prototype.New());
    Fill(*message, rng, 2);
    if (!message->IsInitialized()) return;
    const std::string bytes = message->SerializeAsString();
    const std::unique_ptr<Message> other(prototype.New());
    for (size_t length = 0; length < bytes.size(); length += 1 + length / 50) {
      const std::string prefix = bytes.substr(0, length);
      EXPECT_EQ(entry.recode(prefix).ok(), other->ParseFromString(prefix)) << entry.name << " at " << length;
    }
  });
}

TEST_F(Messages, MutatedBytesAreJudgedAsProtobufJudgesThem) {
  const google::protobuf::LogSilencer silencer;  // it prints each string that is not UTF-8
  Rng rng(99);
  size_t compared = 0;
  ForEachMessage([&](const Message& prototype, const proto::MessageEntry& entry) {
    for (int round = 0; round < 20; ++round) {
      const std::unique_ptr<Message> message(prototype.New());
      Fill(*message, rng, 2);
      std::string bytes = message->SerializePartialAsString();
      if (bytes.empty()) return;
      for (int flips = 0; flips < 2; ++flips) bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Next());
      const std::unique_ptr<Message> other(prototype.New());
      const bool theirs = other->ParseFromString(bytes);
      const auto ours = entry.recode(bytes);
      if (ours.ok() && !theirs) {
        // Only an unknown value of a required enum may make this difference: protobuf drops it, the structs keep it.
        ASSERT_TRUE(other->ParsePartialFromString(bytes)) << entry.name;
        continue;
      }
      // Field number 0 is refused as Java refuses it; C++ takes some forms of it for the end of the message.
      if (!ours.ok() && ours.error().message.ends_with("invalid field number")) continue;
      ASSERT_EQ(ours.ok(), theirs) << entry.name << (ours.ok() ? "" : ours.error().message);
      ++compared;
    }
  });
  EXPECT_GT(compared, 2000U);
}

TEST(MessagesByHand, DefaultsAreHadoops) {
  EXPECT_EQ(ContainerStatusProto{}.ExitStatus(), -1000);
  EXPECT_EQ(ContainerStatusProto{}.Diagnostics(), "N/A");
  EXPECT_TRUE(ResourceRequestProto{}.RelaxLocality());
  EXPECT_EQ(ResourceRequestProto{}.AllocationRequestId(), -1);
  EXPECT_EQ(ApplicationSubmissionContextProto{}.Queue(), "default");
  EXPECT_EQ(AMRMTokenIdentifierProto{}.KeyId(), -1);
  EXPECT_EQ(ContainerProto{}.ExecutionType(), ExecutionTypeProto::kGuaranteed);
  EXPECT_EQ(ContainerProto{}.Id().AppAttemptId().ApplicationId().ClusterTimestamp(), 0);
}

TEST(MessagesByHand, RequiredFieldIsNamed) {
  hadoop_rpc::TokenProto token;
  const base::Status parsed = token.ParseFrom(std::string_view("\x0a\x01x", 3), wire::hadoop_rpc::kAnswer);
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.error().message.find("required fields: password of TokenProto"), std::string::npos)
      << parsed.error().message;
}

TEST(MessagesByHand, UnknownFieldsAndEnumValuesPass) {
  NodeIdProto node;
  // host "h", field 9 of each wire type, a group 10 with content, port 7
  const std::string bytes(
      "\x0a\x01h\x48\x05\x4a\x02xy\x4d\x01\x02\x03\x04\x49\x01\x02\x03\x04\x05\x06\x07\x08\x53\x08\x01\x54\x10\x07",
      29);
  ASSERT_TRUE(node.ParseFrom(bytes, wire::hadoop_rpc::kAnswer).ok());
  EXPECT_EQ(node.Host(), "h");
  EXPECT_EQ(node.Port(), 7);
  ContainerStatusProto status;
  ASSERT_TRUE(status.ParseFrom("\x10\x63", wire::hadoop_rpc::kAnswer).ok());
  EXPECT_EQ(static_cast<int32_t>(status.State()), 99);
  EXPECT_EQ(Name(status.State()), "");
  EXPECT_EQ(status.DebugString(), "{\"state\":99}");
}

TEST(MessagesByHand, NestingIsBounded) {
  SerializedExceptionProto top;
  SerializedExceptionProto* at = &top;
  for (int i = 0; i < 1000; ++i) at = &at->cause.emplace();
  SerializedExceptionProto parsed;
  const base::Status status = parsed.ParseFrom(top.Encode(), wire::hadoop_rpc::kAnswer);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("nested"), std::string::npos);
}

TEST(MessagesByHand, GroupsInGroupsAreBounded) {
  const auto nested = [](size_t depth) {  // groups of field 9, which no message has
    return std::string(depth, '\x4b') + std::string(depth, '\x4c');
  };
  NodeIdProto node;
  EXPECT_TRUE(node.ParseFrom(nested(50), wire::hadoop_rpc::kCall).ok());
  const base::Status deep = node.ParseFrom(nested(100'000), wire::hadoop_rpc::kCall);
  ASSERT_FALSE(deep.ok());
  EXPECT_NE(deep.error().message.find("nested deeper than 64"), std::string::npos) << deep.error().message;
}

/// Decoding without saying what a message may cost does not compile.
template <class Message>
concept DecodesUnbounded = requires(Message message, std::string_view bytes) { message.ParseFrom(bytes); };
static_assert(!DecodesUnbounded<AllocateRequestProto>);
static_assert(!std::is_constructible_v<proto::Reader, std::string_view>);

TEST(MessagesByHand, ACallIsBoundedInAbsoluteTerms) {
  std::string bytes;
  for (int i = 0; i < 500'000; ++i) bytes.append("\x0a\x00", 2);  // as long as a call may be
  AllocateRequestProto request;
  EXPECT_FALSE(request.ParseFrom(bytes, hadoop_rpc::kCall).ok());
  EXPECT_LE(request.ask.capacity() * sizeof(request.ask[0]), size_t{16} << 20);
  const base::Status longer = request.ParseFrom(std::string((1 << 20) + 1, '\0'), hadoop_rpc::kCall);
  ASSERT_FALSE(longer.ok());
  EXPECT_NE(longer.error().message.find("it may have 1048576"), std::string::npos) << longer.error().message;
}

TEST(MessagesByHand, CountsAreBounded) {
  std::string bytes;
  for (int i = 0; i < 4'000'000; ++i) bytes.append("\x0a\x00", 2);  // empty asks: 2 bytes each, hundreds in memory
  AllocateRequestProto request;
  const base::Status status = request.ParseFrom(bytes, wire::hadoop_rpc::kAnswer);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("what it stands for takes more"), std::string::npos);
}

TEST(MessagesByHand, CopiesAreDeepAndEqual) {
  SerializedExceptionProto a;
  a.message = "x";
  a.cause.emplace().message = "y";
  SerializedExceptionProto b = a;
  EXPECT_EQ(a, b);
  b.cause->message = "z";
  EXPECT_FALSE(a == b);
  EXPECT_EQ(a.cause->message, "y");
  EXPECT_EQ(a.DebugString(), R"({"message":"x","cause":{"message":"y"}})");
}

}  // namespace
}  // namespace fairlead::wire::yarn
