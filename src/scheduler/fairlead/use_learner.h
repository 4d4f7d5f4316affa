#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "scheduler/books/books.h"
#include "scheduler/books/kinds.h"
#include "scheduler/fairlead/config.h"

namespace fairlead::scheduler::native {

/// Thousandths of cores, and MiB.
struct UseAmounts {
  int64_t milli_cores = 0;
  int64_t mib = 0;
  FL_STATE(milli_cores, mib)
};

/// What containers of a kind were measured to use (wish learned-use). A kind is told by the user, the application's
/// name without digits, the ask's priority and size. Nobody is trusted far:
/// - a user's jobs teach what is expected of the same user's jobs, and no more rows than KindRows gives them;
/// - a node speaks of containers that the books have on it; more than was booked counts as what was booked;
/// - cores are not learned on a machine that is nearly full: there nobody gets what he would use;
/// - whatever a node told, at least `least_percent` of the booking is expected.
/// O(log rows) a container measured, O(rows) where a row is given up for another one.
class UseLearner {
 public:
  UseLearner(const LearnedUseConfig& config, base::Duration settle) : config_(config), settle_(settle) {}

  void Came(AppSlot slot, const std::string& user, const std::string& name);
  /// The kind of containers of the application by all that can tell one, whatever is configured.
  Kind FullKindOf(AppSlot slot, int32_t priority, const model::Resources& size) const {
    return {named_[slot.value].user, named_[slot.value].name, priority, size.amount};
  }
  /// A node has told of its containers.
  void Take(const Books& books, const model::scheduler::NodeMeasured& event);
  /// What a container of the application and shape is expected to use; no more than it books, and all of that while
  /// too little is known.
  UseAmounts Expected(const Books& books, AppSlot slot, int32_t priority, const model::Resources& size) const;
  UseAmounts ExpectedOf(const Books& books, const Container& container) const;

  /// The rows that were learned since they were stored, at most kStored a time, once in kStoreEvery.
  std::vector<model::LearnedUse> TakeUnstored(base::Instant now);
  /// Rows of an earlier run; those that make no sense are passed over.
  void Recall(const model::scheduler::UseRecalled& event, base::Instant now);

  std::string Check() const { return rows_.Check(); }
  void Mix(base::StateHasher& hash) const;
  FL_STATE_PART(named_, rows_, stored_at_)

 private:
  static constexpr base::Duration kStoreEvery = base::Duration::Seconds(60);
  static constexpr size_t kStored = 64;

  struct Row {
    bool unstored = false;
    base::Instant halved;  // older measures weigh less since then
    model::LearnedUse use;
    FL_STATE(unstored, halved, use)
  };
  struct Naming {
    std::string user;
    std::string name;
    FL_STATE(user, name)
  };

  Kind KindOf(AppSlot slot, int32_t priority, const model::Resources& size) const;
  static Kind KindOf(const model::LearnedUse& use);
  Row& RowOf(const Kind& kind, base::Instant now);
  int64_t HalvingsOf(const Row& row, base::Instant now) const;
  void Age(Row& row, base::Instant now);

  LearnedUseConfig config_;
  base::Duration settle_;
  std::vector<Naming> named_;  // by AppSlot
  KindRows<Row> rows_;         // by LearnedUse::row
  base::Instant stored_at_{};
};

}  // namespace fairlead::scheduler::native
