#include <algorithm>
#include <set>

#include "base/check.h"
#include "scheduler/books/core.h"
#include "scheduler/books/placement_rules.h"
#include "scheduler/books/queue_names.h"
#include "scheduler/shared/most_queues.h"

// Applications: into which queue, whether they may run, their attempts, moves and ends.

namespace fairlead::scheduler::native {

using model::Refusal;

base::Result<std::string, model::Refused> Core::PlaceApp(const ev::AppAdded& event) const {
  const Queues& queues = books_.queues;
  const auto known = [&queues](std::string_view name) {
    const QueueId id = queues.Find(name);
    return id.valid() ? &queues[id] : nullptr;
  };
  QueueLookup lookup;
  lookup.exists = [known](std::string_view name) { return known(name) != nullptr; };
  lookup.leaf = [known](std::string_view name) { return known(name) && known(name)->leaf; };
  lookup.configured = [known](std::string_view name) { return known(name) && known(name)->configured; };
  if (!event.place) {
    const std::string name = event.queue.empty() ? "root.default" : event.queue;
    auto full = FullQueueName(name);
    if (!full) return model::Refused{Refusal::kBadQueueName, {name, full.error().message}, {}, {}};
    return std::move(full).value();
  }
  const PlacementDefaults defaults{books_.config.undeclared_queues, books_.config.user_as_default_queue};
  const PlacementRequest request{event.queue, event.user, event.groups};
  return PlaceByRules(queues.tree().placement, defaults, request, lookup);
}

namespace {
/// The type that `size` needs and the leaf, or a queue above it, may never have any amount of; "": none.
std::string LackedType(const Queues& queues, QueueId leaf, const Resources& size) {
  for (QueueId at = leaf; at.valid(); at = queues[at].parent) {
    if (!queues[at].max_setting) continue;
    for (const auto& [type, amount] : queues[at].max_setting->absolute) {
      const int known = model::ResourceTypes::Find(type);
      if (amount == 0 && known >= 0 && size[static_cast<size_t>(known)] > 0) return type;
    }
  }
  return "";
}

size_t CountOf(const Queues& queues) {
  size_t count = 0;
  for ([[maybe_unused]] const QueueId one : queues) ++count;
  return count;
}
}  // namespace

void Core::On(const ev::AppAdded& event) {
  FL_CHECK(event.app.valid(), "an application needs an index");
  const auto placed = PlaceApp(event);
  if (!placed) return Refuse(event.token, placed.error());
  const std::string& name = placed.value();
  if (!books_.queues.Find(name).valid() && !event.recovering) {
    if (!event.place && !books_.config.undeclared_queues) {
      return Refuse(event.token, {Refusal::kUnknownQueue, {name}, {}, {}});
    }
    if (CountOf(books_.queues) >= kMostQueues) {
      return Refuse(event.token, {Refusal::kBadQueueName, {name, kTooManyQueues}, {}, {}});
    }
  }
  const QueueId leaf = books_.queues.LeafFor(name);
  TellTree();
  if (!leaf.valid()) return Refuse(event.token, {Refusal::kNotALeaf, {name}, {}, {}});
  for (const model::Ask& ask : event.master_asks) {
    model::Refused refused = CheckSize(leaf, ask.capability);
    if (const std::string type = LackedType(books_.queues, leaf, ask.capability); !refused && !type.empty()) {
      refused = {Refusal::kQueueLacksType, {ToString(event.id), books_.queues[leaf].name, type}, {}, {}};
    }
    if (!refused || event.recovering) continue;
    books_.queues.DropIfUnused(leaf);
    TellTree();
    return Refuse(event.token, std::move(refused));
  }
  const UserId user = EnterUser({event.user});
  const AppSlot slot = books_.apps.Add(event, leaf, user, EnterGroups(event.groups));
  books_.queues.Enter(leaf);
  policy_->AppCame(slot, event);
  policy_->AppEntered(books_, slot);
  RunOrWait(slot, event.recovering || MayRun(books_.apps[slot]));
  Emit(ev::AppAccepted{event.app, books_.queues[leaf].name, books_.apps[slot].runnable, event.token});
}

UserId Core::EnterUser(const UserName& name) {
  return books_.users.Enter(name, books_.queues.UserLimit(name), books_.queues.UserMaximum(name));
}

void Core::SetUserMaxima() {
  const bool counted = books_.users.counts_use();
  books_.users.SetMaxima(books_.queues.LimitsUsers(),
                         [this](const UserName& user) { return books_.queues.UserMaximum(user); });
  if (counted || !books_.users.counts_use()) return;
  for (const AppSlot slot : books_.apps) {
    const App& app = books_.apps[slot];
    ForHolders(app, [&](UserId holder) { books_.users.AddUse(holder, app.used); });
  }
}

std::vector<UserId> Core::EnterGroups(const std::vector<std::string>& groups) {
  std::vector<UserId> entered;
  for (const std::string& group : std::set<std::string>(groups.begin(), groups.end())) {
    entered.push_back(EnterUser({group, true}));
  }
  return entered;
}

bool Core::MayRun(const App& app) const {
  bool may = books_.queues.MayRun(app.leaf);
  ForHolders(app, [&](UserId holder) { may = may && books_.users.MayRun(holder); });
  return may;
}

void Core::RunOrWait(AppSlot slot, bool run) {
  const App& app = books_.apps[slot];
  if (!run) {
    books_.queues.Wait(app.leaf, app.index);
    ForHolders(app, [&](UserId holder) { books_.users.Wait(holder, app.index); });
    return;
  }
  books_.apps.SetRunnable(slot, true);
  books_.gangs.NoteRoom();
  ForHolders(app, [&](UserId holder) { books_.users.Start(holder); });
  books_.queues.Start(app.leaf);
  policy_->AppChanged(books_, slot);
  policy_->QueueChanged(books_, app.leaf);
}

void Core::StopRunning(AppSlot slot) {
  const App& app = books_.apps[slot];
  if (!app.runnable) {
    books_.queues.StopWaiting(app.leaf, app.index);
    ForHolders(app, [&](UserId holder) { books_.users.StopWaiting(holder, app.index); });
    return;
  }
  books_.apps.SetRunnable(slot, false);
  ForHolders(app, [&](UserId holder) { books_.users.Stop(holder); });
  if (books_.queues.Stop(app.leaf)) policy_->MastersFreed(books_);
}

/// Applications that wait because a limit on running ones was reached start in order of submission, as far as the
/// limits now allow.
void Core::RunWaiting() {
  std::vector<const std::set<AppIndex>*> lists = books_.queues.TakeReopened();
  for (const UserId user : books_.users.TakeReopened()) {
    if (!books_.users[user].waiting.empty()) lists.push_back(&books_.users[user].waiting);
  }
  AppIndex next{0};
  for (;;) {
    AppIndex first;
    for (const auto* list : lists) {
      const auto it = list->lower_bound(next);
      if (it != list->end()) first = std::min(first, *it);
    }
    if (!first.valid()) return;
    next = AppIndex{first.value + 1};
    const AppSlot slot = books_.apps.Find(first);
    const App& app = books_.apps[slot];
    if (!MayRun(app)) continue;
    books_.queues.StopWaiting(app.leaf, app.index);
    ForHolders(app, [&](UserId holder) { books_.users.StopWaiting(holder, app.index); });
    RunOrWait(slot, true);
  }
}

void Core::On(const ev::AttemptAdded& event) {
  const AppSlot slot = books_.apps.Find(event.app);
  if (!slot.valid()) return;  // it was refused at a recovery, in the same step
  books_.apps.StartAttempt(slot, event.attempt);
  if (!event.transfer_containers) EndContainers(slot, false);
  policy_->AppChanged(books_, slot);
  policy_->QueueChanged(books_, books_.apps[slot].leaf);
}

void Core::On(const ev::AttemptRemoved& event) {
  const AppSlot slot = books_.apps.Find(event.app);
  if (slot.valid() && books_.apps[slot].attempt == event.attempt) EndAttempt(slot, event.keep_containers);
}

void Core::EndAttempt(AppSlot slot, bool keep_containers) {
  books_.apps.EndAttempt(slot);
  DropAsks(slot);
  EndContainers(slot, keep_containers);
  policy_->AppChanged(books_, slot);
  policy_->QueueChanged(books_, books_.apps[slot].leaf);
}

void Core::EndContainers(AppSlot slot, bool keep_running) {
  for (ContainerSlot at = books_.apps[slot].containers.first(); at.valid();) {
    const Container& container = books_.containers[at];
    const ContainerSlot next = container.app_next;
    const bool kept = keep_running && container.launched && !container.is_master;
    if (!kept) Finish(at, model::kExitAborted, "Container of a completed application");
    at = next;
  }
}

void Core::On(const ev::AppRemoved& event) {
  const AppSlot slot = books_.apps.Find(event.app);
  if (!slot.valid()) return;  // it was refused
  EndAttempt(slot, false);
  StopRunning(slot);
  policy_->AppLeaves(books_, slot);
  const QueueId leaf = books_.apps[slot].leaf;
  books_.queues.Leave(leaf);
  ForHolders(books_.apps[slot], [&](UserId holder) { books_.users.Leave(holder); });
  for (const PlaceId place : books_.apps[slot].excluded) books_.places.Forget(place);
  books_.apps.Remove(slot);
  policy_->QueueChanged(books_, leaf);
  books_.queues.DropIfUnused(leaf);
  TellTree();
}

void Core::On(const ev::AppPriority& event) {
  const AppSlot slot = SlotOf(event.app);
  books_.apps.SetPriority(slot, event.priority);
  policy_->AppChanged(books_, slot);
  policy_->QueueChanged(books_, books_.apps[slot].leaf);
  Emit(ev::PriorityAnswered{event.token});
}

model::Refused Core::CheckMove(const App& app, QueueId target, const std::string& name) const {
  if (!target.valid()) return {Refusal::kMoveToNoLeaf, {name}, {}, {}};
  const Queues& queues = books_.queues;
  std::set<QueueId> above;
  for (QueueId q = app.leaf; q.valid(); q = queues[q].parent) above.insert(q);
  for (QueueId q = target; !above.contains(q); q = queues[q].parent) {
    if (app.runnable && queues[q].running >= queues[q].max_running) {
      return {Refusal::kMoveQueueFull, {name, queues[q].name}, {}, {}};
    }
    if (!(queues[q].used + app.used).FitsIn(queues[q].high)) {
      return {Refusal::kMoveQueueMaximum, {name, queues[q].name}, {}, {}};
    }
  }
  return {};
}

void Core::On(const ev::AppMoved& event) {
  const AppSlot slot = SlotOf(event.app);
  const auto full = FullQueueName(event.queue);
  const QueueId found = full ? books_.queues.Find(full.value()) : QueueId{};
  const QueueId target = found.valid() && books_.queues[found].leaf ? found : QueueId{};
  if (model::Refused refused = CheckMove(books_.apps[slot], target, event.queue)) {
    return Refuse(event.token, std::move(refused));
  }
  if (target != books_.apps[slot].leaf) MoveTo(slot, target);
  Emit(ev::MoveAnswered{event.app, event.token, books_.queues[books_.apps[slot].leaf].name});
}

void Core::MoveTo(AppSlot slot, QueueId target) {
  const App& app = books_.apps[slot];
  Queues& queues = books_.queues;
  const QueueId source = app.leaf;
  StopRunning(slot);
  policy_->AppLeaves(books_, slot);
  queues.AddUsage(source, -app.used);
  policy_->UsageChanged(books_, source, true);
  AddDemand(source, -app.used - app.pending);
  if (!app.master_used.IsZero()) ChangeMasters(source, -app.master_used, -1);
  queues.Leave(source);
  policy_->QueueChanged(books_, source);
  books_.apps.SetLeaf(slot, target);
  queues.Enter(target);
  policy_->AppEntered(books_, slot);
  AddDemand(target, app.used + app.pending);
  queues.AddUsage(target, app.used);
  policy_->UsageChanged(books_, target, false);
  if (!app.master_used.IsZero()) ChangeMasters(target, app.master_used, 1);
  RunOrWait(slot, MayRun(app));
  policy_->AppChanged(books_, slot);
  policy_->QueueChanged(books_, target);
  queues.DropIfUnused(source);
  TellTree();
}

/// `count` masters more in the leaf (less, when it is negative), which use `size` more.
void Core::ChangeMasters(QueueId leaf, const Resources& size, int32_t count) {
  books_.queues.AddMasters(leaf, size, count);
  if (count < 0) policy_->MastersFreed(books_);
}

void Core::On(const ev::QueuesReloaded& event) {
  if (const base::Status status = books_.queues.CheckReload(event.tree); !status) {
    return Refuse(event.token, {Refusal::kBadQueues, {status.error().message}, {}, {}});
  }
  books_.queues.ApplyTree(event.tree);
  books_.queues.LeafFor("root.default");
  books_.queues.Reopen(kRoot);
  books_.users.SetLimits([this](const UserName& user) { return books_.queues.UserLimit(user); });
  TellTree();
  total_changed_ = true;
  Emit(ev::ReloadAnswered{event.token});
}

}  // namespace fairlead::scheduler::native
