#include <algorithm>

#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/preempt_round.h"
#include "scheduler/yarn_capacity/setup.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

namespace fairlead::scheduler::yarn_capacity {

/// Resources.subtractFromNonNegative, which looks at memory and vcores alone.
static void SubtractNotBelowZero(Resources& from, const Resources& by) {
  from -= by;
  for (size_t type = 0; type < 2; ++type) from[type] = std::max<int64_t>(from[type], 0);
}

namespace {

/// What a leaf's applications of low priority, or of users over their limit, are to give to others of it
/// (FifoIntraQueuePreemptionPlugin).
class LeafDemand {
 public:
  LeafDemand(PreemptRoundState& round, PreemptQueue& queue)
      : round_(round),
        books_(round.books),
        calc_(round.calc()),
        keys_(round.books.file.preemption),
        queue_(queue),
        leaf_(round.books.queues[queue.queue]) {}
  void Compute();

 private:
  bool Above(const Resources& a, const Resources& b) const { return calc_.Greater(books_.cluster(), a, b); }
  bool NotAbove(const Resources& a, const Resources& b) const { return calc_.AtMost(books_.cluster(), a, b); }
  const Resources& Least(const Resources& a, const Resources& b) const { return calc_.Min(books_.cluster(), a, b); }
  bool by_usage() const {
    return leaf_.own.active.kind() == AppOrder::Kind::kFair && !keys_.intra_queue_priority_first;
  }
  int Compare(const PreemptApp& a, const PreemptApp& b) const;
  void AddApp(AttemptId id, const std::map<std::string, Resources>& masters);
  /// In the order in which applications give, the last in need first.
  void ShareOut(Resources left);
  void ShareOutTo(PreemptApp& app, Resources& left);
  void AddAlreadySelected(PreemptApp& app, PreemptUser& user) const;
  void FindSurplus(Resources limit);
  void MatchDemand();
  void Match(PreemptApp& needy, PreemptApp& giver);

