#include "engine/api/dataset.h"

#include <unistd.h>

#include <chrono>
#include <numeric>

#include "engine/api/payload.h"
#include "engine/io/files.h"

namespace fairlead::engine {

template CsvState DecodePayload(std::string_view payload, const char* what);
template JsonState DecodePayload(std::string_view payload, const char* what);
template ParquetState DecodePayload(std::string_view payload, const char* what);
template SampleState DecodePayload(std::string_view payload, const char* what);
template SavePlan DecodePayload(std::string_view payload, const char* what);
template std::vector<std::string> DecodePayload(std::string_view payload, const char* what);
template std::string EncodePayload(const CsvState& value);
template std::string EncodePayload(const JsonState& value);
template std::string EncodePayload(const ParquetState& value);
template std::string EncodePayload(const SampleState& value);
template std::string EncodePayload(const std::vector<std::string>& value);

namespace dataset_internal {

namespace {

void AddHolds(DatasetNode& node, const Captured& captured) {
  node.holds.insert(node.holds.end(), captured.holds.begin(), captured.holds.end());
}

SavePlan MakeSavePlan(Session& session, const std::string& directory) {
  SavePlan plan;
  plan.directory = ResolveUserPath(directory);
  plan.save = session.application_id() + "-" + std::to_string(session.NextDatasetId());
  // Tasks of an earlier attempt may still be at work: they must not find this one's directory.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  plan.job = plan.save + "-" + std::to_string(now / std::chrono::microseconds(1)) + "-" + std::to_string(::getpid());
  return plan;
}

}  // namespace

std::shared_ptr<DatasetNode> MakeNode(Session& session, const std::string& op, std::string_view name, Captured payload,
                                      int32_t partitions) {
  auto node = std::make_shared<DatasetNode>();
  node->session = &session;
  node->id = session.NextDatasetId();
  node->name = name;
  node->op = op;
  AddHolds(*node, payload);
  node->payload = std::move(payload.bytes);
  node->partitions = partitions;
  return node;
}

std::shared_ptr<DatasetNode> MakeNarrow(const std::shared_ptr<DatasetNode>& parent, const std::string& op,
                                        std::string_view name, Captured payload) {
  auto node = MakeNode(*parent->session, op, name, std::move(payload), parent->partitions);
  AddNarrow(*node, parent, 0);
  return node;
}

void AddNarrow(DatasetNode& reader, const std::shared_ptr<DatasetNode>& parent, int32_t out_start) {
  reader.narrow.push_back({parent, out_start, 0, parent->partitions});
}

void AddShuffle(DatasetNode& reader, const std::shared_ptr<DatasetNode>& parent, const std::string& writer,
                Captured payload) {
  AddHolds(reader, payload);
  reader.shuffles.push_back({parent, reader.session->NextShuffleId(), writer, std::move(payload.bytes)});
}

char AddKeyed(DatasetNode& reader, const std::shared_ptr<DatasetNode>& parent, const std::string& writer,
              Captured payload) {
  reader.keeps_records = true;
  reader.key_partitions = reader.partitions;
  if (parent->key_partitions == reader.partitions) {
    AddNarrow(reader, parent, 0);
    return 'l';
  }
  AddShuffle(reader, parent, writer, std::move(payload));
  return 's';
}

std::vector<int32_t> AllPartitions(const DatasetNode& node) {
  std::vector<int32_t> all(static_cast<size_t>(node.partitions));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int64_t SumOf(const std::shared_ptr<DatasetNode>& node, const ActionPlan& action) {
  int64_t total = 0;
  node->session->RunJob(node, AllPartitions(*node), action, [&](int32_t, const std::string& bytes) {
    int64_t count = 0;
    if (FromBytes(bytes, count)) total += count;
  });
  return total;
}

int64_t Save(const std::shared_ptr<DatasetNode>& node, const std::string& sink, const std::string& directory,
             SaveFormat format) {
  SavePlan plan = MakeSavePlan(*node->session, directory);
  plan.format = std::move(format);
  if (const auto records = PrepareSave(plan, node->session->application_id())) return *records;
  int64_t total = 0;
  try {
    total = SumOf(node, {sink, EncodePayload(plan), 0, "save to " + directory});
  } catch (...) {
    AbortSave(plan);
    throw;
  }
  CommitSave(plan, node->partitions, total);
  return total;
}

}  // namespace dataset_internal

}  // namespace fairlead::engine
