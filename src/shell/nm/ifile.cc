#include "shell/nm/ifile.h"

#include <openssl/evp.h>

#include "base/bytes.h"
#include "wire/java_stream/writer.h"

namespace fairlead::shell {

namespace {

namespace java = wire::java_stream;

constexpr char kAccessClass[] = "org.apache.hadoop.yarn.api.records.ApplicationAccessType";
constexpr char kIndexClass[] =
    "org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController$IndexedLogsMeta";
constexpr char kCycleClass[] =
    "org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController"
    "$IndexedPerAggregationLogMeta";
constexpr char kLogClass[] =
    "org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController$IndexedFileLogMeta";
constexpr char kHashMap[] = "java.util.HashMap";
constexpr char kArrayList[] = "java.util.ArrayList";
constexpr char kStringType[] = "Ljava/lang/String;";
constexpr char kMapType[] = "Ljava/util/Map;";

/// Fields in the order of the stream: numbers first, each kind by name.
const java::ClassCatalog& Classes() {
  static const java::ClassCatalog kClasses = {
      {kIndexClass,
       {kIndexClass,
        5439875373,
        java::kSerializable,
        {{"version", "I"},
         {"acls", kMapType},
         {"compressName", kStringType},
         {"logMetas", "Ljava/util/List;"},
         {"nodeId", kStringType},
         {"user", kStringType}},
        ""}},
      {kCycleClass,
       {kCycleClass,
        3929298383,
        java::kSerializable,
        {{"uploadTimeStamp", "J"}, {"logMetas", kMapType}, {"remoteNodeLogFileName", kStringType}},
        ""}},
      {kLogClass,
       {kLogClass,
        1,
        java::kSerializable,
        {{"fileCompressedSize", "J"},
         {"fileSize", "J"},
         {"lastModifiedTime", "J"},
         {"startIndex", "J"},
         {"containerId", kStringType},
         {"fileName", kStringType}},
        ""}},
      {kAccessClass, {kAccessClass, 0, java::kSerializable | java::kEnum, {}, "java.lang.Enum"}},
      {kHashMap,
       {kHashMap,
        362498820763181265,
        java::kSerializable | java::kWriteMethod,
        {{"loadFactor", "F"}, {"threshold", "I"}},
        ""}},
      {kArrayList, {kArrayList, 8683452581122892189, java::kSerializable | java::kWriteMethod, {{"size", "I"}}, ""}},
  };
  return kClasses;
}

std::string JavaInt(int32_t value) {
  std::string out;
  base::ByteWriter(out).U32(static_cast<uint32_t>(value));
  return out;
}

/// HashMap.writeObject: keys and values in turn. Its reader finds the place of each again.
java::Ref NewHashMap(java::Builder& builder, const std::vector<java::Ref>& keys_and_values) {
  constexpr java::Slot kThreeQuarters = 0x3f400000;
  const auto size = static_cast<int32_t>(keys_and_values.size() / 2);
  int32_t buckets = 16;
  while (buckets < (1 << 30) && size > buckets / 4 * 3) buckets *= 2;
  const java::Ref map = builder.NewObject(kHashMap);
  builder.SetNumber(map, "loadFactor", kThreeQuarters);
  builder.SetNumber(map, "threshold", size == 0 ? 0 : buckets / 4 * 3);
  std::vector<java::Item> items{JavaInt(buckets) + JavaInt(size)};
  items.insert(items.end(), keys_and_values.begin(), keys_and_values.end());
  builder.SetCustom(map, kHashMap, std::move(items));
  return map;
}

java::Ref NewArrayList(java::Builder& builder, const std::vector<java::Ref>& elements) {
  const auto size = static_cast<int32_t>(elements.size());
  const java::Ref list = builder.NewObject(kArrayList);
  builder.SetNumber(list, "size", size);
  std::vector<java::Item> items{JavaInt(size)};
  items.insert(items.end(), elements.begin(), elements.end());
  builder.SetCustom(list, kArrayList, std::move(items));
  return list;
}

java::Ref NewAcls(java::Builder& builder, const IFileHead& head) {
  std::vector<java::Ref> acls;
  for (const auto& [access, acl] : {std::pair{"VIEW_APP", &head.view_acl}, {"MODIFY_APP", &head.modify_acl}}) {
    if (acl->empty()) continue;
    acls.push_back(builder.NewEnum(kAccessClass, access));
    acls.push_back(builder.NewString(*acl));
  }
  return NewHashMap(builder, acls);
}

std::string Sha256(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  ::EVP_Digest(text.data(), text.size(), digest, &length, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(digest), length};
}

}  // namespace

base::Status IFileWriter::Put(std::string_view bytes) {
  position_ += static_cast<int64_t>(bytes.size());
  return sink_(bytes);
}

base::Status IFileWriter::Begin() { return Put(Sha256(head_.app)); }

base::Status IFileWriter::BeginLog(const std::string& container, const std::string& name, base::WallTime modified) {
  open_ = &logs_[container].emplace_back(Entry{name, modified, position_});
  return {};
}

base::Status IFileWriter::LogBytes(std::string_view bytes) {
  open_->bytes += static_cast<int64_t>(bytes.size());
  return Put(head_.compress ? zlib_.Add(bytes) : bytes);
}

base::Status IFileWriter::EndLog() {
  const base::Status ended = head_.compress ? Put(zlib_.End()) : base::Status();
  open_->stored_bytes = position_ - open_->start;
  open_ = nullptr;
  return ended;
}

std::string IFileWriter::Index() const {
  java::Builder builder(Classes());
  const java::Ref index = builder.NewObject(kIndexClass);
  builder.SetNumber(index, "version", 1);
  builder.SetRef(index, "acls", NewAcls(builder, head_));
  builder.SetRef(index, "compressName", builder.NewString(head_.compress ? "gz" : "none"));
  std::vector<java::Ref> by_container;
  for (const auto& [container, entries] : logs_) {
    const java::Ref id = builder.NewString(container);
    std::vector<java::Ref> list;
    for (const Entry& entry : entries) {
      const java::Ref log = list.emplace_back(builder.NewObject(kLogClass));
      builder.SetNumber(log, "fileCompressedSize", entry.stored_bytes);
      builder.SetNumber(log, "fileSize", entry.bytes);
      builder.SetNumber(log, "lastModifiedTime", entry.modified.ms);
      builder.SetNumber(log, "startIndex", entry.start);
      builder.SetRef(log, "containerId", id);
      builder.SetRef(log, "fileName", builder.NewString(entry.name));
    }
    by_container.push_back(id);
    by_container.push_back(NewArrayList(builder, list));
  }
  const java::Ref cycle = builder.NewObject(kCycleClass);
  builder.SetNumber(cycle, "uploadTimeStamp", head_.uploaded.ms);
  builder.SetRef(cycle, "logMetas", NewHashMap(builder, by_container));
  builder.SetRef(cycle, "remoteNodeLogFileName", builder.NewString(head_.file_name));
  builder.SetRef(index, "logMetas", NewArrayList(builder, {cycle}));
  builder.SetRef(index, "nodeId", builder.NewString(head_.node_id));
  builder.SetRef(index, "user", builder.NewString(head_.user));
  builder.graph().contents.emplace_back(index);
  return java::WriteStream(builder.graph());
}

base::Status IFileWriter::Finish() {
  const std::string index = Index();
  return Put(index + JavaInt(static_cast<int32_t>(index.size())) + Sha256(head_.app));
}

}  // namespace fairlead::shell
