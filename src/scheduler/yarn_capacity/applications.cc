#include "scheduler/yarn_capacity/applications.h"

#include <algorithm>

#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/asks.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/dynamic.h"
#include "scheduler/yarn_capacity/managed.h"
#include "scheduler/yarn_capacity/placement.h"
#include "scheduler/yarn_capacity/priorities.h"
#include "scheduler/yarn_capacity/runnability.h"
#include "scheduler/yarn_capacity/setup.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using model::Refusal;

namespace {

std::string IsNotRunning(const Queue& queue) {
  return "Queue " + queue.path + " is " + std::string(EnumName(queue.state)) +
         ". Cannot accept submission of application; wait until its state is RUNNING, or set it";
}

std::string HasNoRoomFor(const Queue& leaf, int32_t apps, const std::string& user, int32_t most, const char* key) {
  return "Queue " + leaf.path + " already has " + std::to_string(apps) + " applications" +
         (user.empty() ? "" : " from user " + user) + " of at most " + std::to_string(most) +
         ", cannot accept submission of application; wait until one ends, or raise " + key;
}

std::string ParentRefuses(const Queue& parent, const std::string& name) {
  if (name == parent.name) return "Cannot submit application to non-leaf queue: " + parent.path;
  return parent.state == CapacityQueueState::kRunning ? "" : IsNotRunning(parent);
}

/// AbstractLeafQueue.validateSubmitApplication: why not; empty: it takes the application.
std::string LeafRefuses(Books& books, QueueId id, const std::string& user, const std::string& name) {
  Queue& leaf = books.queues[id];
  if (leaf.state != CapacityQueueState::kRunning) return IsNotRunning(leaf);
  const bool counts = !IsMadeByManaged(books, leaf);  // leaves that may have no share take all
  if (counts && leaf.apps() >= leaf.own.max_apps) {
    return HasNoRoomFor(leaf, leaf.apps(), "", leaf.own.max_apps, "its capacity or maximum-applications");
  }
  if (const int32_t apps = leaf.own.users.Make(user).apps(); counts && apps >= leaf.own.max_apps_per_user) {
    return HasNoRoomFor(leaf, apps, user, leaf.own.max_apps_per_user,
                        "its minimum-user-limit-percent, user-limit-factor or maximum-applications");
  }
  return ParentRefuses(books.queues[leaf.parent], name);
}

void CountSubmission(Books& books, QueueId leaf) {
  books.queues[leaf].last_submission_ms = books.now_ms;
  for (QueueId at = books.queues[leaf].parent; at.valid(); at = books.queues[at].parent) {
    ++books.queues[at].apps_below;
    books.queues[at].last_submission_ms = books.now_ms;
  }
}

/// LeafQueue.submitApplication and its parents': counts, or changes nothing and says why.
std::string Submit(Books& books, QueueId id, const std::string& user, const std::string& name) {
  if (std::string refused = LeafRefuses(books, id, user, name); !refused.empty()) return refused;
  books.queues[id].last_submission_ms = books.now_ms;
  for (QueueId at = books.queues[id].parent; at.valid(); at = books.queues[at].parent) {
    if (std::string refused = ParentRefuses(books.queues[at], name); !refused.empty()) return refused;
  }
  CountSubmission(books, id);
  return "";
}

/// CapacityScheduler.addApplicationOnRecovery: it was taken before, so no limit counts; a stopped queue drains again.
void SubmitAgain(Books& books, QueueId leaf, const std::string& user) {
  books.queues[leaf].own.users.Make(user);
  CountSubmission(books, leaf);
  books.queues.ForEachUp(leaf, [](Queue& queue) {
    if (queue.state == CapacityQueueState::kStopped) queue.state = CapacityQueueState::kDraining;
  });
}

std::string LostOnRecovery(const std::string& queue, const char* why) {
  return "Application killed on recovery as it was submitted to queue " + queue + " which " + why + " after restart.";
}

/// AbstractCSQueue.appFinished.
void AppFinished(Queue& queue) {
  if (queue.state == CapacityQueueState::kDraining && queue.apps() == 0) queue.state = CapacityQueueState::kStopped;
}

/// AbstractParentQueue.finishApplication, upwards.
void FinishAbove(Books& books, QueueId leaf) {
  books.queues.ForEachUp(books.queues[leaf].parent, [](Queue& parent) {
    --parent.apps_below;
    AppFinished(parent);
  });
}

/// Where a submission goes: the queue's name, and whether the rules put it there.
struct Target {
  std::string queue;
  bool placed = false;
  std::string short_name;  // what the submission is then said to name
};

/// CapacityScheduler.getOrCreateQueueFromPlacementContext.
QueueId FindOrMake(Books& books, const Target& target, CapacityProblem& problem) {
  const QueueId known = books.queues.Find(target.queue);
  if (known.valid() || books.queues.names().Ambiguous(target.queue)) return known;
  return MakeQueue(books, target.queue, problem);
}

void Add(Books& books, const ms::AppAdded& event, QueueId queue, int32_t priority) {
  hadoop::App app;
  app.id = event.id;
  app.user = event.user;
  app.groups = event.groups;
  app.unmanaged = event.unmanaged;
  app.queue = queue;
  books.apps.Add(event.app, std::move(app));
  if (books.app_priority.size() <= event.app.value) books.app_priority.resize(event.app.value + size_t{1});
  books.app_priority[event.app.value] = priority;
}

/// The priority that a submission gets by itself. One that is known from the store was checked when it came.
Priority PriorityOf(const Books& books, const ms::AppAdded& event, const std::string& queue) {
  if (event.recovering) return {std::min(event.priority, books.config.max_application_priority), true};
  const std::optional<int32_t> asked = event.priority_given ? std::optional(event.priority) : std::nullopt;
  return PriorityFor(books, asked, queue, {event.user, event.groups});
}

void RefusePriority(Books& books, const ms::AppAdded& event, Refusal why, const Priority& priority) {
  books.Emit(ms::CallRefused{event.token, {why, {event.user, ToString(event.id)}, {}, {priority.value}}});
}

/// The leaf that takes the submission; none: it was refused.
QueueId FindLeaf(Books& books, const ms::AppAdded& event, const Target& target) {
  if (books.queues[books.queues.root()].apps_below >= books.file.maximum_applications && !event.recovering) {
    Refuse(books, event.token, Refusal::kQueueFull,
           {"root", "Maximum system application limit reached, cannot accept submission of application: there are " +
                        std::to_string(books.file.maximum_applications) +
                        "; wait until one ends, or raise maximum-applications"});
    return {};
  }
  CapacityProblem problem;
  const QueueId queue = FindOrMake(books, target, problem);
  if (problem) {
    Refuse(books, event.token, Refusal::kBadQueueName, {target.queue, problem.message});
    return {};
  }
  if (queue.valid() && books.queues[queue].leaf) return queue;
  std::vector<std::string> about = {target.queue};
  if (event.recovering) {
    about.push_back(LostOnRecovery(target.queue, queue.valid() ? "is no longer a leaf queue" : "no longer exists"));
  }
  Refuse(books, event.token, queue.valid() ? Refusal::kNotALeaf : Refusal::kUnknownQueue, std::move(about));
  return {};
}

/// Whether the leaf takes the submission, with the priority that its workflow has there; else it was refused.
bool Admit(Books& books, const ms::AppAdded& event, const Target& target, QueueId queue, Priority& priority) {
  if (event.recovering) {
    SubmitAgain(books, queue, event.user);
    return true;
  }
  if (!target.placed && IsMadeByManaged(books, books.queues[queue])) {
    Refuse(books, event.token, Refusal::kQueueFull,
           {books.queues[queue].path,
            "Queue " + books.queues[queue].path +
                " takes what queue mappings place there alone: Queue mapping does not exist for user " + event.user});
    return false;
  }
  if (const std::optional<int32_t> mapped = WorkflowPriority(books, event.tags, queue)) {
    priority = PriorityFor(books, mapped, books.queues[queue].path, {event.user, event.groups});
    if (!priority.allowed) {
      RefusePriority(books, event, Refusal::kWorkflowPriorityAccess, priority);
      return false;
    }
  }
  const std::string refused = Submit(books, queue, event.user, target.queue);
  if (!refused.empty()) Refuse(books, event.token, Refusal::kQueueFull, {books.queues[queue].path, refused});
  return refused.empty();
}

}  // namespace

