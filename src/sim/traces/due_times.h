#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/prefetch.h"

namespace fairlead::sim {

/// Something that is due; equal times in order of kind, then who.
struct Due {
  static constexpr int kKindBits = 3;
  uint64_t key = 0;  // time in ms, then kind
  uint32_t who = 0;
  uint32_t what = 0;
  int64_t at_ms() const { return static_cast<int64_t>(key >> kKindBits); }
  friend auto operator<=>(const Due&, const Due&) = default;
};

/// What is due, earliest first. A hierarchical timing wheel (Varghese and Lauck 1987): a slot for each of the next
/// 131,072 ms, in which most tasks end and all beats fall, and for what is farther away a list for each span of so many
/// milliseconds, which goes into the wheel when its span begins. Adding and taking cost O(log n) of what is due in the
/// same millisecond only, which is sorted when its time comes, and of the spans; adding to the millisecond that is
/// being taken moves what is left of it.
class DueTimes {
 public:
  DueTimes() : heads_(kSlots, kNone), occupied_(kSlots / kWordBits), words_(occupied_.size() / kWordBits) {}

  /// Not before the time of the last Take.
  void Add(const Due& due) {
    if (due.at_ms() <= now_ms_) {
      current_.insert(std::upper_bound(current_.begin(), current_.end(), due, std::greater<>()), due);
    } else if (due.at_ms() - now_ms_ < static_cast<int64_t>(kSlots)) {
      PushToSlot(due);
    } else {
      Span& span = far_[SpanOf(due.at_ms())];
      span.first_ms = std::min(span.first_ms, due.at_ms());
      span.dues.push_back(due);
    }
  }

  /// When the first is due; INT64_MAX when nothing is.
  int64_t Next() const {
    if (!current_.empty()) return current_.back().at_ms();
    return std::min(NextSlot(), far_.empty() ? INT64_MAX : far_.begin()->second.first_ms);
  }

  /// Visits what is now known to be due in the milliseconds after `from_ms`, up to `to_ms`, in any order; both are no
  /// farther than the wheel reaches, and not before the last Take.
  template <class Visit>
  void LookAhead(int64_t from_ms, int64_t to_ms, Visit visit) const {
    ForOccupied(from_ms, to_ms, [&](size_t slot) {
      for (uint32_t at = heads_[slot]; at != kNone; at = entries_[at].next) visit(entries_[at].due);
    });
  }
  /// Brings near what LookAhead would visit first.
  void Prefetch(int64_t from_ms, int64_t to_ms) const {
    ForOccupied(from_ms, to_ms, [&](size_t slot) { base::Prefetch(&entries_[heads_[slot]]); });
  }

  /// Takes out the first that is due at `now_ms`, which never goes back nor beyond Next(); false when none is.
  bool Take(int64_t now_ms, Due& due) {
    if (now_ms > now_ms_) {
      FL_CHECK(now_ms <= Next(), "nothing that is due is passed over");
      now_ms_ = now_ms;
      while (!far_.empty() && far_.begin()->first <= SpanOf(now_ms)) {
        for (const Due& one : far_.begin()->second.dues) PushToSlot(one);
        far_.erase(far_.begin());
      }
      TakeSlot();
      std::sort(current_.begin(), current_.end(), std::greater<>());
    }
    if (current_.empty()) return false;
    due = current_.back();
    current_.pop_back();
    return true;
  }

 private:
  static constexpr size_t kSlots = size_t{1} << 17;
  static constexpr size_t kWordBits = 64;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Entry {
    Due due;
    uint32_t next = kNone;
  };
  struct Span {
    int64_t first_ms = INT64_MAX;
    std::vector<Due> dues;
  };

  static size_t SlotOf(int64_t at_ms) { return static_cast<size_t>(at_ms) % kSlots; }
  static uint64_t BitOf(size_t at) { return uint64_t{1} << at % kWordBits; }
  static int64_t SpanOf(int64_t at_ms) { return at_ms / static_cast<int64_t>(kSlots); }

  template <class Visit>
  void ForOccupied(int64_t from_ms, int64_t to_ms, Visit visit) const {
    for (int64_t ms = from_ms + 1; ms <= to_ms; ++ms) {
      const size_t slot = SlotOf(ms);
      if ((occupied_[slot / kWordBits] & BitOf(slot)) != 0) visit(slot);
    }
  }

  void PushToSlot(const Due& due) {
    if (spare_ == kNone) {
      spare_ = static_cast<uint32_t>(entries_.size());
      entries_.emplace_back();
    }
    const uint32_t at = spare_;
    const size_t slot = SlotOf(due.at_ms());
    spare_ = entries_[at].next;
    entries_[at] = {due, heads_[slot]};
    heads_[slot] = at;
    const size_t word = slot / kWordBits;
    occupied_[word] |= BitOf(slot);
    words_[word / kWordBits] |= BitOf(word);
  }

  void TakeSlot() {
    const size_t slot = SlotOf(now_ms_);
    const size_t word = slot / kWordBits;
    occupied_[word] &= ~BitOf(slot);
    if (occupied_[word] == 0) words_[word / kWordBits] &= ~BitOf(word);
    for (uint32_t at = std::exchange(heads_[slot], kNone); at != kNone;) {
      current_.push_back(entries_[at].due);
      const uint32_t next = std::exchange(entries_[at].next, spare_);
      spare_ = at;
      at = next;
    }
  }

  /// The first bit that is set from `from` on, round the end; `bits` has some.
  static size_t FirstFrom(const std::vector<uint64_t>& bits, size_t from) {
    size_t at = from / kWordBits;
    uint64_t word = bits[at] & (~uint64_t{0} << from % kWordBits);
    while (word == 0) {
      at = (at + 1) % bits.size();
      word = bits[at];
    }
    return at * kWordBits + static_cast<size_t>(std::countr_zero(word));
  }

  /// The first occupied slot after now, round the wheel: O(kSlots / 4096).
  int64_t NextSlot() const {
    if (std::ranges::all_of(words_, [](uint64_t word) { return word == 0; })) return INT64_MAX;
    const size_t start = SlotOf(now_ms_ + 1);
    size_t word = start / kWordBits;
    uint64_t bits = occupied_[word] & (~uint64_t{0} << start % kWordBits);
    if (bits == 0) {
      word = FirstFrom(words_, (word + 1) % occupied_.size());
      bits = occupied_[word];
    }
    const size_t slot = word * kWordBits + static_cast<size_t>(std::countr_zero(bits));
    return now_ms_ + 1 + static_cast<int64_t>((slot - start) % kSlots);
  }

  int64_t now_ms_ = 0;
  std::vector<Due> current_;     // due now, the first one last
  std::map<int64_t, Span> far_;  // by number of the span
  std::vector<uint32_t> heads_;
  std::vector<uint64_t> occupied_;  // a bit for each slot
  std::vector<uint64_t> words_;     // a bit for each word of occupied_ that has some
  std::vector<Entry> entries_;
  uint32_t spare_ = kNone;  // entries not in use, linked by `next`
};

}  // namespace fairlead::sim
