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
  const bool began = budgets_.Begin(books.now);
  next_period_ = budgets_.NextPeriod();
  if (!began) return;
  for (const QueueId queue : books.queues) order_.SetLast(books, queue, false);
  order_.Reopen(books);
  books.gangs.NoteRoom();
}

void FairPolicy::ViewSpending(const Books& books, QueueId queue, QueueView& view) const {
  const std::string& name = books.queues[queue].name;
  if (budgets_.on()) view.budget = budgets_.TextOf(name);
  const PastUse& past = order_.past_use();
  if (past.on() && books.queues[queue].parent.valid() && past.Decays(queue)) {
    view.past_ppm = static_cast<int64_t>(static_cast<unsigned __int128>(past.Projected(queue)) * 1'000'000 /
                                         static_cast<uint64_t>(PastUse::kUnit));
  }
}

}  // namespace fairlead::scheduler::native
