#pragma once

#include "scheduler/yarn_fair/books.h"

// Which queue an application goes to, and who may use it.

namespace fairlead::scheduler::yarn_fair {

struct Placed {
  std::optional<std::string> queue;  // nullopt: no rule took it
  model::Refused refused;            // a rule threw
};

/// PlacementManager.placeApplication. O(rules x queues of a name).
Placed Place(const Books& books, const std::string& queue, const std::string& user,
             const std::vector<std::string>& groups);
/// ConfiguredYarnAuthorizer.checkPermission for SUBMIT_APPLICATIONS or ADMINISTER_QUEUE, on the queue or above.
bool MaySubmit(const Books& books, const std::string& queue, const std::string& user,
               const std::vector<std::string>& groups);

}  // namespace fairlead::scheduler::yarn_fair
