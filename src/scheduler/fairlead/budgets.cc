#include "scheduler/fairlead/budgets.h"

#include <algorithm>

#include "model/resources.h"
#include "scheduler/fairlead/outlook.h"

namespace fairlead::scheduler::native {

using base::Duration;
using base::Instant;

namespace {

int64_t Spend(int64_t spent, int64_t amount, int64_t ms) {
  const __int128 sum = __int128{spent} + __int128{amount} * ms;
  return static_cast<int64_t>(std::clamp<__int128>(sum, 0, INT64_MAX));
}

}  // namespace

template <class Visit>
void Budgets::ForEachAbove(const Books& books, QueueId leaf, Visit visit) const {
  for (QueueId queue = leaf; queue.valid(); queue = books.queues[queue].parent) {
    for (size_t i = 0; i < budgets_.size(); ++i) {
      if (budgets_[i].queue == books.queues[queue].name) visit(i, queue);
    }
  }
}

bool Budgets::Begin(Instant now) {
  bool began = false;
  for (size_t i = 0; i < budgets_.size(); ++i) {
    Row& row = rows_[i];
    if (row.began < 0) row.began = now.ns;
    const int64_t ended = (now.ns - row.began) / budgets_[i].period.ns;
    if (ended == 0) continue;
    row = {row.began + ended * budgets_[i].period.ns, 0};
    began = true;
  }
  return began;
}

Instant Budgets::NextPeriod() const {
  Instant next = Instant::Max();
  for (size_t i = 0; i < budgets_.size(); ++i) next = std::min(next, Instant{rows_[i].began} + budgets_[i].period);
  return next;
}

void Budgets::Started(const Books& books, ContainerSlot slot, Duration run) {
  const Container& container = books.containers[slot];
  const model::Resources& size = books.shapes[container.shape].size;
  Charge charge;
  charge.periods.assign(budgets_.size(), -1);
  if (run == kForever) run = NextPeriod() - books.now;
  charge.ms = run.millis();
  ForEachAbove(books, books.apps[container.app].leaf, [&](size_t i, QueueId) {
    charge.periods[i] = rows_[i].began;
    rows_[i].spent = Spend(rows_[i].spent, size[budgets_[i].type], charge.ms);
  });
  charged_[slot] = std::move(charge);
}

void Budgets::Ended(const Books& books, ContainerSlot slot) {
  const auto at = charged_.find(slot);
  if (at == charged_.end()) return;
  const Container& container = books.containers[slot];
  const model::Resources& size = books.shapes[container.shape].size;
  const int64_t more = (books.now - container.granted).millis() - at->second.ms;
  for (size_t i = 0; i < budgets_.size(); ++i) {
    if (at->second.periods[i] == rows_[i].began) rows_[i].spent = Spend(rows_[i].spent, size[budgets_[i].type], more);
  }
  charged_.erase(at);
}

bool Budgets::Spent(const std::string& queue, bool hard) const {
  for (size_t i = 0; i < budgets_.size(); ++i) {
    if (budgets_[i].hard == hard && budgets_[i].queue == queue && rows_[i].spent >= budgets_[i].amount) return true;
  }
  return false;
}

QueueId Budgets::Exhausted(const Books& books, QueueId leaf) const {
  QueueId found;
  ForEachAbove(books, leaf, [&](size_t i, QueueId queue) {
    if (!found.valid() && budgets_[i].hard && rows_[i].spent >= budgets_[i].amount) found = queue;
  });
  return found;
}

std::string Budgets::TextOf(const std::string& queue) const {
  const auto hours = [](int64_t amount) { return std::to_string(amount / 3'600'000); };
  for (size_t i = 0; i < budgets_.size(); ++i) {
    if (budgets_[i].queue != queue) continue;
    return hours(rows_[i].spent) + " of " + hours(budgets_[i].amount) + " " +
           std::string(model::ResourceTypes::Name(budgets_[i].type)) + "-hours of this period of " +
           std::to_string(budgets_[i].period.millis() / 1000) + " s are used";
  }
  return "";
}

void Budgets::Mix(base::StateHasher& hash) const {
  for (const Row& row : rows_) {
    hash.Mix(static_cast<uint64_t>(row.began));
    hash.Mix(static_cast<uint64_t>(row.spent));
  }
  for (const auto& [slot, charge] : charged_) {
    hash.Mix(slot.value);
    hash.Mix(static_cast<uint64_t>(charge.ms));
  }
}

}  // namespace fairlead::scheduler::native
