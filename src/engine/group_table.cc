#include "engine/group_table.h"

#include <array>

#include "engine/block_reader.h"
#include "engine/errors.h"
#include "engine/grace.h"

namespace fairlead::engine {

HashIndex::HashIndex() { Clear(); }

void HashIndex::Clear() {
  std::vector<Slot>(1024).swap(slots_);  // gives the old ones back
  std::vector<Entry>().swap(entries_);
  size_ = 0;
}

void HashIndex::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.hash == 0) continue;
    size_t i = slot.hash & mask;
    while (slots_[i].hash != 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

void HashIndex::Add(uint64_t hash, std::string_view key, std::string_view value) {
  if (size_ * 10 >= slots_.size() * 6) Grow();
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].hash != 0 && !(slots_[i].hash == hash && slots_[i].key_size == key.size() &&
                                  SameBytes(slots_[i].key, key.data(), key.size()))) {
    i = (i + 1) & mask;
  }
  Slot& slot = slots_[i];
  const uint32_t entry = static_cast<uint32_t>(entries_.size());
  if (entry == kEnd) throw TaskError("more than 4 billion values in one partition: use more partitions");
  entries_.push_back({value.data(), static_cast<uint32_t>(value.size()), kEnd});
  if (slot.hash == 0) {
    slot = {hash, key.data(), static_cast<uint32_t>(key.size()), entry, entry, 1};
    ++size_;
  } else {
    entries_[slot.tail].next = entry;
    slot.tail = entry;
    ++slot.count;
  }
}

const HashIndex::Slot* HashIndex::Find(uint64_t hash, std::string_view key) const {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask; slots_[i].hash != 0; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.hash == hash && slot.key_size == key.size() && SameBytes(slot.key, key.data(), key.size())) return &slot;
  }
  return nullptr;
}

namespace {

/// A stream of frames of keyed records: a shuffle partition or a part of scratch files.
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
    return level < GraceFiles::kLevelsMax &&
           a.coming_bytes() + b.coming_bytes() > static_cast<size_t>(task_.memory_bytes);
  }
  /// Indexes `source`, or from the moment memory is short moves all of it into `overflow`.
  void Load(size_t input, FrameSource& source, int level, std::array<HeldIndex, 2>& held,
            std::array<std::unique_ptr<GraceFiles>, 2>& overflow);
  void Overflow(size_t input, int level, HeldIndex& held, std::unique_ptr<GraceFiles>& overflow);
  void Emit(const std::array<HeldIndex, 2>& held, const GroupUse& use);
  void Note(const std::array<HeldIndex, 2>& held) {
    const int64_t bytes = static_cast<int64_t>(held[0].memory_bytes() + held[1].memory_bytes());
    if (bytes > task_.metrics.peak_memory) task_.metrics.peak_memory = bytes;
  }

  TaskContext& task_;
  std::span<const KeyedInput> inputs_;
};

void Grouping::Overflow(size_t input, int level, HeldIndex& held, std::unique_ptr<GraceFiles>& overflow) {
  if (!overflow) overflow = std::make_unique<GraceFiles>(task_, inputs_[input].shape, level);
  for (const HashIndex::Slot& slot : held.index.slots()) {
    if (slot.hash == 0) continue;
    for (uint32_t e = slot.head; e != HashIndex::kEnd; e = held.index.entry(e).next) {
      overflow->Add(slot.hash, slot.key_view(), held.index.entry(e).view());
    }
  }
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
        held[input].index.Add(HashBytes(key), key, value);
        ++records;
      });
    }
    if (!good) source.Malformed();
    if (level == 0) task_.metrics.shuffle_records_read += records;
    Note(held);
    if (TooLarge(held[0], held[1], level)) {
      for (size_t i = 0; i < inputs_.size(); ++i) Overflow(i, level, held[i], overflow[i]);
      ReturnFreeMemory();
    }
  });
}

void Grouping::Emit(const std::array<HeldIndex, 2>& held, const GroupUse& use) {
  std::vector<std::string_view> values[2];
  const auto collect = [](const HashIndex& index, const HashIndex::Slot& slot, std::vector<std::string_view>& out) {
    out.clear();
    for (uint32_t e = slot.head; e != HashIndex::kEnd; e = index.entry(e).next) out.push_back(index.entry(e).view());
  };
  for (const HashIndex::Slot& slot : held[0].index.slots()) {
    if (slot.hash == 0) continue;
    collect(held[0].index, slot, values[0]);
    values[1].clear();
    if (const HashIndex::Slot* other = held[1].index.Find(slot.hash, slot.key_view())) {
      collect(held[1].index, *other, values[1]);
    }
    use(slot.key_view(), values[0], values[1]);
  }
  for (const HashIndex::Slot& slot : held[1].index.slots()) {
    if (slot.hash == 0 || held[0].index.Find(slot.hash, slot.key_view()) != nullptr) continue;
    collect(held[1].index, slot, values[1]);
    use(slot.key_view(), {}, values[1]);
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

void Grouping::Probe(FrameSource& left, FrameSource& right, int level, const ProbeUse& use) {
  std::array<HeldIndex, 2> held;
  std::array<std::unique_ptr<GraceFiles>, 2> overflow;
  Load(1, right, level, held, overflow);
  const RecordShape shape = inputs_[0].shape;
  left.ForEachFrame([&](std::string_view frame, const std::function<FrameSource::Kept()>&) {
    int64_t records = 0;
    const bool good = ForEachRecord(frame, shape, [&](std::string_view key, std::string_view value) {
      const uint64_t hash = HashBytes(key);
      ++records;
      if (overflow[0]) {
        overflow[0]->Add(hash, key, value);
      } else {
        use(key, value, held[1].index, held[1].index.Find(hash, key));
      }
    });
    if (!good) left.Malformed();
    if (level == 0) task_.metrics.shuffle_records_read += records;
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
  std::vector<std::unique_ptr<ShuffleSource>> sources;
  std::vector<FrameSource*> pointers;
  for (const KeyedInput& input : inputs) {
    sources.push_back(std::make_unique<ShuffleSource>(task, input, partition));
    pointers.push_back(sources.back().get());
  }
  Grouping(task, inputs).Group(pointers, 0, use);
}

void ProbeInputs(TaskContext& task, const KeyedInput& left, const KeyedInput& right, int32_t partition,
                 const ProbeUse& use) {
  const std::array<KeyedInput, 2> inputs{left, right};
  ShuffleSource left_source(task, left, partition), right_source(task, right, partition);
  Grouping(task, inputs).Probe(left_source, right_source, 0, use);
}

}  // namespace fairlead::engine
