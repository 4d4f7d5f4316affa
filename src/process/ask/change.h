#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/queues.h"
#include "model/resources.h"

namespace fairlead::process::ask {

// What may be asked about. Each has a text of its own, NAME VALUE: the options of `fairlead what-if` and the elements
// of REST's "changes" are the same texts.

/// queue QUEUE.SETTING=VALUE: as `fairlead queue set`. Whoever knows the file makes NewQueues of it.
struct SetQueue {
  std::string queue;
  std::string setting;
  std::string value;
};
/// These queues instead of those in use.
struct NewQueues {
  model::QueueTree tree;
};
/// lose-node HOST[:PORT]
struct LoseNode {
  std::string node;
};
/// lose-rack RACK
struct LoseRack {
  std::string rack;
};
/// add-nodes COUNT[=HOST[:PORT]]: as large as that node; where none is named, as the first.
struct AddNodes {
  int32_t count = 0;
  std::string like;
};
/// drain HOST[:PORT]: nothing new starts there.
struct DrainNode {
  std::string node;
};
/// submit COUNTxMEMORY,VCORESxTIME@QUEUE, for example 100x2GiB,1x10m@root.prod: a job of so many containers.
struct Submit {
  int32_t count = 0;
  model::Resources size;
  base::Duration run;
  std::string queue;
  std::string user;  // who asks; his groups
  std::vector<std::string> groups{};
};
/// kill APP
struct KillApp {
  model::ApplicationId app;
};
/// move APP=QUEUE or move APP QUEUE
struct MoveApp {
  model::ApplicationId app;
  std::string queue;
};
/// profile NAME: the cluster is carried into a scheduler of that profile, before all other changes.
struct UseProfile {
  std::string name;
};

using Change =
    std::variant<SetQueue, NewQueues, LoseNode, LoseRack, AddNodes, DrainNode, Submit, KillApp, MoveApp, UseProfile>;

/// Of one question, in all.
inline constexpr int32_t kMostNodesAdded = 10'000;
inline constexpr int32_t kMostSubmitted = 100'000;  // containers
inline constexpr base::Duration kLongestRun = base::Duration::Seconds(30 * 86'400);

/// Error: what is wrong, and what to write.
base::Result<Change> ParseChange(std::string_view text);

/// Error: more nodes or containers than one question may bring, however many changes bring them.
base::Status WithinSums(const std::vector<Change>& changes);

/// "90s", "10m", "2h" or "1d", more than nothing and at most kLongestRun.
base::Result<base::Duration> ParseTime(std::string_view text);

}  // namespace fairlead::process::ask