  PreemptRoundState& round_;
  Books& books_;
  const Arithmetic& calc_;
  const model::CapacityPreemption& keys_;
  PreemptQueue& queue_;
  Queue& leaf_;
  std::vector<PreemptApp> apps_;  // as they come
};

void LeafDemand::Compute() {
  Resources left = queue_.used - queue_.to_take;
  if (leaf_.shares[queue_.partition].used < keys_.intra_queue_minimum_threshold) return;
  std::map<std::string, Resources> masters;
  leaf_.own.active.ForEach([&](AttemptId id) {
    const Attempt& attempt = books_.attempts[id];
    masters[attempt.user] += attempt.usage.masters(queue_.partition);
    left -= attempt.usage.masters(queue_.partition);
  });
  if (leaf_.own.pending.size() + leaf_.own.active.size() == 1) return;
  leaf_.own.pending.ForEach([&](AttemptId id) { AddApp(id, masters); });
  leaf_.own.active.ForEach([&](AttemptId id) { AddApp(id, masters); });
  ShareOut(left);
  Resources most = hadoop::MultiplyDown(queue_.guaranteed, keys_.intra_queue_max_allowable_limit);
  most = Above(most, queue_.to_take) ? most - queue_.to_take : Resources{};
  FindSurplus(Least(most, round_.allowed));
  MatchDemand();
}

int LeafDemand::Compare(const PreemptApp& a, const PreemptApp& b) const {
  if (!by_usage()) {
    if (a.priority != b.priority) return a.priority > b.priority ? -1 : 1;
    return a.app < b.app ? -1 : (b.app < a.app ? 1 : 0);
  }
  if (a.user == b.user) return leaf_.own.active.Compare(RankOf(books_, a.id), RankOf(books_, b.id));
  const Resources used_a = queue_.users.at(a.user).used_by_workers();
  const Resources used_b = queue_.users.at(b.user).used_by_workers();
  if (used_a == used_b) return a.app < b.app ? -1 : (b.app < a.app ? 1 : 0);
  return calc_.Less(books_.cluster(), used_a, used_b) ? -1 : 1;
}

void LeafDemand::AddApp(AttemptId id, const std::map<std::string, Resources>& masters) {
  const Attempt& attempt = books_.attempts[id];
  const PartitionId partition = queue_.partition;
  PreemptApp app;
  app.id = id;
  app.app = books_.apps[attempt.app].id;
  app.priority = attempt.priority;
  app.user = attempt.user;
  app.used = attempt.usage.used(partition);
  if (!WaitsForMaster(attempt)) app.masters = attempt.usage.masters(partition);
  for (const hadoop::Asks::ActiveKey& key : attempt.asks.active()) {
    const Request& any = *attempt.asks.of(key).Any();
    if (any.partition == partition && any.count > 0) app.pending += hadoop::MultiplyDown(any.capability, any.count);
  }
  const auto [user, is_new] = queue_.users.try_emplace(app.user);
  if (is_new) {
    Users& users = leaf_.own.users;
    if (!round_.KnowsUser(leaf_, app.user)) return;
    user->second.used = users.Find(app.user)->usage.used(partition);
    const auto of_user = masters.find(app.user);
    if (of_user != masters.end()) user->second.masters = of_user->second;
    user->second.limit =
        users.LimitForAll(app.user, partition, Mode::kRespect, books_.BasisOf(leaf_)) - user->second.masters;
  }
  apps_.push_back(std::move(app));
}

void LeafDemand::ShareOut(Resources left) {
  const auto compare = [this](size_t a, size_t b) { return Compare(apps_[a], apps_[b]); };
  hadoop::java::PriorityQueue<size_t> by_need;
  for (size_t i = 0; i < apps_.size(); ++i) by_need.Add(i, compare);
  std::vector<size_t> sequence;
  while (!by_need.empty()) {
    sequence.push_back(by_need.Poll(compare));
    if (NotAbove(left, {}) || (calc_.AnyZeroOrLess(left) && keys_.intra_queue_conservative_drf)) continue;
    ShareOutTo(apps_[sequence.back()], left);
  }
  const auto reverse = [&](uint32_t a, uint32_t b) { return compare(sequence[b], sequence[a]); };
  queue_.apps.clear();
  for (const uint32_t i : hadoop::java::TreeOrder(static_cast<uint32_t>(sequence.size()), reverse)) {
    queue_.apps.push_back(apps_[sequence[i]]);
  }
}

void LeafDemand::ShareOutTo(PreemptApp& app, Resources& left) {
  PreemptUser& user = queue_.users.at(app.user);
  AddAlreadySelected(app, user);
  if (!calc_.Less(books_.cluster(), user.ideal, user.limit)) return;
  const Resources wanted = app.used_by_workers() + app.pending - app.selected;
  app.ideal = Least(left, Least(wanted, user.limit - user.ideal));
  user.ideal += app.ideal;
  const Resources has = app.used_by_workers() - app.selected;
  if (Above(app.ideal, has)) app.from_other = app.ideal - has;
  SubtractNotBelowZero(left, app.ideal);
}

void LeafDemand::AddAlreadySelected(PreemptApp& app, PreemptUser& user) const {
  app.selected = {};
  for (const ContainerSlot slot : round_.selected.Of(app.id)) {
    const Container& container = books_.containers[slot];
    if (AskedLabel(books_, container) != queue_.partition) continue;
    app.selected += container.resources;
    user.selected += container.resources;
  }
}

void LeafDemand::FindSurplus(Resources limit) {
  for (PreemptApp& app : queue_.apps) {
    if (NotAbove(limit, {}) || NotAbove(app.used, {})) continue;
    Resources surplus = app.used - app.ideal;
    SubtractNotBelowZero(surplus, app.selected);
    SubtractNotBelowZero(surplus, app.masters);
    if (!keys_.intra_queue_priority_first) SubtractNotBelowZero(surplus, books_.minimum());
    app.surplus = Least(calc_.Max(books_.cluster(), surplus, {}), limit);
    SubtractNotBelowZero(limit, app.surplus);
  }
}

/// validateOutSameAppPriorityFromDemand.
void LeafDemand::MatchDemand() {
  for (auto needy = queue_.apps.rbegin(); needy != queue_.apps.rend(); ++needy) {
    if (!Above(needy->from_other, {})) continue;
    for (PreemptApp& giver : queue_.apps) {
      if (Above(giver.surplus, {})) Match(*needy, giver);
    }
  }
}

void LeafDemand::Match(PreemptApp& needy, PreemptApp& giver) {
  const bool same_user = needy.user == giver.user;
  if (same_user && giver.priority >= needy.priority) return;
  if (NotAbove(giver.surplus, giver.to_take) || needy.from_other == Resources{}) return;
  PreemptUser& user = queue_.users.at(giver.user);
  const bool over_limit = Above(user.used_by_workers(), user.limit);
  if (!same_user && !over_limit && !keys_.intra_queue_priority_first) return;
  Resources available = giver.surplus - giver.to_take;
  if (!same_user && giver.priority == needy.priority && over_limit) {
    Resources over = user.used_by_workers() - user.selected - user.limit;
    if (user.delta_done) over = {};
    if (calc_.Less(books_.cluster(), over, available)) {
      user.delta_done = true;
      available = over;
    }
  }
  if (!Above(available, {})) return;
  const Resources taken = Least(needy.from_other, available);
  needy.from_other -= taken;
  giver.to_take += taken;
}

class WithinQueues {
 public:
  WithinQueues(PreemptRoundState& round, Selection& current)
      : round_(round), books_(round.books), keys_(round.books.file.preemption), current_(current) {}
  void ComputeDemand();
  void Select();

