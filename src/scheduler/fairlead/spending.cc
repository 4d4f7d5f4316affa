#include "scheduler/fairlead/policy.h"

// Budgets of queues: who is charged, who comes last, who gets no more.

namespace fairlead::scheduler::native {

void FairPolicy::Charge(const Books& books, ContainerSlot slot, bool started) {
  if (started) {
    budgets_.Started(books, slot, backfill_.RunOf(In(books), books.containers[slot]).value_or(kForever));
  } else {
    budgets_.Ended(books, slot);
  }
  for (QueueId queue = books.apps[books.containers[slot].app].leaf; queue.valid(); queue = books.queues[queue].parent) {
    order_.SetLast(books, queue, budgets_.Spent(books.queues[queue].name, false));
  }
}

void FairPolicy::BeginPeriods(Books& books) {
  next_period_ = budgets_.NextPeriod(books.now);
  if (!budgets_.Begin(books.now)) return;
  for (const QueueId queue : books.queues) order_.SetLast(books, queue, false);
  order_.Reopen(books);
  books.gangs.NoteRoom();
}

Spendings FairPolicy::SpendingsOf(const Books& books) const {
  Spendings all;
  const PastUse& past = order_.past_use();
  if (!budgets_.on() && !past.on()) return all;
  for (const QueueId id : books.queues) {
    const Queue& queue = books.queues[id];
    Spending one;
    if (budgets_.on()) one.budget = budgets_.TextOf(queue.name);
    if (past.on() && queue.parent.valid() && past.Decays(id)) {
      one.past_ppm = static_cast<int64_t>(static_cast<unsigned __int128>(past.Projected(id)) * 1'000'000 /
                                          static_cast<uint64_t>(PastUse::kUnit));
    }
    if (one.past_ppm || !one.budget.empty()) all.emplace(queue.name, std::move(one));
  }
  return all;
}

}  // namespace fairlead::scheduler::native

namespace fairlead::scheduler {

Spendings SpendingsOf(const Scheduler& scheduler) {
  const auto* core = dynamic_cast<const native::Core*>(&scheduler);
  const auto* policy = core ? dynamic_cast<const native::FairPolicy*>(&core->policy()) : nullptr;
  return policy ? policy->SpendingsOf(core->books()) : Spendings{};
}

}  // namespace fairlead::scheduler
