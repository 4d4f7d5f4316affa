#include "engine/kernels/group_table.h"

#include <array>

#include "engine/kernels/grace.h"
#include "engine/records/errors.h"
#include "engine/shuffle/block_reader.h"

namespace fairlead::engine {

namespace {

/// A stream of frames of keyed records: a shuffle partition, records of this task, or a part of scratch files.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// Calls use(frame, keep); keep() holds the frame's bytes and gives their owner and size. Stops when use says false.
  struct Kept {
    std::shared_ptr<const void> owner;
    size_t bytes = 0;
    std::string_view frame;  // where the frame's bytes are from now on
  };
  using Use = std::function<void(std::string_view frame, const std::function<Kept()>& keep)>;
  virtual void ForEachFrame(const Use& use) = 0;
  [[noreturn]] virtual void Malformed() = 0;
};

class ShuffleSource : public FrameSource {
 public:
  ShuffleSource(TaskContext& task, const KeyedInput& input, int32_t partition)
      : reader_(task, input.shuffle, partition) {}
  void ForEachFrame(const Use& use) override {
    std::string_view frame;
    while (reader_.NextFrame(frame)) {
      use(frame, [&] {
        auto owner = reader_.Keep();
        return Kept{std::move(owner), reader_.kept_bytes(), frame};
      });
    }
  }
  [[noreturn]] void Malformed() override { reader_.Malformed(); }

 private:
  BlockReader reader_;
};

class LocalSource : public FrameSource {
 public:
  explicit LocalSource(const KeyedInput& input) : input_(input) {}
  void ForEachFrame(const Use& use) override {
    input_.local([&](Buffer& frame) {
      use(frame.view(), [&] {
        auto owner = std::make_shared<const Buffer>(std::move(frame));
        return Kept{owner, owner->capacity(), owner->view()};
      });
    });
  }
  [[noreturn]] void Malformed() override { throw TaskError("a record does not parse"); }

 private:
  const KeyedInput& input_;
};

std::unique_ptr<FrameSource> SourceOf(TaskContext& task, const KeyedInput& input, int32_t partition) {
  if (input.shuffle < 0) return std::make_unique<LocalSource>(input);
  return std::make_unique<ShuffleSource>(task, input, partition);
}

class GraceSource : public FrameSource {
 public:
  GraceSource(const GraceFiles& files, uint32_t part) : files_(files), part_(part) {}
  void ForEachFrame(const Use& use) override {
    files_.ReadPart(part_, [&](std::string_view frame) {
      use(frame, [&] {
        auto copy = std::make_shared<std::string>(frame);
        return Kept{copy, copy->size(), *copy};
      });
    });
  }
  [[noreturn]] void Malformed() override { throw TaskError("a spill file is damaged"); }

 private:
  const GraceFiles& files_;
  uint32_t part_;
};

/// An index and the bytes it points into.
struct HeldIndex {
  HashIndex index;
  std::vector<std::shared_ptr<const void>> owners;
  size_t held_bytes = 0;
  size_t memory_bytes() const { return index.memory_bytes() + held_bytes; }
  size_t coming_bytes() const { return index.coming_bytes() + held_bytes; }
  void Clear() {
    index.Clear();
    owners.clear();
    held_bytes = 0;
  }
};

class Grouping {
 public:
  Grouping(TaskContext& task, std::span<const KeyedInput> inputs) : task_(task), inputs_(inputs) {}

  void Group(std::span<FrameSource* const> sources, int level, const GroupUse& use);
  void Probe(FrameSource& left, FrameSource& right, int level, const ProbeUse& use);

 private:
  bool TooLarge(const HeldIndex& a, const HeldIndex& b, int level) const {
    return GraceFiles::Worthwhile(a.coming_bytes() + b.coming_bytes(), task_.memory_bytes, level);
  }
  /// Indexes `source`, or from the moment memory is short moves all of it into `overflow`.
  void Load(size_t input, FrameSource& source, int level, std::array<HeldIndex, 2>& held,
            std::array<std::unique_ptr<GraceFiles>, 2>& overflow);
  void Overflow(size_t input, int level, HeldIndex& held, std::unique_ptr<GraceFiles>& overflow);
  void Emit(std::array<HeldIndex, 2>& held, const GroupUse& use);
  /// Where a record of input 0 goes while the right input is in memory.
  bool ProbeFrame(std::string_view frame, const HashIndex& right, const ProbeUse& use);
  void Count(size_t input, int level, int64_t records) {
    if (level == 0 && inputs_[input].shuffle >= 0) task_.metrics.shuffle_records_read += records;
  }
  void Note(const std::array<HeldIndex, 2>& held) {
    const int64_t bytes = static_cast<int64_t>(held[0].memory_bytes() + held[1].memory_bytes());
    if (bytes > task_.metrics.peak_memory) task_.metrics.peak_memory = bytes;
  }

