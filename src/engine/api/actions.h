#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/narrow_operators.h"
#include "engine/api/shuffle_operators.h"
#include "engine/io/save.h"

// Stage sinks of actions: what a task hands back to the driver, or writes.

namespace fairlead::engine {

/// A result above this many bytes per task is refused: save() is the way for large results.
inline constexpr size_t kResultMax = 256u << 20;

template <class T>
struct CollectSink : StageSink {
  static std::unique_ptr<CollectSink> Make(std::string_view) { return std::make_unique<CollectSink>(); }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    Buffer out;
    auto sink = MakeSink<T>([&](const T& record) {
      Serde<T>::Write(out, record);
      if (out.size() > kResultMax) throw TaskError("the result of one task is larger than 256 MiB: save it instead");
    });
    program.RunLast(task, partition, sink);
    task.output.result.assign(out.view());
  }
};

/// Thrown through a pipeline to stop it early; caught by the sink that threw it.
struct EnoughRecords {};

template <class T>
struct TakeSink : StageSink {
  int64_t limit = 0;
  static std::unique_ptr<TakeSink> Make(std::string_view payload) {
    auto op = std::make_unique<TakeSink>();
    if (!FromBytes(payload, op->limit)) ThrowMalformedCapture("take");
    return op;
  }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    Buffer out;
    int64_t left = limit;
    auto sink = MakeSink<T>([&](const T& record) {
      if (left == 0) throw EnoughRecords();
      Serde<T>::Write(out, record);
      --left;
    });
    try {
      program.RunLast(task, partition, sink);
    } catch (const EnoughRecords&) {
      task.CheckKilled();
    }
    task.output.result.assign(out.view());
  }
};

template <class T>
struct CountSink : StageSink {
  static std::unique_ptr<CountSink> Make(std::string_view) { return std::make_unique<CountSink>(); }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    int64_t count = 0;
    auto sink = MakeSink<T>([&count](const T&) { ++count; });
    program.RunLast(task, partition, sink);
    task.output.result = ToBytes(count);
  }
};

/// Folds a partition; an empty one leaves an empty result.
template <class T, class F>
struct FoldSink : StageSink {
  F f;
  explicit FoldSink(F function) : f(std::move(function)) {}
  static std::unique_ptr<FoldSink> Make(std::string_view payload) {
    return std::make_unique<FoldSink>(LoadFunction<F>(payload));
  }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    std::optional<Stored<T>> result;
    auto sink = MakeSink<T>([&](const T& record) {
      if (result) {
        FoldInto(*result, f, record);
      } else {
        result = Keep(record);
      }
    });
    program.RunLast(task, partition, sink);
    if (result) task.output.result = ToBytes(*result);
  }
};

/// Kept records by their keys, the largest first.
template <class T, class KeyFn>
struct LargerKey {
  bool operator()(const Stored<T>& a, const Stored<T>& b) const {
    return KeyFn{}(StoredOf<T>::View(b)) < KeyFn{}(StoredOf<T>::View(a));
  }
};

/// The `limit` largest records by a key.
template <class T, class KeyFn>
struct TopSink : StageSink {
  int64_t limit = 0;
  static std::unique_ptr<TopSink> Make(std::string_view payload) {
    auto op = std::make_unique<TopSink>();
    if (!FromBytes(payload, op->limit)) ThrowMalformedCapture("top");
    return op;
  }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    std::vector<Stored<T>> heap;  // smallest kept record first
    constexpr LargerKey<T, KeyFn> larger;
    auto sink = MakeSink<T>([&](const T& record) {
      if (static_cast<int64_t>(heap.size()) < limit) {
        heap.push_back(Keep(record));
        std::push_heap(heap.begin(), heap.end(), larger);
      } else if (limit > 0 && KeyFn{}(StoredOf<T>::View(heap.front())) < KeyFn{}(record)) {
        std::pop_heap(heap.begin(), heap.end(), larger);
        heap.back() = Keep(record);
        std::push_heap(heap.begin(), heap.end(), larger);
      }
    });
    program.RunLast(task, partition, sink);
    std::sort(heap.begin(), heap.end(), larger);
    task.output.result = ToBytes(heap);
  }
};