void Apply(Books& books, const ms::AppAdded& event) {
  Target target{event.queue, false, event.queue};
  if (event.place && !event.recovering) {
    const Placement placement = Place(books, event);
    if (placement.rejected) return Refuse(books, event.token, Refusal::kBadPlacement, {event.user, event.queue});
    books.Emit(ms::AppPlaced{event.app, placement.path});
    if (!placement.path.empty()) {
      target = {placement.path, true, placement.path.substr(placement.path.rfind('.') + 1)};
    }
  }
  Priority priority = PriorityOf(books, event, target.short_name);
  if (!priority.allowed) return RefusePriority(books, event, Refusal::kPriorityAccess, priority);
  const QueueId queue = FindLeaf(books, event, target);
  if (!queue.valid() || !Admit(books, event, target, queue, priority)) return;
  Add(books, event, queue, priority.value);
  // The master's size and partition count from the attempt on.
  books.master_asks[event.app.value] =
      event.master_asks.empty() || event.unmanaged
          ? MasterAsk{books.minimum(), kNoLabel}
          : MasterAsk{event.master_asks.front().capability, books.partitions.Intern(event.master_asks.front().label)};
  ms::AppAccepted accepted{event.app, books.queues[queue].path, true, event.token};
  accepted.priority = priority.value;
  books.Emit(accepted);
}