  TaskContext& task_;
  std::span<const KeyedInput> inputs_;
};

void Grouping::Overflow(size_t input, int level, HeldIndex& held, std::unique_ptr<GraceFiles>& overflow) {
  if (!overflow) overflow = std::make_unique<GraceFiles>(task_, inputs_[input].shape, level);
  char buffer[ShortBytes::kMax];
  held.index.ForEachPair(
      [&](const HashIndex::Key& key, std::string_view value) { overflow->Add(key.hash(), key.key(buffer), value); });
  held.Clear();
}

void Grouping::Load(size_t input, FrameSource& source, int level, std::array<HeldIndex, 2>& held,
                    std::array<std::unique_ptr<GraceFiles>, 2>& overflow) {
  source.ForEachFrame([&](std::string_view frame, const std::function<FrameSource::Kept()>& keep) {
    const RecordShape shape = inputs_[input].shape;
    int64_t records = 0;
    bool good;
    if (overflow[input]) {
      good = ForEachRecord(frame, shape, [&](std::string_view key, std::string_view value) {
        overflow[input]->Add(HashBytes(key), key, value);
        ++records;
      });
    } else {
      FrameSource::Kept kept = keep();
      held[input].owners.push_back(std::move(kept.owner));
      held[input].held_bytes += kept.bytes;
      good = ForEachRecord(kept.frame, shape, [&](std::string_view key, std::string_view value) {
        held[input].index.Add(key, value);
        ++records;
      });
      held[input].index.Drain();
    }
    if (!good) source.Malformed();
    Count(input, level, records);
    Note(held);
    if (TooLarge(held[0], held[1], level)) {
      for (size_t i = 0; i < inputs_.size(); ++i) Overflow(i, level, held[i], overflow[i]);
      ReturnFreeMemory();
    }
  });
}

void Grouping::Emit(std::array<HeldIndex, 2>& held, const GroupUse& use) {
  std::vector<std::string_view> values[2];
  const auto collect = [](const HashIndex& index, const HashIndex::Key& key, std::vector<std::string_view>& out) {
    out.clear();
    index.ForEachValue(key.value, [&](std::string_view value) { out.push_back(value); });
  };
  for (HeldIndex& one : held) one.index.Arrange();
  const HashIndex& first = held[0].index;
  const HashIndex& second = held[1].index;
  char buffer[ShortBytes::kMax];
  for (uint32_t i = 0; i < first.keys(); ++i) {
    const HashIndex::Key& key = first.key(i);
    const std::string_view bytes = key.key(buffer);
    collect(first, key, values[0]);
    values[1].clear();
    if (second.keys() > 0) {
      if (const HashIndex::Key* other = second.Find(TableKey(bytes))) collect(second, *other, values[1]);
    }
    use(bytes, values[0], values[1]);
  }
  for (uint32_t i = 0; i < second.keys(); ++i) {
    const HashIndex::Key& key = second.key(i);
    const std::string_view bytes = key.key(buffer);
    if (first.Find(TableKey(bytes)) != nullptr) continue;
    collect(second, key, values[1]);
    use(bytes, {}, values[1]);
  }
}

void Grouping::Group(std::span<FrameSource* const> sources, int level, const GroupUse& use) {
  std::array<HeldIndex, 2> held;
  std::array<std::unique_ptr<GraceFiles>, 2> overflow;
  for (size_t i = 0; i < sources.size(); ++i) Load(i, *sources[i], level, held, overflow);
  if (!overflow[0]) {
    Emit(held, use);
    return;
  }
  // Either all inputs overflowed or none: the ones loaded later went straight to the files.
  for (size_t i = 0; i < sources.size(); ++i) {
    Overflow(i, level, held[i], overflow[i]);
    overflow[i]->Finish();
  }
  for (uint32_t part = 0; part < GraceFiles::kParts; ++part) {
    std::vector<GraceSource> parts;
    for (size_t i = 0; i < sources.size(); ++i) parts.emplace_back(*overflow[i], part);
    std::vector<FrameSource*> pointers;
    for (GraceSource& source : parts) pointers.push_back(&source);
    task_.CheckKilled();
    Group(pointers, level + 1, use);
  }
}

bool Grouping::ProbeFrame(std::string_view frame, const HashIndex& right, const ProbeUse& use) {
  // Some records at a time: their look-ups' waits for memory overlap.
  struct Waiting {
    TableKey table_key{{}};
    std::string_view key;
    std::string_view value;
    const HashIndex::Key* found = nullptr;
  };
  std::array<Waiting, 64> waiting;
  size_t count = 0;
  const auto for_found = [&](auto&& step) {
    for (size_t i = 0; i < count; ++i) {
      if (waiting[i].found != nullptr) step(*waiting[i].found);
    }
  };
  const auto drain = [&] {
    for (size_t i = 0; i < count; ++i) right.TouchKey(waiting[i].table_key);
    for (size_t i = 0; i < count; ++i) waiting[i].found = right.Find(waiting[i].table_key);
    for_found([&](const HashIndex::Key& key) { right.TouchPlace(key); });
    for_found([&](const HashIndex::Key& key) { right.TouchEntry(key); });
    for_found([&](const HashIndex::Key& key) { right.TouchValue(key); });
    for (size_t i = 0; i < count; ++i) use(waiting[i].key, waiting[i].value, right, waiting[i].found);
    count = 0;
  };
  const bool good = ForEachRecord(frame, inputs_[0].shape, [&](std::string_view key, std::string_view value) {
    waiting[count] = {TableKey(key), key, value, nullptr};
    right.PrefetchIndex(waiting[count].table_key);
    if (++count == waiting.size()) drain();
  });
  drain();
  return good;
}

void Grouping::Probe(FrameSource& left, FrameSource& right, int level, const ProbeUse& use) {
  std::array<HeldIndex, 2> held;
  std::array<std::unique_ptr<GraceFiles>, 2> overflow;
  Load(1, right, level, held, overflow);
  held[1].index.Arrange();
  left.ForEachFrame([&](std::string_view frame, const std::function<FrameSource::Kept()>&) {
    int64_t records = 0;
    bool good;
    if (overflow[0]) {
      good = ForEachRecord(frame, inputs_[0].shape, [&](std::string_view key, std::string_view value) {
        overflow[0]->Add(HashBytes(key), key, value);
        ++records;
      });
    } else {
      good = ProbeFrame(frame, held[1].index, [&](auto key, auto value, const auto& index, const auto* found) {
        use(key, value, index, found);
        ++records;
      });
    }
    if (!good) left.Malformed();
    Count(0, level, records);
  });
  if (!overflow[0]) return;
  Overflow(1, level, held[1], overflow[1]);
  overflow[0]->Finish();
  overflow[1]->Finish();
  for (uint32_t part = 0; part < GraceFiles::kParts; ++part) {
    GraceSource left_part(*overflow[0], part), right_part(*overflow[1], part);
    task_.CheckKilled();
    Probe(left_part, right_part, level + 1, use);
  }
}

}  // namespace

void GroupInputs(TaskContext& task, std::span<const KeyedInput> inputs, int32_t partition, const GroupUse& use) {
  std::vector<std::unique_ptr<FrameSource>> sources;
  std::vector<FrameSource*> pointers;
  for (const KeyedInput& input : inputs) {
    sources.push_back(SourceOf(task, input, partition));
    pointers.push_back(sources.back().get());
  }
  Grouping(task, inputs).Group(pointers, 0, use);
}

void ProbeInputs(TaskContext& task, const KeyedInput& left, const KeyedInput& right, int32_t partition,
                 const ProbeUse& use) {
  const std::array<KeyedInput, 2> inputs{left, right};
  const auto left_source = SourceOf(task, left, partition), right_source = SourceOf(task, right, partition);
  Grouping(task, inputs).Probe(*left_source, *right_source, 0, use);
}

}  // namespace fairlead::engine
