#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "engine/io/sources.h"
#include "engine/plan/function.h"
#include "engine/plan/operators.h"
#include "engine/records/errors.h"
#include "engine/records/text.h"

// Operators without a shuffle. Each is a sink that wraps the next one: a record passes a chain of them in one go.

namespace fairlead::engine {

/// Captured state made of FL_FIELDS structs and vectors of them (payload.h; dataset.cc has those of the headers).
template <class T>
T DecodePayload(std::string_view payload, const char* what);
template <class T>
std::string EncodePayload(const T& value);

/// Wraps a callable as a sink.
template <class T, class F>
struct CallSink final : Sink<T> {
  explicit CallSink(F f) : call(std::move(f)) {}
  void Push(const T& record) override { call(record); }
  F call;
};
template <class T, class F>
CallSink<T, F> MakeSink(F f) {
  return CallSink<T, F>(std::move(f));
}

struct CsvState {
  CsvLayout layout;
  std::vector<FileSplit> splits;
  FL_FIELDS(layout, splits)
};

template <class T>
struct CsvSource : Operator {
  CsvState state;
  static std::unique_ptr<CsvSource> Make(std::string_view payload) {
    auto op = std::make_unique<CsvSource>();
    op->state = DecodePayload<CsvState>(payload, "CSV source");
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<T>&>(out);
    T record{};
    ReadCsv(scope.task, state.splits.at(static_cast<size_t>(partition)), state.layout,
            [&](std::span<const std::string_view> fields) {
              int i = 0, failed = -1;
              VisitEachField(record, [&](auto& field) {
                if (failed < 0 && !ParseField(fields[static_cast<size_t>(i)], field)) failed = i;
                ++i;
              });
              if (failed < 0) next.Push(record);
              return failed;
            });
  }
};

struct JsonState {
  JsonLayout layout;
  std::vector<FileSplit> splits;
  FL_FIELDS(layout, splits)
};

template <class T>
struct JsonSource : Operator {
  JsonState state;
  static std::unique_ptr<JsonSource> Make(std::string_view payload) {
    auto op = std::make_unique<JsonSource>();
    op->state = DecodePayload<JsonState>(payload, "JSON source");
    if (op->state.layout.names.size() != CountColumns<T>()) ThrowMalformedCapture("JSON source");
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<T>&>(out);
    T record{};
    ReadJsonLines(scope.task, state.splits.at(static_cast<size_t>(partition)), state.layout,
                  [&](std::span<const JsonField> fields) {
                    int i = 0, failed = -1;
                    VisitEachField(record, [&](auto& field) {
                      if (failed < 0 && !ParseJsonField(fields[static_cast<size_t>(i)], field)) failed = i;
                      ++i;
                    });
                    if (failed < 0) next.Push(record);
                    return failed;
                  });
  }
};

/// Values of the driver's memory, one string of serialized records per partition.
template <class T>
struct LocalSource : Operator {
  std::vector<std::string> parts;
  static std::unique_ptr<LocalSource> Make(std::string_view payload) {
    auto op = std::make_unique<LocalSource>();
    op->parts = DecodePayload<std::vector<std::string>>(payload, "local data");
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<T>&>(out);
    Cursor in(parts.at(static_cast<size_t>(partition)));
    while (!in.done()) {
      T record{};
      if (!Serde<T>::Read(in, record)) throw TaskError("local data does not parse");
      ++scope.task.metrics.records_read;
      next.Push(record);
    }
  }
};

template <class F, class In, class Out>
struct MapOp : Operator {
  F f;
  explicit MapOp(F function) : f(std::move(function)) {}
  static std::unique_ptr<MapOp> Make(std::string_view payload) {
    return std::make_unique<MapOp>(LoadFunction<F>(payload));
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto sink = MakeSink<In>([this, &next = static_cast<Sink<Out>&>(out)](const In& record) { next.Push(f(record)); });
    scope.RunInput(partition, sink);
  }
};

template <class F, class T>
struct FilterOp : Operator {
  F f;
  explicit FilterOp(F function) : f(std::move(function)) {}
  static std::unique_ptr<FilterOp> Make(std::string_view payload) {
    return std::make_unique<FilterOp>(LoadFunction<F>(payload));
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto sink = MakeSink<T>([this, &next = static_cast<Sink<T>&>(out)](const T& record) {
      if (f(record)) next.Push(record);
    });
    scope.RunInput(partition, sink);
  }
};

/// F gives a range of records, or takes an emitter: f(record, emit).
template <class F, class In, class Out, bool kEmits>
struct FlatMapOp : Operator {
  F f;
  explicit FlatMapOp(F function) : f(std::move(function)) {}
  static std::unique_ptr<FlatMapOp> Make(std::string_view payload) {
    return std::make_unique<FlatMapOp>(LoadFunction<F>(payload));
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto sink = MakeSink<In>([this, &next = static_cast<Sink<Out>&>(out)](const In& record) {
      if constexpr (kEmits) {
        f(record, next);
      } else {
        for (auto&& item : f(record)) next.Push(std::forward<decltype(item)>(item));
      }
    });
    scope.RunInput(partition, sink);
  }
};

/// The records of one partition, for functions that work on partitions.
template <class T>
class Records {
 public:
  Records(const NodeScope& scope, int32_t partition) : scope_(scope), partition_(partition) {}
  /// Calls use(record) for each record. Once.
  template <class Use>
  void ForEach(Use&& use) {
    auto sink = MakeSink<T>([&use](const T& record) { use(record); });
    scope_.RunInput(partition_, sink);
  }
  int32_t partition() const { return partition_; }