void Apply(Books& books, const ms::AttemptAdded& event) {
  if (!books.apps.Alive(event.app)) return;
  const hadoop::App& app = books.apps[event.app];
  const AttemptId before = app.current;
  const AttemptId id = books.attempts.Add();
  Attempt& attempt = books.attempts[id];
  attempt.app = event.app;
  attempt.number = event.attempt;
  attempt.queue = app.queue;
  attempt.user = app.user;
  attempt.priority = books.app_priority[event.app.value];
  attempt.start = ++books.starts;
  attempt.start_ms = books.now_ms;
  attempt.master = hadoop::Master(app.unmanaged);
  attempt.numbers = hadoop::Numbers(books.config.epoch << 40);
  const MasterAsk& master = books.master_asks[event.app.value];
  attempt.master_partition = master.partition;
  attempt.usage.SetMasters(master.partition, master.size);
  if (before.valid() && event.transfer_containers) TakeOverContainers(books, before, id);
  books.apps.SetCurrent(event.app, id);
  DecideRunnable(books, id);
  Track(books, id);
  SubmitAttempt(books, id, attempt.queue);
  if (before.valid()) FreeIfGone(books, before);
}

void SubmitAttempt(Books& books, AttemptId id, QueueId leaf_id) {
  Queue& leaf = books.queues[leaf_id];
  const Attempt& attempt = books.attempts[id];
  User& user = leaf.own.users.Make(attempt.user);
  if (!attempt.runnable) {
    leaf.own.waiting.push_back(id);
    return;
  }
  leaf.own.runnable.push_back(id);
  ++user.pending_apps;
  leaf.own.pending.Add(id, RankOf(books, id));
  if (books.calc.Greater(leaf.own.last_cluster, leaf.own.last_cluster, {})) Activate(books, leaf_id);
}

