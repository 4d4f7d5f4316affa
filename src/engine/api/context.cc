#include "engine/api/context.h"

#include "engine/api/payload.h"

namespace fairlead::engine {

namespace {

struct TextSource : Operator {
  std::vector<FileSplit> splits;
  static std::unique_ptr<TextSource> Make(std::string_view payload) {
    auto op = std::make_unique<TextSource>();
    op->splits = DecodePayload<std::vector<FileSplit>>(payload, "text source");
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<std::string_view>&>(out);
    ReadLines(scope.task, splits.at(static_cast<size_t>(partition)),
              [&next](std::string_view line) { next.Push(line); });
  }
};

struct RecordSource : Operator {
  struct State {
    uint64_t size = 0;
    std::vector<FileSplit> splits;
    FL_FIELDS(size, splits)
  };
  State state;
  static std::unique_ptr<RecordSource> Make(std::string_view payload) {
    auto op = std::make_unique<RecordSource>();
    op->state = DecodePayload<State>(payload, "record source");
    if (op->state.size == 0) ThrowMalformedCapture("record source");
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<std::string_view>&>(out);
    ReadRecords(scope.task, state.splits.at(static_cast<size_t>(partition)), state.size,
                [&next](std::string_view record) { next.Push(record); });
  }
};

struct RangeSource : Operator {
  struct State {
    int64_t begin = 0;
    int64_t end = 0;
    int32_t partitions = 1;
    FL_FIELDS(begin, end, partitions)
  };
  State state;
  static std::unique_ptr<RangeSource> Make(std::string_view payload) {
    auto op = std::make_unique<RangeSource>();
    op->state = DecodePayload<State>(payload, "range");
    return op;
  }
  int64_t Bound(int32_t partition) const {
    return state.begin +
           static_cast<int64_t>(static_cast<__int128>(state.end - state.begin) * partition / state.partitions);
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<int64_t>&>(out);
    const int64_t end = Bound(partition + 1);
    for (int64_t i = Bound(partition); i < end; ++i) {
      if ((i & 0xffff) == 0) scope.task.CheckKilled();
      next.Push(i);
    }
    scope.task.metrics.records_read += end - Bound(partition);
  }
};

}  // namespace

Dataset<std::string_view> Context::Text(const std::string& path, Partitions pieces) {
  const std::vector<FileSplit> splits = PlanSplits(path, Pieces(pieces));
  auto node = dataset_internal::MakeNode<TextSource>(session_, "text " + path, EncodePayload(splits),
                                                     static_cast<int32_t>(splits.size()));
  node->places = PlacesOf(splits);
  return Dataset<std::string_view>(std::move(node));
}

Dataset<std::string_view> Context::FixedRecords(const std::string& path, uint64_t size, Partitions pieces) {
  if (size == 0) throw JobError("records of no bytes");
  RecordSource::State state{size, PlanSplits(path, Pieces(pieces), size)};
  const int32_t parts = static_cast<int32_t>(state.splits.size());
  auto node = dataset_internal::MakeNode<RecordSource>(session_, "records " + path, EncodePayload(state), parts);
  node->places = PlacesOf(state.splits);
  return Dataset<std::string_view>(std::move(node));
}

Dataset<int64_t> Context::Range(int64_t begin, int64_t end, Partitions partitions) {
  RangeSource::State state{begin, std::max(begin, end), partitions.count > 0 ? partitions.count : parallelism()};
  return Dataset<int64_t>(
      dataset_internal::MakeNode<RangeSource>(session_, "range", EncodePayload(state), state.partitions));
}

}  // namespace fairlead::engine