 private:
  void SelectFrom(QueueId leaf, PartitionId partition);
  void SelectFromApp(const PreemptApp& app, ToTake& to_take, std::map<std::string, Resources>& used_by_user);
  /// skipContainerBasedOnIntraQueuePolicy: without it, its user would not be over the limit.
  bool UserNeeds(const PreemptApp& app, const Container& container, const Resources& used);

  PreemptRoundState& round_;
  Books& books_;
  const model::CapacityPreemption& keys_;
  Selection& current_;
};

void WithinQueues::ComputeDemand() {
  for (const PartitionId partition : round_.partitions) {
    for (const QueueId id : round_.underserved[partition]) {
      PreemptQueue& queue = round_.Of(id, partition);
      if (queue.leaf) LeafDemand(round_, queue).Compute();
    }
  }
}

void WithinQueues::Select() {
  for (const PartitionId partition : round_.partitions) {
    for (const QueueId id : round_.underserved[partition]) {
      if (!round_.failure.empty()) return;
      const Queue& queue = books_.queues[id];
      if (queue.leaf && !queue.settings.intra_queue_disabled()) SelectFrom(id, partition);
    }
  }
}

void WithinQueues::SelectFrom(QueueId leaf, PartitionId partition) {
  const std::vector<PreemptApp> apps = round_.Of(leaf, partition).apps;
  ToTake to_take = {{partition, {}}};
  for (const PreemptApp& app : apps) to_take[partition] += app.to_take;
  std::map<std::string, Resources> used_by_user;
  books_.queues[leaf].own.users.ForEach(
      [&](const User& user) { used_by_user[user.name] = user.usage.used(partition); });
  for (const PreemptApp& app : apps) {
    if (app.to_take != Resources{}) SelectFromApp(app, to_take, used_by_user);
  }
}

void WithinQueues::SelectFromApp(const PreemptApp& app, ToTake& to_take,
                                 std::map<std::string, Resources>& used_by_user) {
  Resources& used = used_by_user[app.user];
  TakingOrder order(books_, app.id);
  for (ContainerSlot slot = order.Next(); slot.valid(); slot = order.Next()) {
    const Container& container = books_.containers[slot];
    if (to_take.empty()) return;
    if (round_.IsSelected(slot) || container.is_master) continue;
    if (keys_.lazy && books_.killable.Any(container.id)) continue;
    if (UserNeeds(app, container, used) || !round_.failure.empty()) break;
    const bool taken = TryTake(round_, to_take, slot, current_, keys_.intra_queue_conservative_drf);
    if (taken && !keys_.intra_queue_priority_first) used -= container.resources;
  }
}

bool WithinQueues::UserNeeds(const PreemptApp& app, const Container& container, const Resources& used) {
  const QueueId leaf = books_.attempts[app.id].queue;
  if (books_.queues.names().Ambiguous(books_.queues[leaf].name)) {
    round_.failure = std::string(kNobodyThere) + "the name " + books_.queues[leaf].name + " is that of several queues";
    return false;
  }
  const PreemptQueue& queue = round_.Of(leaf, books_.partitions.OfNode(container.node));
  const auto user = queue.users.find(app.user);
  if (user == queue.users.end() || keys_.intra_queue_priority_first) return false;
  return round_.calc().AtMost(books_.cluster(), used - container.resources, user->second.limit + user->second.masters);
}

}  // namespace

void SelectWithinQueues(PreemptRoundState& round, Selection& current) {
  WithinQueues within(round, current);
  within.ComputeDemand();
  DeductSelected(round);
  if (round.failure.empty()) within.Select();
}

}  // namespace fairlead::scheduler::yarn_capacity
