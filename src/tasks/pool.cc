#include "tasks/pool.h"

#include <algorithm>

#include "tasks/task_set.h"

namespace fairlead::tasks {
namespace {

bool FifoBefore(const TaskSet* a, const TaskSet* b) {
  if (a->priority() != b->priority()) return a->priority() < b->priority();
  return a->id().stage < b->id().stage;
}

struct Share {
  int32_t running = 0;
  int32_t min_share = 0;
  int32_t weight = 1;
  const std::string* name = nullptr;
};

/// FairSchedulingAlgorithm, with Java's double arithmetic.
bool FairBefore(const Share& a, const Share& b) {
  const bool a_needy = a.running < a.min_share;
  const bool b_needy = b.running < b.min_share;
  if (a_needy != b_needy) return a_needy;
  const auto ratio = [&](const Share& s) {
    return a_needy ? s.running / std::max(static_cast<double>(s.min_share), 1.0)
                   : s.running / static_cast<double>(s.weight);
  };
  const double x = ratio(a);
  const double y = ratio(b);
  if (x != y) return x < y;
  return *a.name < *b.name;
}

/// The pool a set without one goes to (FairSchedulableBuilder.DEFAULT_POOL_NAME).
constexpr char kDefaultPool[] = "default";

}  // namespace

void Pool::Add(TaskSet* set) {
  sets_.push_back(set);
  if (config_.mode == PoolMode::kFifo) {
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), set, FifoBefore), set);
  }
  set->pool = this;
}

void Pool::Remove(TaskSet* set) {
  std::erase(sets_, set);
  std::erase(sorted_, set);
  set->pool = nullptr;
}

void Pool::AppendSorted(std::vector<TaskSet*>& out) const {
  if (config_.mode == PoolMode::kFifo) {
    for (TaskSet* set : sorted_) {
      if (set->schedulable()) out.push_back(set);
    }
    return;
  }
  const size_t from = out.size();
  for (TaskSet* set : sets_) {
    if (set->schedulable()) out.push_back(set);
  }
  // A set has weight 1 and no minimum share.
  const auto share = [](const TaskSet* set) { return Share{.running = set->running(), .name = &set->name()}; };
  std::stable_sort(out.begin() + static_cast<ptrdiff_t>(from), out.end(),
                   [&](const TaskSet* a, const TaskSet* b) { return FairBefore(share(a), share(b)); });
}

PoolTree::PoolTree(const Config& config) : fair_(config.mode == PoolMode::kFair) {
  if (fair_) {
    for (const PoolConfig& pool : config.pools) pools_.push_back(std::make_unique<Pool>(pool));
    PoolFor(kDefaultPool);
  } else {
    pools_.push_back(std::make_unique<Pool>(PoolConfig{}));
  }
}

Pool& PoolTree::PoolFor(const std::string& name) {
  if (!fair_) return *pools_.front();
  const std::string& wanted = name.empty() ? std::string(kDefaultPool) : name;
  for (const auto& pool : pools_) {
    if (pool->config().name == wanted) return *pool;
  }
  pools_.push_back(std::make_unique<Pool>(PoolConfig{.name = wanted}));
  return *pools_.back();
}

std::vector<TaskSet*> PoolTree::Sorted() const {
  std::vector<TaskSet*> sets;
  if (!fair_) {
    pools_.front()->AppendSorted(sets);
    return sets;
  }
  std::vector<const Pool*> order;
  for (const auto& pool : pools_) {
    if (!pool->sets().empty()) order.push_back(pool.get());
  }
  const auto share = [](const Pool* pool) {
    return Share{.running = pool->running,
                 .min_share = pool->config().min_share,
                 .weight = pool->config().weight,
                 .name = &pool->config().name};
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const Pool* a, const Pool* b) { return FairBefore(share(a), share(b)); });
  for (const Pool* pool : order) pool->AppendSorted(sets);
  return sets;
}

}  // namespace fairlead::tasks