/// Up to `limit` keys of a partition by reservoir sampling (Vitter's algorithm R), and how many records were seen.
template <class T, class KeyFn>
struct SampleKeysSink : StageSink {
  using Key = KeyType<T, KeyFn>;
  int64_t limit = 0;
  static std::unique_ptr<SampleKeysSink> Make(std::string_view payload) {
    auto op = std::make_unique<SampleKeysSink>();
    if (!FromBytes(payload, op->limit)) ThrowMalformedCapture("sample of keys");
    return op;
  }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    std::vector<Stored<Key>> keys;
    uint64_t seen = 0;
    uint64_t x = 0x9e3779b97f4a7c15 * static_cast<uint64_t>(partition + 1);
    auto sink = MakeSink<T>([&](const T& record) {
      ++seen;
      if (static_cast<int64_t>(keys.size()) < limit) {
        keys.push_back(Keep<Key>(KeyFn{}(record)));
        return;
      }
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      const uint64_t place = static_cast<uint64_t>((static_cast<unsigned __int128>(x) * seen) >> 64);
      if (place < keys.size()) keys[place] = Keep<Key>(KeyFn{}(record));
    });
    program.RunLast(task, partition, sink);
    task.output.result = ToBytes(std::pair<uint64_t, std::vector<Stored<Key>>>(seen, std::move(keys)));
  }
};

/// How records become bytes of a file: lines of text, the bytes alone, rows of CSV, JSON objects.
struct LineFormat {
  static void Begin(Buffer&, const SavePlan&) {}
  template <class T>
  static void Append(Buffer& out, const T& record, const SavePlan&) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      out.Append(std::string_view(record));
    } else {
      thread_local std::string text;
      text.clear();
      AppendText(text, record);
      out.Append(text);
    }
    out.Append("\n", 1);
  }
};
struct RawFormat {
  static void Begin(Buffer&, const SavePlan&) {}
  static void Append(Buffer& out, std::string_view record, const SavePlan&) { out.Append(record); }
};
struct CsvFormat {
  /// The header, where columns have names.
  static void Begin(Buffer& out, const SavePlan& plan) {
    std::string line;
    for (const std::string& name : plan.format.columns) AddField(line, name, plan.format.separator);
    if (!plan.format.columns.empty()) out.Append(line + "\n");
  }
  template <class T>
  static void Append(Buffer& out, const T& record, const SavePlan& plan) {
    thread_local std::string line;
    line.clear();
    bool first = true;
    VisitColumns(record, [&](const auto& field) {
      if (!std::exchange(first, false)) line.push_back(plan.format.separator);
      AppendCsvField(line, field, plan.format.separator);
    });
    line.push_back('\n');
    out.Append(line);
  }

 private:
  static void AddField(std::string& line, const std::string& text, char separator) {
    if (!line.empty()) line.push_back(separator);
    AppendCsvField(line, text, separator);
  }
};
struct JsonFormat {
  static void Begin(Buffer&, const SavePlan&) {}
  template <class T>
  static void Append(Buffer& out, const T& record, const SavePlan& plan) {
    thread_local std::string line;
    line.clear();
    size_t i = 0;
    VisitColumns(record, [&](const auto& field) {
      line.push_back(i == 0 ? '{' : ',');
      base::AppendJsonString(line, plan.format.columns[i++]);
      line.push_back(':');
      AppendJsonValue(line, field);
    });
    line += i == 0 ? "{}\n" : "}\n";
    out.Append(line);
  }
};

template <class T, class Format>
struct SaveSink : StageSink {
  SavePlan plan;
  static std::unique_ptr<SaveSink> Make(std::string_view payload) {
    auto op = std::make_unique<SaveSink>();
    op->plan = DecodePayload<SavePlan>(payload, "save");
    return op;
  }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    PartFile file(task, plan);
    int64_t count = 0;
    Format::Begin(file.buffer(), plan);
    auto sink = MakeSink<T>([&](const T& record) {
      Format::Append(file.buffer(), record, plan);
      file.Written();
      ++count;
    });
    program.RunLast(task, partition, sink);
    task.metrics.records_written += count;
    file.Commit();
    task.output.result = ToBytes(count);
  }
};

template <class T, class F>
struct ForEachSink : StageSink {
  F f;
  explicit ForEachSink(F function) : f(std::move(function)) {}
  static std::unique_ptr<ForEachSink> Make(std::string_view payload) {
    return std::make_unique<ForEachSink>(LoadFunction<F>(payload));
  }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    auto sink = MakeSink<T>([this](const T& record) { f(record); });
    program.RunLast(task, partition, sink);
  }
};

}  // namespace fairlead::engine
