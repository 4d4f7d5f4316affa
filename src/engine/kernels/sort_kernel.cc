#include "engine/kernels/sort_kernel.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "engine/io/files.h"
#include "engine/records/errors.h"
#include "engine/shuffle/block_reader.h"

namespace fairlead::engine {

namespace {

struct Item {
  uint64_t prefix;
  const char* record;
  uint32_t size;
};

class Sorter {
 public:
  Sorter(TaskContext& task, int32_t shuffle, int32_t partition, uint32_t fixed, const SortOrder& order)
      : task_(task), order_(order), fixed_(fixed), reader_(task, shuffle, partition) {}
  ~Sorter() {
    for (const std::string& run : runs_) ::unlink(run.c_str());
  }
  void Run(const std::function<void(std::string_view)>& use);

 private:
  struct RunReader;
  bool Less(const Item& a, const Item& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    if (order_.less == nullptr) return false;
    return order_.descending ? order_.less({b.record, b.size}, {a.record, a.size})
                             : order_.less({a.record, a.size}, {b.record, b.size});
  }
  void Load(std::string_view frame);
  void SortItems();
  void SortBucket(std::span<Item> items, Item* spare) const;
  void WriteRun();
  void Merge(const std::function<void(std::string_view)>& use);
  /// The size of a file's buffer: this part of the task's memory.
  size_t BufferBytes(size_t part, size_t most) const {
    return std::clamp<size_t>(static_cast<size_t>(task_.memory_bytes) / part, 16 << 10, most);
  }
  /// With the items three times: twice as many places while the vector grows, or their sorted copy beside spare places.
  size_t memory_bytes() const { return held_bytes_ + 3 * items_.size() * sizeof(Item); }

  TaskContext& task_;
  const SortOrder& order_;
  const uint32_t fixed_;
  BlockReader reader_;
  std::vector<Item> items_;
  std::vector<std::shared_ptr<const void>> owners_;
  size_t held_bytes_ = 0;
  std::vector<std::string> runs_;
};

void Sorter::Load(std::string_view frame) {
  owners_.push_back(reader_.Keep());
  held_bytes_ += reader_.kept_bytes();
  Cursor in(frame);
  std::string_view record;
  while (!in.done()) {
    if (!TakePart(in, fixed_, record)) break;
    const uint64_t prefix = order_.prefix(record);
    items_.push_back({order_.descending ? ~prefix : prefix, record.data(), static_cast<uint32_t>(record.size())});
  }
  if (in.failed) reader_.Malformed();
}

/// Sorts in place, with as many spare places: by 8 bits of the prefix at a time, beginning where the items differ, so
/// that keys of few symbols (text, digits) spread too; small buckets by comparison. Equal prefixes are compared whole.
void Sorter::SortBucket(std::span<Item> items, Item* spare) const {
  constexpr size_t kSmall = 48;
  const auto less = [this](const Item& a, const Item& b) { return Less(a, b); };
  if (items.size() <= kSmall) {
    std::sort(items.begin(), items.end(), less);
    return;
  }
  uint64_t low = UINT64_MAX, high = 0;
  for (const Item& item : items) {
    low = std::min(low, item.prefix);
    high = std::max(high, item.prefix);
  }
  if (low == high) {
    if (order_.less != nullptr) std::sort(items.begin(), items.end(), less);
    return;
  }
  const int shift = std::max(0, static_cast<int>(std::bit_width(high - low)) - 8);
  std::array<uint32_t, 256> ends{};
  for (const Item& item : items) ++ends[(item.prefix - low) >> shift];
  for (uint32_t sum = 0; uint32_t & end : ends) end = std::exchange(sum, sum + end);
  for (const Item& item : items) spare[ends[(item.prefix - low) >> shift]++] = item;
  std::copy_n(spare, items.size(), items.begin());
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    if (end - begin > 1) SortBucket(items.subspan(begin, end - begin), spare);
    begin = end;
  }
}

/// The first pass spreads over as many buckets as keep their counters in the cache; they are then sorted one by one.
void Sorter::SortItems() {
  constexpr size_t kLarge = 1 << 14;
  std::vector<Item> spare(items_.size());
  if (items_.size() < kLarge) return SortBucket(items_, spare.data());
  const auto [low, high] = std::minmax_element(items_.begin(), items_.end(),
                                               [](const Item& a, const Item& b) { return a.prefix < b.prefix; });
  const uint64_t first = low->prefix, range = high->prefix - first;
  const int bits = std::min(static_cast<int>(std::bit_width(items_.size())) - 5, 16);
  const int shift = std::max(0, static_cast<int>(std::bit_width(range)) - bits);
  std::vector<uint32_t> ends((range >> shift) + 1, 0);
  for (const Item& item : items_) ++ends[(item.prefix - first) >> shift];
  for (uint32_t sum = 0; uint32_t & end : ends) end = std::exchange(sum, sum + end);
  for (const Item& item : items_) spare[ends[(item.prefix - first) >> shift]++] = item;
  items_.swap(spare);
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    if (end - begin > 1) SortBucket(std::span(items_).subspan(begin, end - begin), spare.data());
    begin = end;
  }
}

