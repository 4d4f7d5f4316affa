#include "scheduler/yarn_capacity/why.h"

#include <string>

#include "model/resource_words.h"
#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/asks.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using model::InWords;
using ms::PendingReason;

namespace {

std::string Count(int64_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

std::string PartitionName(const Books& books, PartitionId id) {
  return id == kNoLabel ? "the default partition" : "partition " + books.partitions.Name(id);
}

/// How the nodes of the asked partition would answer.
struct Offers {
  int64_t nodes = 0;      // schedulable
  int64_t ever = 0;       // large enough when empty
  int64_t excluded = 0;   // has room, but is blacklisted
  int64_t reserved = 0;   // has room, but another application holds it
  int64_t elsewhere = 0;  // has room, but is not among the places that are asked for
  int64_t room = 0;       // has room
  int64_t labelled = 0;   // in another partition
  int64_t closed = 0;     // of these, would take the application's containers, but not its master
  Resources most_free;
};

bool IsAskedFor(const Books& books, const KeyLines& lines, const Node& node) {
  const Request* any = lines.Any();
  if (any->relax) return true;
  for (const NameId name : {node.host, node.rack}) {
    const Request* line = lines.Of(name, books.names);
    if (line != nullptr && line->count > 0) return true;
  }
  return false;
}

Offers DryPass(const Books& books, const Attempt& attempt, const KeyLines& lines) {
  const Request& any = *lines.Any();
  Offers offers;
  for (NodeIndex id{0}; id.value < books.nodes.size(); ++id.value) {
    const Node& node = books.nodes[id];
    if (!node.alive || !node.schedulable) continue;
    const PartitionId partition = books.partitions.OfNode(id);
    if (partition != any.partition) {
      const bool shared = any.partition == kNoLabel && !books.partitions.Exclusive(partition);
      const bool closed =
          shared && WaitsForMaster(attempt) &&
          (books.config.quirks.masters_never_on_shared_partitions || !books.config.masters_on_shared_partitions);
      ++offers.labelled;
      offers.closed += closed ? 1 : 0;
      if (!shared || closed) continue;
    }
    ++offers.nodes;
    offers.most_free = hadoop::ComponentwiseMax(offers.most_free, node.unallocated);
    if (!any.capability.FitsIn(node.total)) continue;
    ++offers.ever;
    if (!any.capability.FitsIn(node.unallocated)) continue;
    if (IsBlacklisted(attempt, node)) {
      ++offers.excluded;
    } else if (node.reserved.valid() && books.containers[node.reserved].app != attempt.app) {
      ++offers.reserved;
    } else if (!IsAskedFor(books, lines, node)) {
      ++offers.elsewhere;
    } else {
      ++offers.room;
    }
  }
  return offers;
}

class Explainer {
 public:
  Explainer(const Books& books, const Attempt& attempt, const KeyLines& lines, ms::Pending& pending)
      : books_(books), attempt_(attempt), leaf_(books.queues[attempt.queue]), lines_(lines), pending_(pending) {}

  void Explain() {
    if (WithoutNodes() || ForTheStart() || ForThePartition() || ForTheQueue() || ForTheUser()) return;
    ForTheNodes();
  }

 private:
  bool Say(PendingReason reason, std::string detail, std::string remedy) {
    pending_.reason = reason;
    pending_.detail = std::move(detail);
    pending_.remedy = std::move(remedy);
    return true;
  }
  PartitionId partition() const { return lines_.Any()->partition; }
  const Resources& size() const { return lines_.Any()->capability; }

  bool NoneTakesContainers() {
    return Say(PendingReason::kNoNodes, "no node takes containers now", "start nodes, or bring them back");
  }
  bool WithoutNodes() {
    if (!books_.cluster().IsZero()) return false;
    for (NodeIndex id{0}; id.value < books_.nodes.size(); ++id.value) {
      if (books_.nodes.Alive(id)) return NoneTakesContainers();
    }
    return Say(PendingReason::kNoNodes, "no node is registered", "start node agents");
  }

  /// Limits of parallel applications and of masters.
  bool ForTheStart() {
    if (!attempt_.runnable) {
      std::string detail;
      for (QueueId at = attempt_.queue; at.valid(); at = books_.queues[at].parent) {
        const Queue& queue = books_.queues[at];
        if (queue.runnable_apps() < queue.settings.max_parallel_apps) continue;
        detail = "queue " + queue.path + " runs " + std::to_string(queue.runnable_apps()) + " of " +
                 std::to_string(queue.settings.max_parallel_apps) + " applications";
        break;
      }
      if (detail.empty()) {
        return Say(PendingReason::kUserLimit, "user " + attempt_.user + " runs as many applications as a user may",
                   "wait until one ends, or raise user." + attempt_.user + ".max-parallel-apps");
      }
      return Say(PendingReason::kMaxRunningApps, detail,
                 "wait until one ends, or raise max-parallel-apps of the queue");
    }
    return leaf_.own.pending.Has(IdOf()) && ForTheMasters();
  }

  /// What masters of the queue may use, then those of the user.
  bool ForTheMasters() {
    const PartitionId where = attempt_.master_partition;
    const Resources& own = attempt_.usage.masters(where);
    const User* user = leaf_.own.users.Find(attempt_.user);
    if (user != nullptr && books_.calc.FitsIn(leaf_.usage.masters(where) + own, leaf_.usage.master_limit(where))) {
      const Resources limit = UserMasterLimit(books_, leaf_, where, attempt_.user);
      return Say(
          PendingReason::kMasterShare,
          "masters of user " + attempt_.user + " in queue " + leaf_.path + " use " +
              InWords(user->usage.masters(where)) + " of at most " + InWords(limit) + "; this one needs " +
              InWords(own),
          "wait until an application of the user ends, or raise minimum-user-limit-percent, user-limit-factor or "
          "maximum-am-resource-percent of the queue");
    }
    return Say(PendingReason::kMasterShare,
               "masters of queue " + leaf_.path + " use " + InWords(leaf_.usage.masters(where)) + " of at most " +
                   InWords(leaf_.usage.master_limit(where)) + "; this one needs " + InWords(own),
               "wait until an application of the queue ends, or raise its maximum-am-resource-percent");
  }

  bool ForThePartition() {
    if (partition() == kNoLabel || leaf_.settings.Accesses(partition())) return false;
    return Say(PendingReason::kLabel, "queue " + leaf_.path + " may not use " + PartitionName(books_, partition()),
               "add the label to the queue's accessible-node-labels, or ask without it");
  }

  bool ForTheQueue() {
    for (QueueId at = attempt_.queue; at.valid(); at = books_.queues[at].parent) {
      const Queue& queue = books_.queues[at];
      const Resources& most = queue.shares[partition()].effective_max;
      if (books_.calc.FitsIn(queue.usage.used(partition()) + size(), most)) continue;
      if (books_.calc.FitsIn(books_.partitions.Of(partition()), most)) continue;  // the cluster is full, not the queue
      const bool ever = books_.calc.FitsIn(size(), most);
      return Say(PendingReason::kQueueMaximum,
                 "queue " + queue.path + " uses " + InWords(queue.usage.used(partition())) + " of at most " +
                     InWords(most) + " of " + PartitionName(books_, partition()) + "; the container needs " +
                     InWords(size()),
                 ever ? "wait until containers of the queue end, or raise its maximum-capacity"
                      : "raise its maximum-capacity, or ask for less: it never fits");
    }
    return false;
  }

  bool ForTheUser() {
    Users users = leaf_.own.users;  // limits are computed when they are asked for
    const User* user = users.Find(attempt_.user);
    if (user == nullptr) return false;
    const Resources limit = users.LimitForActive(attempt_.user, partition(), Mode::kRespect, books_.BasisOf(leaf_));
    if (books_.calc.FitsIn(user->usage.used(partition()) + size(), limit)) return false;
    if (!books_.calc.Greater(books_.cluster(), user->usage.used(partition()), limit)) return false;
    return Say(PendingReason::kUserLimit,
               "user " + attempt_.user + " uses " + InWords(user->usage.used(partition())) + " of at most " +
                   InWords(limit) + " in queue " + leaf_.path + ", which " +
                   Count(users.active(), "active user shares", "active users share"),
               "wait until containers of the user end, or raise minimum-user-limit-percent or user-limit-factor");
  }

  bool WithoutNodesThere(const Offers& offers, const std::string& where) {
    if (partition() != kNoLabel) {
      return Say(PendingReason::kLabel, "no node that takes containers is in " + where,
                 "label nodes, or ask without the label");
    }
    if (offers.closed > 0) {
      return Say(PendingReason::kLabel,
                 "all nodes have a label, and those of shared partitions take no masters without it",
                 "ask for the master with the label (spark.yarn.am.nodeLabelExpression), or set "
                 "yarn.resourcemanager.node-labels.am.allow-non-exclusive-allocation");
    }
    if (offers.labelled > 0) {
      return Say(PendingReason::kLabel, "all nodes have a label, and the ask has none",
                 "ask with a label, give the queue a default-node-label-expression, or take labels off nodes");
    }
    return NoneTakesContainers();
  }

  bool ForTheNodes() {
    const Offers offers = DryPass(books_, attempt_, lines_);
    const std::string where = PartitionName(books_, partition());
    if (offers.nodes == 0) return WithoutNodesThere(offers, where);
    if (offers.ever == 0) {
      return Say(PendingReason::kLargerThanAnyNode,
                 "the container needs " + InWords(size()) + ", which no node of " + where + " has",
                 "ask for less, or add larger nodes");
    }
    if (offers.room > 0) return ForTheOrder(offers);
    if (offers.elsewhere > 0) {
      return Say(PendingReason::kStrictLocality,
                 Count(offers.elsewhere, "node has room, but is", "nodes have room, but are") +
                     " not among the places that are asked for",
                 "wait for room there, or relax the locality");
    }
    if (offers.reserved > 0) {
      return Say(PendingReason::kReserved,
                 "the room on " + Count(offers.reserved, "node", "nodes") + " is held for another application",
                 "wait: it is next after that one");
    }
    if (offers.excluded > 0) {
      return Say(PendingReason::kNodesExcluded,
                 Count(offers.excluded, "node with room is", "nodes with room are") +
                     " on the application's list of nodes that it does not want",
                 "wait for room on others, or take nodes off the list");
    }
    return Say(PendingReason::kClusterFull,
               "the container needs " + InWords(size()) + "; the largest free room of a node in " + where + " is " +
                   InWords(offers.most_free),
               "wait until containers end, or add nodes");
  }

  /// No other application waits for containers of this partition.
  bool WaitsAlone() const {
    return books_.queues[books_.queues.root()].usage.pending(partition()) == attempt_.usage.pending(partition());
  }

  /// A node with room exists: its heartbeat comes, it goes to a queue that uses less of its share, or the ask waits for
  /// a closer place.
  bool ForTheOrder(const Offers& offers) {
    if (lines_.requests.size() > 1) {
      return Say(PendingReason::kWaitingForLocality,
                 Count(offers.room, "node has room", "nodes have room") + ", and the ask waits for a closer one",
                 "wait for up to node-locality-delay offers, or lower it");
    }
    if (WaitsAlone()) {
      return Say(PendingReason::kNextRound,
                 Count(offers.room, "node has room", "nodes have room") + ", and nobody else waits",
                 "wait for the next heartbeat of such a node");
    }
    const Share& share = leaf_.shares[partition()];
    return Say(PendingReason::kFairShare,
               Count(offers.room, "node has room", "nodes have room") +
                   "; queues that use less of their own come "
                   "first (this one uses " +
                   std::to_string(static_cast<int64_t>(share.used * 100)) + " % of its capacity)",
               "wait for the next heartbeats");
  }

  AttemptId IdOf() const { return books_.apps.Current(attempt_.app); }

  const Books& books_;
  const Attempt& attempt_;
  const Queue& leaf_;
  const KeyLines& lines_;
  ms::Pending& pending_;
};

}  // namespace

std::vector<ms::Pending> Why(const Books& books, AppIndex app) {
  std::vector<ms::Pending> all;
  const AttemptId id = books.apps.Current(app);
  if (!id.valid() || books.attempts[id].stopped) return all;
  const Attempt& attempt = books.attempts[id];
  for (const hadoop::Asks::ActiveKey& active : attempt.asks.active()) {
    const KeyLines& lines = attempt.asks.of(active);
    const Request* any = lines.Any();
    if (any == nullptr) continue;
    ms::Pending pending;
    pending.ask = {active.key.priority,
                   active.key.id,
                   "*",
                   any->relax,
                   any->capability,
                   any->count,
                   books.partitions.Name(any->partition)};
    pending.since = base::Instant{lines.since_ms * 1'000'000};
    Explainer(books, attempt, lines, pending).Explain();
    all.push_back(std::move(pending));
  }
  return all;
}

}  // namespace fairlead::scheduler::yarn_capacity
