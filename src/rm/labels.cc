#include "rm/labels.h"

#include <algorithm>
#include <cctype>

namespace fairlead::rm {

using model::Refusal;
using model::rm::NodeAddress;
using model::rm::NodeLabelRecord;
using model::scheduler::ClusterLabel;

namespace {

constexpr size_t kLongestName = 255;

/// CommonNodeLabelsManager.checkAndThrowLabelName.
bool IsName(const std::string& name) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && std::isalnum(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(), plain);
}

}  // namespace

Labels::Labels(model::rm::LabelsRecord record) {
  for (ClusterLabel& label : record.labels) known_.emplace(std::move(label.name), label.exclusive);
  for (NodeLabelRecord& node : record.nodes) of_nodes_.emplace(std::move(node.node), std::move(node.label));
}

const std::string& Labels::Of(const NodeAddress& node) const {
  static const std::string none;
  auto found = of_nodes_.find(node);
  if (found == of_nodes_.end()) found = of_nodes_.find({node.host, 0});
  return found == of_nodes_.end() ? none : found->second;
}

model::Refused Labels::Add(const std::vector<ClusterLabel>& labels, std::vector<ClusterLabel>& added) {
  for (const ClusterLabel& label : labels) {
    if (!IsName(label.name)) return {Refusal::kLabelName, {label.name}, {}, {}};
    const auto known = known_.find(label.name);
    if (known != known_.end() && known->second != label.exclusive) {
      return {Refusal::kLabelExclusivity, {label.name, label.exclusive ? "true" : "false"}, {}, {}};
    }
  }
  for (const ClusterLabel& label : labels) {
    if (known_.emplace(label.name, label.exclusive).second) added.push_back(label);
  }
  return {};
}

model::Refused Labels::Remove(const std::vector<std::string>& labels, const model::QueueSet& queues) {
  for (const std::string& label : labels) {
    if (!Knows(label)) return {Refusal::kLabelNotThere, {label}, {}, {}};
    for (const model::QueueSet::Queue& queue : queues.all()) {
      if (std::find(queue.labels.begin(), queue.labels.end(), label) != queue.labels.end()) {
        return {Refusal::kLabelInUse, {label, queue.name}, {}, {}};
      }
    }
  }
  for (const std::string& label : labels) {
    known_.erase(label);
    std::erase_if(of_nodes_, [&](const auto& node) { return node.second == label; });
  }
  return {};
}

model::Refused Labels::Replace(const std::vector<NodeLabelRecord>& nodes) {
  for (const NodeLabelRecord& node : nodes) {
    if (!node.label.empty() && !Knows(node.label)) return {Refusal::kLabelsUnknown, {node.label}, {}, {}};
  }
  for (const NodeLabelRecord& node : nodes) {
    // Of a host: for all of its nodes, whatever they had.
    if (node.node.port == 0) {
      std::erase_if(of_nodes_, [&](const auto& one) { return one.first.host == node.node.host; });
    }
    if (node.label.empty() && node.node.port == 0) continue;
    of_nodes_[node.node] = node.label;
  }
  return {};
}

model::rm::LabelsRecord Labels::Record() const {
  model::rm::LabelsRecord record;
  for (const auto& [name, exclusive] : known_) record.labels.push_back({name, exclusive});
  for (const auto& [node, label] : of_nodes_) record.nodes.push_back({node, label});
  return record;
}

void Labels::Mix(base::StateHasher& hash) const {
  for (const auto& [name, exclusive] : known_) {
    hash.Mix(std::string_view(name));
    hash.Mix(exclusive ? 1 : 0);
  }
  for (const auto& [node, label] : of_nodes_) {
    hash.Mix(std::string_view(node.host));
    hash.Mix(static_cast<uint64_t>(node.port));
    hash.Mix(std::string_view(label));
  }
}

model::Refused NormalizeLabel(const Labels& labels, const model::QueueSet& queues, const std::string& queue,
                              model::Ask& ask) {
  const model::QueueSet::Queue* config = queues.FindAbbreviated(queue);
  if (ask.label.empty() && ask.name == "*" && config) ask.label = config->default_label;
  if (ask.label.empty()) return {};
  if (ask.name != "*") return {Refusal::kAskLabelPlace, {queue, ask.name}, {}, {}};
  if (config) {
    const auto may = [&](const std::string& label) {
      return std::find(config->labels.begin(), config->labels.end(), label) != config->labels.end();
    };
    if (!may("*") && !may(ask.label)) {
      std::string all;
      for (const std::string& label : config->labels) all += (all.empty() ? "" : ",") + label;
      return {Refusal::kAskLabelQueue, {queue, ask.label, all}, {}, {}};
    }
  }
  if (!labels.Knows(ask.label)) return {Refusal::kAskLabelUnknown, {ask.label}, {}, {}};
  return {};
}

}  // namespace fairlead::rm