 private:
  const NodeScope& scope_;
  int32_t partition_;
};

template <class F, class In, class Out>
struct MapPartitionsOp : Operator {
  F f;
  explicit MapPartitionsOp(F function) : f(std::move(function)) {}
  static std::unique_ptr<MapPartitionsOp> Make(std::string_view payload) {
    return std::make_unique<MapPartitionsOp>(LoadFunction<F>(payload));
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    Records<In> records(scope, partition);
    f(records, static_cast<Sink<Out>&>(out));
  }
};

struct SampleState {
  double fraction = 0;
  uint64_t seed = 0;
  FL_FIELDS(fraction, seed)
};

/// Bernoulli sample; the same seed gives the same records for the same input order.
template <class T>
struct SampleOp : Operator {
  SampleState state;
  static std::unique_ptr<SampleOp> Make(std::string_view payload) {
    auto op = std::make_unique<SampleOp>();
    op->state = DecodePayload<SampleState>(payload, "sample");
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    uint64_t x = state.seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(partition) * 0xbf58476d1ce4e5b9 + 1;
    const double limit = state.fraction * 0x1.0p64;
    auto sink = MakeSink<T>([&, &next = static_cast<Sink<T>&>(out)](const T& record) {
      uint64_t z = (x += 0x9e3779b97f4a7c15);  // splitmix64
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      if (static_cast<double>(z ^ (z >> 31)) < limit) next.Push(record);
    });
    scope.RunInput(partition, sink);
  }
};

/// Keeps the records of each partition where they were computed first, as bytes; later tasks there read those. A task
/// elsewhere computes them again (and then keeps them, too).
template <class T>
struct CacheOp : Operator {
  bool disk = false;
  static std::unique_ptr<CacheOp> Make(std::string_view payload) {
    auto op = std::make_unique<CacheOp>();
    op->disk = payload == "d";
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<T>&>(out);
    const int32_t dataset = scope.plan().dataset;
    if (const auto kept = scope.task.FindKept(dataset, partition)) {
      Cursor in(kept->view());
      T record{};
      while (!in.done()) {
        if (!Serde<T>::Read(in, record)) throw TaskError("a cached record does not parse");
        next.Push(record);
      }
      return;
    }
    Buffer bytes;
    const bool whole = scope.task.sample_records == 0;
    auto sink = MakeSink<T>([&](const T& record) {
      if (whole) Serde<T>::Write(bytes, record);
      next.Push(record);
    });
    scope.RunInput(partition, sink);
    ++scope.task.metrics.cached_made;
    if (whole) scope.task.Keep(dataset, partition, std::move(bytes), disk);
  }
};

/// Passes its input on: unions.
struct PassOp : Operator {
  static std::unique_ptr<PassOp> Make(std::string_view) { return std::make_unique<PassOp>(); }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override { scope.RunInput(partition, out); }
};

}  // namespace fairlead::engine
