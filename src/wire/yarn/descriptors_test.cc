// Our .proto files against the descriptors inside Hadoop's own jars (tests/golden/yarn/descriptors.txt.gz): every field
// of every message that a protocol can carry, with its number, label and type, and every method.
#include <google/protobuf/compiler/importer.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <set>
#include <sstream>

namespace fairlead::wire::yarn {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

/// In the jars but on no wire that Fairlead speaks: shared cache, distributed scheduling, timeline collectors, the
/// state files of Hadoop's own election, and messages that no method uses.
const std::set<std::string> kUnused = {"ActiveRMInfoProto",
                                       "DistributedSchedulingAllocateRequestProto",
                                       "DistributedSchedulingAllocateResponseProto",
                                       "GetTimelineCollectorContextRequestProto",
                                       "GetTimelineCollectorContextResponseProto",
                                       "NodeIdToLabelsNameProto",
                                       "RegisterDistributedSchedulingAMResponseProto",
                                       "ReleaseSharedCacheResourceRequestProto",
                                       "ReleaseSharedCacheResourceResponseProto",
                                       "RemoteNodeProto",
                                       "ReportNewCollectorInfoRequestProto",
                                       "ReportNewCollectorInfoResponseProto",
                                       "RunSharedCacheCleanerTaskRequestProto",
                                       "RunSharedCacheCleanerTaskResponseProto",
                                       "SCMUploaderCanUploadRequestProto",
                                       "SCMUploaderCanUploadResponseProto",
                                       "SCMUploaderNotifyRequestProto",
                                       "SCMUploaderNotifyResponseProto",
                                       "StartContainerResponseProto",
                                       "StopContainerRequestProto",
                                       "StopContainerResponseProto",
                                       "UpdateNodeLabelsResponseProto",
                                       "UseSharedCacheResourceRequestProto",
                                       "UseSharedCacheResourceResponseProto",
                                       "VersionProto"};

/// Our own fields in Hadoop's messages begin here, and the messages in them have our name.
constexpr int kFirstOfOurs = 1000;
constexpr std::string_view kOurs = "Fairlead";

constexpr const char* kFiles[] = {"wire/hadoop_rpc/proto/rpc.proto",
                                  "wire/hadoop_rpc/proto/security.proto",
                                  "wire/hadoop_rpc/proto/ha_service.proto",
                                  "wire/yarn/proto/records.proto",
                                  "wire/yarn/proto/client.proto",
                                  "wire/yarn/proto/master.proto",
                                  "wire/yarn/proto/container_manager.proto",
                                  "wire/yarn/proto/tracker.proto",
                                  "wire/yarn/proto/admin.proto",
                                  "wire/yarn/proto/tokens.proto"};

std::istringstream Golden() {
  gzFile file = gzopen(FAIRLEAD_SOURCE_DIR "/tests/golden/yarn/descriptors.txt.gz", "rb");
  std::string text;
  char buffer[65536];
  for (int n = 0; file != nullptr && (n = gzread(file, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  if (file != nullptr) gzclose(file);
  return std::istringstream(text);
}

const char* LabelName(const FieldDescriptor* field) {
  return field->is_repeated() ? "repeated" : field->is_required() ? "required" : "optional";
}

class Descriptors : public ::testing::Test {
 protected:
  Descriptors() : importer_(&tree_, nullptr) {
    tree_.MapPath("", FAIRLEAD_SOURCE_DIR "/src");
    for (const char* path : kFiles) {
      const auto* file = importer_.Import(path);
      if (file == nullptr) {
        ADD_FAILURE() << path;
        continue;
      }
      for (int i = 0; i < file->message_type_count(); ++i)
        messages_[file->message_type(i)->name()] = file->message_type(i);
      for (int i = 0; i < file->service_count(); ++i) services_[file->service(i)->name()] = file->service(i);
    }
  }
  google::protobuf::compiler::DiskSourceTree tree_;
  google::protobuf::compiler::Importer importer_;
  std::map<std::string, const Descriptor*> messages_;
  std::map<std::string, const google::protobuf::ServiceDescriptor*> services_;
};

TEST_F(Descriptors, FieldsAndMethodsAreHadoops) {
  std::istringstream golden = Golden();
  std::set<std::pair<std::string, int>> fields;
  int methods = 0;
  for (std::string line; std::getline(golden, line);) {
    std::istringstream words(line);
    std::string kind, owner;
    words >> kind >> owner;
    if (kind == "field") {
      int number = 0;
      std::string label, type;
      words >> number >> label >> type;
      const auto message = messages_.find(owner);
      if (message == messages_.end()) {
        EXPECT_TRUE(kUnused.contains(owner)) << owner << " is not in our files";
        continue;
      }
      const FieldDescriptor* field = message->second->FindFieldByNumber(number);
      ASSERT_NE(field, nullptr) << line;
      EXPECT_EQ(field->type_name(), type) << line;
      EXPECT_EQ(LabelName(field), label) << line;
      fields.emplace(owner, number);
    } else if (kind == "method") {
      std::string name, request, response;
      words >> name >> request >> response;
      ASSERT_TRUE(services_.contains(owner)) << line;
      const auto* method = services_[owner]->FindMethodByName(name);
      ASSERT_NE(method, nullptr) << line;
      EXPECT_EQ(method->input_type()->name(), request);
      EXPECT_EQ(method->output_type()->name(), response);
      ++methods;
    }
  }
  EXPECT_EQ(methods, 82);
  int ours = 0;
  for (const auto& [name, message] : messages_) {
    if (name.starts_with(kOurs)) continue;
    for (int i = 0; i < message->field_count(); ++i) ours += message->field(i)->number() < kFirstOfOurs ? 1 : 0;
  }
  EXPECT_EQ(static_cast<size_t>(ours), fields.size()) << "we have fields that Hadoop does not have";
}

}  // namespace
}  // namespace fairlead::wire::yarn