void Sorter::WriteRun() {
  SortItems();
  runs_.push_back(task_.ScratchPath());
  const FileDescriptor file = CreateFile(runs_.back(), 0600);
  const size_t flush_bytes = BufferBytes(32, 1 << 20);
  Buffer out(flush_bytes + flush_bytes / 8);
  for (const Item& item : items_) {
    out.Append(&item.size, sizeof item.size);
    out.Append(item.record, item.size);
    if (out.size() >= flush_bytes) {
      WriteAll(file.get(), runs_.back(), out.view());
      task_.metrics.spilled_bytes += static_cast<int64_t>(out.size());
      out.Clear();
    }
  }
  WriteAll(file.get(), runs_.back(), out.view());
  task_.metrics.spilled_bytes += static_cast<int64_t>(out.size());
  std::vector<Item>().swap(items_);  // its room counts against the next run
  owners_.clear();
  held_bytes_ = 0;
  ReturnFreeMemory();
}

/// Reads one run record by record through a buffer.
struct Sorter::RunReader {
  size_t buffer_bytes = 0;
  FileDescriptor file;
  std::string path;
  Buffer buffer;
  size_t at = 0;
  uint64_t offset = 0;
  Item item{};

  bool Fill(size_t n) {
    if (buffer.size() - at >= n) return true;
    const size_t had = buffer.size() - at;
    if (had != 0) std::memmove(buffer.data(), buffer.data() + at, had);
    buffer.Resize(std::max(n, buffer_bytes));
    const size_t got = ReadAt(file.get(), path, offset, buffer.data() + had, buffer.size() - had);
    buffer.Truncate(had + got);
    offset += got;
    at = 0;
    return buffer.size() >= n;
  }
  bool Next(const SortOrder& order) {
    uint32_t size = 0;
    if (!Fill(sizeof size)) return false;
    std::memcpy(&size, buffer.data() + at, sizeof size);
    if (!Fill(sizeof size + size)) throw TaskError("spill file " + path + " became shorter");
    const std::string_view record(buffer.data() + at + sizeof size, size);
    const uint64_t prefix = order.prefix(record);
    item = {order.descending ? ~prefix : prefix, record.data(), size};
    at += sizeof size + size;
    return true;
  }
};

void Sorter::Merge(const std::function<void(std::string_view)>& use) {
  std::vector<RunReader> readers(runs_.size());
  std::vector<RunReader*> heap;
  for (size_t i = 0; i < runs_.size(); ++i) {
    readers[i].file = OpenForReading(runs_[i]);
    readers[i].path = runs_[i];
    readers[i].buffer_bytes = BufferBytes(4 * runs_.size(), 256 << 10);
    if (readers[i].Next(order_)) heap.push_back(&readers[i]);
  }
  const auto later = [this](const RunReader* a, const RunReader* b) { return Less(b->item, a->item); };
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    RunReader* const reader = heap.back();
    use({reader->item.record, reader->item.size});
    if (reader->Next(order_)) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      heap.pop_back();
    }
  }
}

void Sorter::Run(const std::function<void(std::string_view)>& use) {
  std::string_view frame;
  while (reader_.NextFrame(frame)) {
    const size_t before = items_.size();
    Load(frame);
    task_.metrics.shuffle_records_read += static_cast<int64_t>(items_.size() - before);
    task_.metrics.peak_memory = std::max(task_.metrics.peak_memory, static_cast<int64_t>(memory_bytes()));
    if (memory_bytes() > static_cast<size_t>(task_.memory_bytes)) WriteRun();
  }
  if (!runs_.empty()) {
    if (!items_.empty()) WriteRun();
    Merge(use);
    return;
  }
  SortItems();
  constexpr size_t kAhead = 16;  // records lie anywhere in the blocks: fetch their lines early
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i + kAhead < items_.size()) {
      __builtin_prefetch(items_[i + kAhead].record);
      __builtin_prefetch(items_[i + kAhead].record + 64);
    }
    use({items_[i].record, items_[i].size});
  }
}

}  // namespace

void SortShuffle(TaskContext& task, int32_t shuffle, int32_t partition, uint32_t fixed, const SortOrder& order,
                 const std::function<void(std::string_view record)>& use) {
  Sorter(task, shuffle, partition, fixed, order).Run(use);
}

}  // namespace fairlead::engine
