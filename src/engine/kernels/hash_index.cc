#include "engine/kernels/hash_index.h"

#include "engine/records/errors.h"

namespace fairlead::engine {

void HashIndex::Add(std::string_view key, std::string_view value) {
  Waiting& waiting = waiting_[waiting_count_];
  waiting = {TableKey(key), value};
  keys_.PrefetchIndex(waiting.key.hash);
  if (++waiting_count_ == kWaiting) Drain();
}

void HashIndex::Drain() {
  for (size_t i = 0; i < waiting_count_; ++i) keys_.TouchEntry(waiting_[i].key.hash);
  for (size_t i = 0; i < waiting_count_; ++i) {
    const auto& [key, value] = waiting_[i];
    const uint32_t number = keys_.Upsert(
        key, [](Values& values) { ++values.count; },
        [] {
          return Values{0, 1};
        });
    entries_.push_back({value.data(), static_cast<uint32_t>(value.size()), number});
  }
  waiting_count_ = 0;
  if (entries_.size() > UINT32_MAX - kWaiting) {
    throw TaskError("more than 4 billion values in one partition: use more partitions");
  }
}

void HashIndex::Arrange() {
  Drain();
  uint32_t place = 0;
  keys_.ForEach([&](Key& key) {
    key.value.first = place;
    place += key.value.count;
  });
  if (keys_.size() == entries_.size()) return;  // entries stand in the order of their keys
  order_.resize(entries_.size());
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    if (e + kAhead < entries_.size()) __builtin_prefetch(&keys_.At(entries_[e + kAhead].key), 1);
    order_[keys_.At(entries_[e].key).value.first++] = e;
  }
  keys_.ForEach([](Key& key) { key.value.first -= key.value.count; });
}

void HashIndex::Clear() {
  keys_.Clear();
  std::vector<Entry>().swap(entries_);  // gives the memory back
  std::vector<uint32_t>().swap(order_);
  waiting_count_ = 0;
}

}  // namespace fairlead::engine
