#include "scheduler/books/blocker.h"

namespace fairlead::scheduler::native {

using model::Resources;
using Reason = model::scheduler::PendingReason;

void FindRunningLimits(const Books& books, const App& app, std::vector<Blocker>& out) {
  if (app.runnable) return;
  ForHolders(app, [&](UserId holder) {
    const User& user = books.users[holder];
    if (user.running < user.max_running) return;
    out.push_back({Reason::kUserLimit, user.name.name,
                   InWords(user.name) + " runs " + std::to_string(user.running) + " of at most " +
                       std::to_string(user.max_running) + " applications",
                   "raise maxRunningApps of " + InWords(user.name) + ", or wait for one of them to end"});
  });
  for (QueueId q = app.leaf; q.valid(); q = books.queues[q].parent) {
    const Queue& queue = books.queues[q];
    if (queue.running < queue.max_running) continue;
    out.push_back({Reason::kMaxRunningApps, queue.name,
                   "queue " + queue.name + " runs " + std::to_string(queue.running) + " of at most " +
                       std::to_string(queue.max_running) + " applications",
                   "raise maxRunningApps of " + queue.name + ", or wait for one of them to end"});
  }
}

void FindUserMaxima(const Books& books, const App& app, const Resources& size, std::vector<Blocker>& out) {
  ForHolders(app, [&](UserId holder) {
    if (!books.users.Exceeds(holder, size)) return;
    const User& user = books.users[holder];
    const bool ever = (app.master_used + size).FitsIn(*user.most);
    out.push_back({Reason::kUserMaximum, user.name.name,
                   InWords(user.name) + " uses " + model::InWords(user.used) + " of at most " +
                       model::InWords(*user.most) + " in all queues; " + model::InWords(size) + " more does not fit",
                   "raise maxResources of " + InWords(user.name) +
                       (ever ? ", or wait for containers of theirs to end" : ", or ask for less")});
  });
}

void FindQueueMaxima(const Books& books, const App& app, const Resources& size, std::vector<Blocker>& out) {
  for (QueueId q = app.leaf; q.valid(); q = books.queues[q].parent) {
    const Queue& queue = books.queues[q];
    if ((queue.used + size).FitsIn(queue.high)) continue;
    // Else no end of a container helps: the application's own master stays as long as the application.
    const bool ever = (app.master_used + size).FitsIn(queue.high);
    const char* never = size.FitsIn(queue.high) ? ", not even beside the application's master alone"
                                                : ", not even into the empty queue";
    out.push_back(
        {Reason::kQueueMaximum, queue.name,
         "queue " + queue.name + " uses " + model::InWords(queue.used) + " of at most " + model::InWords(queue.high) +
             "; " + model::InWords(size) + " more does not fit" + (ever ? "" : never),
         "raise maxResources of " + queue.name + (ever ? ", or wait for its containers to end" : ", or ask for less")});
  }
}

void FindMasterLimits(const Books& books, const App& app, const Resources& size, bool closed,
                      std::vector<Blocker>& out) {
  if (!app.needs_master) return;
  const bool cluster = books.queues.ClusterMastersExceed(size);
  const auto add = [&](QueueId id, const char* remedy) {
    const Queue& queue = books.queues[id];
    const std::string of_at_most = " of at most " + model::InWords(books.queues.MasterLimits(id));
    out.push_back({Reason::kMasterShare, queue.name,
                   "masters in queue " + queue.name + " use " + model::InWords(queue.master_used) +
                       (queue.master_share < 0 ? "" : of_at_most) + "; " + model::InWords(size) +
                       " more, or the master of an earlier application, is too much",
                   remedy});
  };
  if (books.queues.LeafMastersExceed(app.leaf, size) || (closed && !cluster)) {
    add(app.leaf, "raise maxAMShare, or wait for an application to end");
  }
  if (cluster) add(kRoot, "add nodes, or wait for an application to end");
}

Blocker NoRoom(const Books& books, const Shape& shape) {
  const std::string size = model::InWords(shape.size);
  const std::string label = books.nodes.LabelName(shape.label);
  if (books.nodes.partition(shape.label).open_nodes == 0) {
    if (!shape.label.valid() || books.nodes.alive() == 0) {
      return {Reason::kNoNodes, label, "no node takes containers", "register nodes, or make them schedulable"};
    }
    return {Reason::kLabel, label, "no node that takes containers carries the label " + label,
            "give the label to a node, or ask without it"};
  }
  bool possible = false;
  for (uint32_t i = 0; i < books.nodes.size() && !possible; ++i) {
    const Node& node = books.nodes[NodeIndex{i}];
    possible = node.serves() && shape.size.FitsIn(node.capacity) && books.nodes.HasLabel(NodeIndex{i}, shape.label);
  }
  if (!possible) {
    return {Reason::kLargerThanAnyNode, label, size + " is larger than every node that it may go to",
            "ask for less, or add a larger node"};
  }
  return {Reason::kClusterFull, label,
          "no node has " + size + " free; the cluster uses " + model::InWords(books.queues[kRoot].used) + " of " +
              model::InWords(books.nodes.schedulable()),
          "add a node, or wait for containers to end"};
}

Blocker AllExcluded(const App& app, const Shape& shape, size_t more) {
  return {Reason::kNodesExcluded, "",
          "every node with room for " + model::InWords(shape.size) + " is among the application's " +
              std::to_string(app.excluded.size() + more) + " excluded places",
          "remove a node from the exclusions, or wait for another node"};
}

model::scheduler::Pending Joined(const std::vector<Blocker>& blockers) {
  model::scheduler::Pending out;
  if (blockers.empty()) {
    out.reason = Reason::kFairShare;
    out.detail = "served next";
    out.remedy = "nothing to do";
    return out;
  }
  out.reason = blockers[0].reason;
  for (const Blocker& blocker : blockers) {
    out.detail += (out.detail.empty() ? "" : "; besides, ") + blocker.detail;
    out.remedy += (out.remedy.empty() ? "" : "; and also: ") + blocker.remedy;
  }
  return out;
}

}  // namespace fairlead::scheduler::native
