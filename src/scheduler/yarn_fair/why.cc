#include "scheduler/yarn_fair/why.h"

#include <algorithm>

#include "model/resource_words.h"
#include "scheduler/yarn_fair/allocate.h"
#include "scheduler/yarn_fair/assign.h"
#include "scheduler/yarn_fair/locality.h"
#include "scheduler/yarn_fair/ordering.h"
#include "scheduler/yarn_fair/runnability.h"

// Why an ask waits: the tests of a node pass, in its order, run without effect on every node.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;
using model::Locality;
using ms::PendingReason;

namespace {

/// How the nodes would answer one request key, if each were offered now.
struct Offers {
  size_t ever = 0;      // large enough when empty
  size_t grants = 0;    // would grant
  size_t urgent = 0;    // would serve a more urgent key of the same application first
  size_t waiting = 0;   // has room, but the key still waits for a closer node
  size_t strict = 0;    // has room, but is not among the places named
  size_t reserved = 0;  // has room, but another application holds it
  size_t excluded = 0;  // has room, but is blacklisted
  Resources most_free;
};

std::string Count(size_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

}  // namespace

static ms::Pending WithoutNodes(const Books& books);
static void ExplainQueue(const Books& books, const Attempt& attempt, model::scheduler::Pending& pending);
static Offers DryPass(const Books& books, const Attempt& attempt, size_t key_index);
static void ExplainNodes(const Books& books, const Attempt& attempt, size_t key_index,
                         model::scheduler::Pending& pending);
static bool OwnUrgentAskFits(const Books& books, const Attempt& attempt, size_t key_index, const Node& node);
static std::string Standing(const Books& books, const Attempt& attempt);

std::vector<ms::Pending> Why(const Books& books, AppIndex app) {
  std::vector<ms::Pending> all;
  const AttemptId id = books.apps.Current(app);
  if (!id.valid() || books.attempts[id].stopped) return all;
  const Attempt& attempt = books.attempts[id];
  const ms::Pending without_nodes = WithoutNodes(books);
  const std::vector<Asks::ActiveKey>& keys = attempt.asks.active();
  for (size_t i = 0; i < keys.size(); ++i) {
    const KeyLines& placement = attempt.asks.of(keys[i]);
    const Request* any = placement.Any();
    if (any == nullptr) continue;
    ms::Pending pending = without_nodes;
    pending.ask = {keys[i].key.priority, keys[i].key.id, "*", any->relax, any->capability, any->count, ""};
    pending.since = base::Instant{placement.since_ms * 1'000'000};
    if (pending.reason == PendingReason::kNone) ExplainQueue(books, attempt, pending);
    if (pending.reason == PendingReason::kNone) ExplainNodes(books, attempt, i, pending);
    all.push_back(std::move(pending));
  }
  return all;
}

/// What explains every ask where no node takes containers: parts of nothing, as the masters' share, are nothing, too,
/// and no setting mends that.
ms::Pending WithoutNodes(const Books& books) {
  size_t registered = 0;
  for (NodeIndex id{0}; id.value < books.nodes.size(); ++id.value) {
    const Node& node = books.nodes[id];
    if (node.alive && node.schedulable) return {};
    registered += node.alive ? 1 : 0;
  }
  ms::Pending pending;
  pending.reason = PendingReason::kNoNodes;
  pending.detail = registered == 0 ? "no node is registered"
                                   : Count(registered, "node is", "nodes are") + " registered, none takes containers";
  pending.remedy = registered == 0 ? "start node agents" : "bring nodes back into service, or start others";
  return pending;
}

/// Reasons that hold whatever node comes: limits of user and queues, the masters' share.
void ExplainQueue(const Books& books, const Attempt& attempt, ms::Pending& pending) {
  const std::string& user = books.apps[attempt.app].user;
  if (!attempt.runnable) {
    const int32_t running = books.users.Running(user);
    if (running >= UserMaxApps(books, user)) {
      pending.reason = PendingReason::kUserLimit;
      pending.detail = "user " + user + " runs " + std::to_string(running) + " of " +
                       std::to_string(UserMaxApps(books, user)) + " applications";
      pending.remedy = "wait until one ends, or raise maxRunningApps of the user (userMaxAppsDefault)";
      return;
    }
    pending.reason = PendingReason::kMaxRunningApps;
    pending.detail = "the application waits to be started";
    for (QueueId at = attempt.queue; at.valid(); at = books.queues[at].parent) {
      const Queue& queue = books.queues[at];
      if (queue.NumRunnable() < queue.max_running) continue;
      pending.detail = "queue " + queue.name + " runs " + std::to_string(queue.NumRunnable()) + " of " +
                       std::to_string(queue.max_running) + " applications";
      break;
    }
    pending.remedy = "wait until one ends, or raise maxRunningApps of the queue";
    return;
  }
  const Resources size = pending.ask.capability;
  for (QueueId at = attempt.queue; at.valid(); at = books.queues[at].parent) {
    const Queue& queue = books.queues[at];
    if ((queue.used + size).FitsIn(queue.max_share)) continue;
    pending.reason = PendingReason::kQueueMaximum;
    pending.detail = "queue " + queue.name + " uses " + model::InWords(queue.used) + " of at most " +
                     model::InWords(queue.max_share) + "; the container needs " + model::InWords(size);
    pending.remedy = size.FitsIn(queue.max_share) ? "wait until containers of the queue end, or raise its maxResources"
                                                  : "raise its maxResources, or ask for less: it never fits";
    return;
  }
  if (OverMasterShare(books, attempt)) {
    const Queue& leaf = books.queues[attempt.queue];
    pending.reason = PendingReason::kMasterShare;
    pending.detail = "masters of queue " + leaf.name + " use " + model::InWords(leaf.am_used) + " of at most " +
                     model::InWords(MasterLimit(books, leaf));
    // Without masters there the limit is what the cluster has free for some type (FSLeafQueue.computeMaxAMResource).
    pending.remedy = leaf.am_used.IsZero() ? "wait until containers of other queues end, or raise its maxAMShare"
                                           : "wait until an application of the queue ends, or raise its maxAMShare";
  }
}

/// What assignContainer would do with each node, its side effects left out (locality counts on a copy).
Offers DryPass(const Books& books, const Attempt& attempt, size_t key_index) {
  const Asks::ActiveKey& key = attempt.asks.active()[key_index];
  const KeyLines& placement = attempt.asks.of(key);
  const Request& any = *placement.Any();
  Offers offers;
  for (NodeIndex id{0}; id.value < books.nodes.size(); ++id.value) {
    const Node& node = books.nodes[id];
    if (!node.alive || !node.schedulable) continue;
    offers.most_free = ComponentwiseMax(offers.most_free, node.unallocated);
    if (!any.capability.FitsIn(node.total)) continue;
    ++offers.ever;
    if (!any.capability.FitsIn(node.unallocated)) continue;
    if (IsBlacklisted(attempt, node)) {
      ++offers.excluded;
    } else if (node.reserved.valid() && books.containers[node.reserved].app != attempt.app) {
      ++offers.reserved;
    } else if (!HasContainerFor(books, attempt, &placement, node)) {
      ++offers.strict;
    } else {
      KeyState state = StateNow(attempt, key.key);
      const Locality allowed =
          books.fixed.locality_matters ? AllowedLocality(books, attempt, state) : Locality::kOffSwitch;
      if (!Choose(books, placement, node, allowed)) {
        ++offers.waiting;
      } else if (OwnUrgentAskFits(books, attempt, key_index, node)) {
        ++offers.urgent;
      } else {
        ++offers.grants;
      }
    }
  }
  return offers;
}

bool OwnUrgentAskFits(const Books& books, const Attempt& attempt, size_t key_index, const Node& node) {
  for (size_t i = 0; i < key_index; ++i) {
    const KeyLines& placement = attempt.asks.of(attempt.asks.active()[i]);
    if (!HasContainerFor(books, attempt, &placement, node)) continue;
    const std::optional<Choice> choice = Choose(books, placement, node, Locality::kOffSwitch);
    if (choice && choice->ask->capability.FitsIn(node.unallocated)) return true;
  }
  return false;
}

void ExplainNodes(const Books& books, const Attempt& attempt, size_t key_index, ms::Pending& pending) {
  const Offers offers = DryPass(books, attempt, key_index);
  const std::string size = model::InWords(pending.ask.capability);
  const auto say = [&](PendingReason reason, std::string detail, const char* remedy) {
    pending.reason = reason;
    pending.detail = std::move(detail);
    pending.remedy = remedy;
  };
  if (offers.ever == 0) {
    say(PendingReason::kLargerThanAnyNode, "the container needs " + size + "; no node is that large even when empty",
        "ask for smaller containers, or add larger nodes");
  } else if (offers.grants > 0) {
    say(PendingReason::kFairShare,
        Count(offers.grants, "node has", "nodes have") + " room; " + Standing(books, attempt),
        "wait for the next heartbeats; a greater weight or minResources of the queue brings it forward");
  } else if (offers.urgent > 0) {
    say(PendingReason::kLowerPriority,
        "the application's own more urgent asks take the " + Count(offers.urgent, "node", "nodes") + " with room",
        "wait until they are served, or give this ask a smaller priority number");
  } else if (offers.waiting > 0) {
    say(PendingReason::kWaitingForLocality,
        Count(offers.waiting, "node has", "nodes have") + " room, but the ask still waits for a closer one",
        "wait; smaller locality thresholds (locality.threshold.node, .rack) shorten it");
  } else if (offers.reserved > 0) {
    say(PendingReason::kReserved,
        Count(offers.reserved, "node with room is", "nodes with room are") + " reserved for other applications",
        "wait until the reservations are fulfilled or given up");
  } else if (offers.strict > 0) {
    say(PendingReason::kStrictLocality,
        Count(offers.strict, "node has", "nodes have") + " room, none of them among the places the ask insists on",
        "ask with relaxLocality, or name more places");
  } else if (offers.excluded > 0) {
    say(PendingReason::kNodesExcluded,
        Count(offers.excluded, "node with room is", "nodes with room are") + " on the application's blacklist",
        "take nodes off the blacklist");
  } else {
    say(PendingReason::kClusterFull,
        "the container needs " + size + "; the largest free amounts are " + model::InWords(offers.most_free),
        "wait until containers end, ask for smaller ones, or add nodes");
  }
}

/// The application's usage against its share, and who is served before it.
std::string Standing(const Books& books, const Attempt& attempt) {
  if (!attempt.offerable) return "the ask is counted at the next update pass";
  const Queue& leaf = books.queues[attempt.queue];
  const CompareContext context = ContextOf(books, leaf);
  size_t ahead = 0;
  for (const AttemptId other : leaf.runnable) {
    if (books.attempts[other].offerable && Compare(context, SubjectOf(books.attempts[other]), SubjectOf(attempt)) < 0)
      ++ahead;
  }
  size_t queues_ahead = 0;
  for (QueueId at = attempt.queue; books.queues[at].parent.valid(); at = books.queues[at].parent) {
    const Queue& parent = books.queues[books.queues[at].parent];
    for (const QueueId other : parent.children) {
      if (other == at || books.queues[other].offerable == 0) continue;
      if (Compare(ContextOf(books, parent), SubjectOf(books.queues[other]), SubjectOf(books.queues[at])) < 0)
        ++queues_ahead;
    }
  }
  return Count(queues_ahead, "queue", "queues") + " and " + Count(ahead, "application", "applications") +
         " of its own queue come first; it uses " + model::InWords(attempt.used) + " of a fair share of " +
         model::InWords(books.FairShareOf(attempt));
}

}  // namespace fairlead::scheduler::yarn_fair
