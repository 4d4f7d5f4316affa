#include "scheduler/yarn_capacity/check.h"

#include <algorithm>

namespace fairlead::scheduler::yarn_capacity {
namespace {

/// What nodes and reservations hold, by queue and partition, against what the queues say they use.
std::string CheckUse(const Books& books) {
  std::map<std::pair<QueueId, PartitionId>, Resources> held;
  for (const AttemptId id : books.attempts) {
    const Attempt& attempt = books.attempts[id];
    std::map<PartitionId, Resources> own;
    const auto count = [&](ContainerSlot slot) {
      const Container& container = books.containers[slot];
      const PartitionId partition = books.partitions.OfNode(container.node);
      for (QueueId at = attempt.queue; at.valid(); at = books.queues[at].parent) {
        held[{at, partition}] += container.resources;
      }
    };
    for (const ContainerSlot slot : books.containers.OfAttempt(attempt.live)) count(slot);
    for (const auto& [key, counts] : attempt.counts) {
      for (const NodeIndex node : counts.reserved_on) {
        if (books.nodes[node].reserved.valid()) count(books.nodes[node].reserved);
      }
    }
  }
  std::string wrong;
  books.queues.ForEachDown(books.queues.root(), [&](QueueId id) {
    const Queue& queue = books.queues[id];
    for (PartitionId label{0}; label.value < queue.usage.partitions(); ++label.value) {
      const Resources& sum = held[{id, label}];
      if (queue.usage.used(label) != sum) {
        wrong += queue.path + " uses " + model::ToString(queue.usage.used(label)) + ", counted " +
                 model::ToString(sum) + "\n";
      }
    }
  });
  return wrong;
}

std::string CheckTree(const Books& books) {
  std::string wrong;
  books.queues.ForEachDown(books.queues.root(), [&](QueueId id) {
    const Queue& queue = books.queues[id];
    if (books.queues.names().FindPath(queue.path) != id) wrong += queue.path + " is not known by its path\n";
    for (const QueueId child : queue.children) {
      if (books.queues[child].parent != id) wrong += books.queues[child].path + " has another parent\n";
    }
  });
  return wrong;
}

std::string CheckAttempts(const Books& books) {
  std::string wrong;
  for (const AttemptId id : books.attempts) {
    const Attempt& attempt = books.attempts[id];
    std::string here = attempt.asks.Check();
    books.containers.CheckAttempt(attempt.live, id, here);
    if (!here.empty()) wrong += "attempt of " + attempt.user + ": " + here;
  }
  return wrong;
}

}  // namespace

std::string Check(const Books& books) {
  return books.nodes.Check(books.containers, books.names) + CheckTree(books) + CheckAttempts(books) + CheckUse(books) +
         books.orders.Check(books);
}

}  // namespace fairlead::scheduler::yarn_capacity