/// The leaf forgets a user (of whose applications some may still be there: a waiting one that ends is taken from the
/// pending ones). Headroom goes on from what the user used then, as CapacityHeadroomProvider keeps the user.
static void ForgetUser(Books& books, Leaf& leaf, const std::string& name, AttemptId leaving) {
  const User& user = *leaf.users.Find(name);
  const auto keep = [&](AttemptId id) {
    Attempt& attempt = books.attempts[id];
    if (attempt.user == name && attempt.headroom_user == user.born) attempt.headroom_usage = user.usage;
  };
  keep(leaving);
  leaf.active.ForEach(keep);
  leaf.pending.ForEach(keep);
  leaf.users.Remove(name);
}

/// AbstractLeafQueue.removeApplicationAttempt.
static void RemoveAttempt(Books& books, AttemptId id, QueueId leaf_id) {
  Queue& leaf = books.queues[leaf_id];
  const Attempt& attempt = books.attempts[id];
  User& user = leaf.own.users.Make(attempt.user);
  const auto erase_first = [id](std::vector<AttemptId>& list) {
    const auto it = std::find(list.begin(), list.end(), id);
    if (it == list.end()) return false;
    list.erase(it);
    return true;
  };
  if (!erase_first(leaf.own.runnable)) erase_first(leaf.own.waiting);
  const bool active = leaf.own.active.Remove(id);
  if (active) {
    const PartitionId partition = attempt.master_partition;
    leaf.usage.AddMasters(partition, -attempt.usage.masters(partition));
    user.usage.AddMasters(partition, -attempt.usage.masters(partition));
    --user.active_apps;
  } else {
    leaf.own.pending.Remove(id);
    --user.pending_apps;
  }
  if (user.apps() == 0) ForgetUser(books, leaf.own, attempt.user, id);
  Activate(books, leaf_id);
}

/// CapacityScheduler.doneApplicationAttempt.
void Apply(Books& books, const ms::AttemptRemoved& event) {
  const AttemptId id = books.apps.Current(event.app);
  if (!id.valid() || books.attempts[id].stopped || books.attempts[id].number != event.attempt) return;
  for (const ContainerSlot slot : LiveInOrder(books, id)) {
    if (event.keep_containers && books.containers[slot].state == ContainerState::kRunning) continue;
    Complete(books, slot, {hadoop::End::kKilled, model::kExitAborted, "Container of a completed application"});
  }
  for (const ContainerSlot slot : ReservedInOrder(books, id)) {
    Complete(books, slot, {hadoop::End::kKilled, model::kExitAborted, "Application Complete"});
  }
  StopAsks(books, id);
  RemoveAttempt(books, id, books.attempts[id].queue);
  Untrack(books, id);
  if (books.attempts[id].runnable) UpdateRunnability(books, id);
  FreeIfGone(books, id);
}

/// CapacityScheduler.doneApplication.
void Apply(Books& books, const ms::AppRemoved& event) {
  if (!books.apps.Alive(event.app)) return;
  const QueueId leaf = books.apps[event.app].queue;
  const AttemptId current = books.apps.Current(event.app);
  books.queues[leaf].own.users.Deactivate(books.apps[event.app].user, books.apps[event.app].id);
  AppFinished(books.queues[leaf]);
  FinishAbove(books, leaf);
  books.apps.Remove(event.app);
  books.master_asks.erase(event.app.value);
  if (current.valid()) FreeIfGone(books, current);
}

/// A fair order takes up again what was removed from it and touched, and a leaf activates what it still lists as
/// waiting: as in Hadoop, such an attempt is served with nothing from then on.
static bool IsListed(const Books& books, AttemptId id) {
  const auto lists = [&](QueueId leaf) {
    return books.queues.Has(leaf) &&
           (books.queues[leaf].own.active.Knows(id) || books.queues[leaf].own.pending.Has(id));
  };
  const Attempt& attempt = books.attempts[id];
  return lists(attempt.queue) || std::any_of(attempt.moved_from.begin(), attempt.moved_from.end(), lists);
}

void FreeIfGone(Books& books, AttemptId id) {
  if (!books.attempts.Has(id)) return;
  Attempt& attempt = books.attempts[id];
  if (!attempt.stopped || attempt.held > 0 || books.apps.Current(attempt.app) == id || IsListed(books, id)) return;
  attempt.blacklist.Clear(books.names);
  attempt.asks.Clear(books.names);
  books.attempts.Remove(id);
}

