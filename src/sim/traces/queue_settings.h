#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"
#include "model/queues.h"

// What configurations of queues say, in words that Hadoop's two schedulers share, so that one can be held against the
// other.

namespace fairlead::sim {

/// By setting ("maximum"), its value in words ("40 % of the cluster"); what is not there is not set, or is Hadoop's
/// way to say so.
using QueueSettings = std::map<std::string, std::string>;

/// By full name of the queue; "" has what holds for all. Defaults of the configuration are filled in, and a share is
/// the queue's among those beside it. O(queues log queues).
std::map<std::string, QueueSettings> SettingsOf(const model::QueueTree& tree);

/// A setting that two configurations do not have alike; empty: one does not have it.
struct SettingDifference {
  std::string queue;  // "": of all queues
  std::string setting;
  std::string from;
  std::string to;
  FL_FIELDS(queue, setting, from, to)
};

/// A queue that one does not have is one difference, setting "queue".
std::vector<SettingDifference> DifferencesOf(const model::QueueTree& from, const model::QueueTree& to);

/// A capacity-scheduler.xml's queues as other profiles read queues: names, weights (what is a percentage counts as
/// one), maxima, numbers of running applications and masters' shares. Other trees come back as they are.
model::QueueTree FairTreeOf(const model::QueueTree& tree);

/// Of the queues that jobs ask for (full names) those that are not there, with the only leaf of the same last name, by
/// which the CapacityScheduler's clients call it.
std::map<std::string, std::string> PlacesFor(const model::QueueTree& tree, const std::set<std::string>& asked);

}  // namespace fairlead::sim
