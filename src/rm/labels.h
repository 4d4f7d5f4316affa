#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/queue_set.h"
#include "model/refusal.h"
#include "model/rm.h"

namespace fairlead::rm {

/// The store's table of them: one row, "all".
inline constexpr char kLabelsTable[] = "rm/labels";

/// The cluster's node labels, and which hosts or nodes an administrator has given which (CommonNodeLabelsManager,
/// RMNodeLabelsManager). A node has one label at most. Decides nothing by itself.
class Labels {
 public:
  explicit Labels(model::rm::LabelsRecord record = {});

  bool Knows(const std::string& label) const { return known_.contains(label); }
  /// By name: whether it is exclusive.
  const std::map<std::string, bool>& known() const { return known_; }
  /// By node; port 0: every node of the host that has no label of its own.
  const std::map<model::rm::NodeAddress, std::string>& of_nodes() const { return of_nodes_; }
  /// Of the node, else of its host; empty: none. O(log nodes).
  const std::string& Of(const model::rm::NodeAddress& node) const;

  /// addToCluserNodeLabels: new ones, or ones that are there alike. `added` gets the new ones.
  model::Refused Add(const std::vector<model::scheduler::ClusterLabel>& labels,
                     std::vector<model::scheduler::ClusterLabel>& added);
  /// removeFromClusterNodeLabels: nodes that have them get none. A label that a queue names stays.
  model::Refused Remove(const std::vector<std::string>& labels, const model::QueueSet& queues);
  /// replaceLabelsOnNode: an empty label takes it away.
  model::Refused Replace(const std::vector<model::rm::NodeLabelRecord>& nodes);

  model::rm::LabelsRecord Record() const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(known_, of_nodes_)

 private:
  std::map<std::string, bool> known_;
  std::map<model::rm::NodeAddress, std::string> of_nodes_;
};

/// What an ask of an application of that queue may say of labels, and what it gets when it says none
/// (SchedulerUtils.normalizeAndValidateRequest).
model::Refused NormalizeLabel(const Labels& labels, const model::QueueSet& queues, const std::string& queue,
                              model::Ask& ask);

}  // namespace fairlead::rm