namespace {

/// Labels that the application asked for and the target's queue may not use (CapacityScheduler.checkQueuePartition).
bool LabelsAllowed(Books& books, AttemptId id, const Queue& target) {
  if (!books.config.node_labels || !id.valid()) return true;
  std::set<PartitionId>& asked = books.attempts[id].requested_partitions;
  asked.erase(kNoLabel);
  return std::all_of(asked.begin(), asked.end(), [&](PartitionId label) {
    return target.settings.any_label || target.settings.accessible.contains(label);
  });
}

}  // namespace

/// A moved container knows its leaf by the full path.
static void MoveContainer(Books& books, ContainerSlot slot, QueueId source, QueueId target) {
  MoveCharge(books, slot, source, target);
  books.named_ambiguously.erase(books.containers[slot].id);
}

/// CapacityScheduler.preValidateMoveApplication, moveApplication.
void Apply(Books& books, const ms::AppMoved& event) {
  if (!books.apps.Alive(event.app)) return Refuse(books, event.token, Refusal::kMoveUnknownApplication);
  const QueueId source = books.apps[event.app].queue;
  const QueueId target = books.queues.Find(event.queue);
  if (!target.valid() || !books.queues[target].leaf || !books.queues.Find(books.queues[source].path).valid()) {
    return Refuse(books, event.token, Refusal::kMoveToNoLeaf, {event.queue});
  }
  const AttemptId id = books.apps.Current(event.app);
  const std::string user = books.apps[event.app].user;
  if (!LabelsAllowed(books, id, books.queues[target])) {
    return Refuse(books, event.token, Refusal::kMoveQueueMaximum, {event.queue});
  }
  if (!Submit(books, target, user, event.queue).empty()) {
    return Refuse(books, event.token, Refusal::kMoveQueueFull, {event.queue, books.queues[target].path});
  }
  if (id.valid()) {
    for (const ContainerSlot slot : LiveInOrder(books, id)) MoveContainer(books, slot, source, target);
    for (const ContainerSlot slot : ReservedInOrder(books, id)) MoveContainer(books, slot, source, target);
    if (!books.attempts[id].stopped) {
      RemoveAttempt(books, id, source);
      SubmitAttempt(books, id, target);
    }
    MoveAsks(books, id, source, target);
    if (source != target) books.attempts[id].moved_from.push_back(source);
    books.attempts[id].queue = target;
  }
  AppFinished(books.queues[source]);
  FinishAbove(books, source);
  books.apps.SetQueue(event.app, target);
  books.Emit(ms::MoveAnswered{event.app, event.token, books.queues[target].path});
}

/// CapacityScheduler.updateApplicationPriority: the priority of the submission is what a new one is compared with.
void Apply(Books& books, const ms::AppPriority& event) {
  if (!books.apps.Alive(event.app)) return Refuse(books, event.token, Refusal::kUnknownApplication);
  const hadoop::App& app = books.apps[event.app];
  const auto [priority, allowed] =
      PriorityFor(books, event.priority, books.queues[app.queue].path, {event.user, event.groups});
  if (!allowed) {
    return books.Emit(
        ms::CallRefused{event.token, {Refusal::kPriorityAccess, {event.user, ToString(app.id)}, {}, {priority}}});
  }
  const AttemptId id = books.apps.Current(event.app);
  if (books.app_priority[event.app.value] != priority && id.valid()) {
    Leaf& leaf = books.queues[app.queue].own;
    const bool active = leaf.active.Remove(id);
    if (!active) leaf.pending.Remove(id);
    books.attempts[id].priority = priority;
    (active ? leaf.active : leaf.pending).Add(id, RankOf(books, id));
  }
  ms::PriorityAnswered answer{event.token};
  answer.priority = priority;
  books.Emit(answer);
}

}  // namespace fairlead::scheduler::yarn_capacity
