#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "scheduler/books/books.h"
#include "scheduler/fairlead/config.h"

namespace fairlead::scheduler::native {

/// Budgets of queues (fairlead.scheduler.fairness.budgets): so much of a resource, times how long it is used, in each
/// period; periods follow each other from the first step on. A container is charged when it starts, in that
/// period, for as long as nine of ten of its kind run (of an unknown kind: for the rest of the period), and put right
/// when it ends. So where a hard budget refuses once it is spent, it is over-run by one grant at most, as far as
/// containers run as expected. Who has spent a soft budget comes after all siblings.
class Budgets {
 public:
  explicit Budgets(const FairnessConfig& config) : budgets_(config.budgets), rows_(config.budgets.size()) {}

  bool on() const { return !budgets_.empty(); }
  /// A period has ended by now; true: of some budget, and all that was spent of it is forgotten.
  bool Begin(base::Instant now);
  /// When the next period of some budget begins, once one has begun; Instant::Max(): there is none.
  base::Instant NextPeriod() const;
  /// `run`: how long the container is expected to; kForever: nobody knows. O(budgets x depth).
  void Started(const Books& books, ContainerSlot container, base::Duration run);
  void Ended(const Books& books, ContainerSlot container);

  bool Spent(const std::string& queue, bool hard) const;
  /// The queue, or one above it, whose hard budget is spent; not valid: none. O(budgets x depth).
  QueueId Exhausted(const Books& books, QueueId leaf) const;
  /// FindLimit of the books, and a hard budget that is spent as its queue's maximum.
  Limit FindLimit(const Books& books, const App& app, const model::Resources& size, bool master) const {
    if (on()) {
      if (const QueueId spent = Exhausted(books, app.leaf); spent.valid())
        return {Limit::Kind::kQueueMaximum, spent, {}};
    }
    return books.FindLimit(app, size, master);
  }
  /// "12 of 100 vcores-hours of this period of 86400 s are used", for people; empty: the queue has no budget.
  std::string TextOf(const std::string& queue) const;
  int64_t spent(size_t budget) const { return rows_[budget].spent; }

  void Mix(base::StateHasher& hash) const;
  FL_STATE_PART(rows_, charged_)

 private:
  struct Row {
    int64_t began = -1;  // this period, in nanoseconds of the steps' clock; -1: none has
    int64_t spent = 0;   // amount x milliseconds
    FL_STATE(began, spent)
  };
  struct Charge {
    int64_t ms = 0;
    std::vector<int64_t> periods;  // by budget: when that began in which it was charged; -1: none
    FL_STATE(ms, periods)
  };
  template <class Visit>
  void ForEachAbove(const Books& books, QueueId leaf, Visit visit) const;

  std::vector<BudgetConfig> budgets_;
  std::vector<Row> rows_;
  std::map<ContainerSlot, Charge> charged_;
};

}  // namespace fairlead::scheduler::native
