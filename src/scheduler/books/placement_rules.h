#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/queues.h"
#include "model/refusal.h"

namespace fairlead::scheduler::native {

/// What the rules may ask about the queues there are.
struct QueueLookup {
  std::function<bool(std::string_view)> exists;
  std::function<bool(std::string_view)> leaf;
  std::function<bool(std::string_view)> configured;
};

/// yarn.scheduler.fair.allow-undeclared-pools and user-as-default-queue: they make the rules when the file has none.
struct PlacementDefaults {
  bool undeclared_queues = true;
  bool user_as_default_queue = true;
};

struct PlacementRequest {
  std::string queue;  // as asked for; empty or "default": none
  std::string user;
  std::vector<std::string> groups;  // primary first
};

/// The full name of the queue, by the first rule that gives one (Hadoop's QueuePlacementPolicy), or why the application
/// is refused. O(rules).
base::Result<std::string, model::Refused> PlaceByRules(const std::optional<std::vector<model::PlacementRule>>& rules,
                                                       const PlacementDefaults& defaults,
                                                       const PlacementRequest& request, const QueueLookup& lookup);

}  // namespace fairlead::scheduler::native
