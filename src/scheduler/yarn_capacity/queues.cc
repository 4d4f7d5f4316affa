#include "scheduler/yarn_capacity/queues.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::yarn_capacity {

void QueueNames::Add(const Queue& queue, QueueId id) {
  paths_[queue.path] = id;
  most_ = std::max(most_, paths_.size());
  if (queue.name != "root") of_name_[queue.name].insert(queue.path);
}

void QueueNames::Remove(const Queue& queue) {
  paths_.erase(queue.path);
  const auto of_name = of_name_.find(queue.name);
  if (of_name == of_name_.end()) return;
  of_name->second.erase(queue.path);
  if (of_name->second.empty()) of_name_.erase(of_name);
}

std::vector<std::string> QueueNames::InHashOrder() const {
  std::vector<std::string> all;
  std::vector<int32_t> hashes;
  for (const auto& [path, id] : paths_) {
    all.push_back(path);
    hashes.push_back(hadoop::java::HashOfString(path));
  }
  std::vector<std::string> order;
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(most_))) order.push_back(all[i]);
  return order;
}

QueueId QueueNames::FindPath(std::string_view path) const {
  const auto it = paths_.find(path);
  return it == paths_.end() ? QueueId{} : it->second;
}

QueueId QueueNames::Find(std::string_view name) const {
  const auto of_name = of_name_.find(name);
  if (of_name != of_name_.end() && of_name->second.size() == 1) return FindPath(*of_name->second.begin());
  return FindPath(name);
}

bool QueueNames::Ambiguous(std::string_view name) const {
  const auto of_name = of_name_.find(name);
  return of_name != of_name_.end() && of_name->second.size() > 1;
}

std::string PathAbove(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

QueueId Queues::Make(const std::string& path, QueueId parent, bool leaf) {
  const QueueId id = pool_.Add();
  Queue& queue = pool_[id];
  queue.path = path;
  queue.name = path.substr(path.rfind('.') + 1);
  queue.parent = parent;
  queue.leaf = leaf;
  queue.shares = Shares(!parent.valid());
  return id;
}

void Queues::ForEachDown(QueueId id, const std::function<void(QueueId)>& visit) const {
  visit(id);
  const std::vector<QueueId> children = pool_[id].children;
  for (const QueueId child : children) ForEachDown(child, visit);
}

}  // namespace fairlead::scheduler::yarn_capacity
