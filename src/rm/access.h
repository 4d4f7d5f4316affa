#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/queues.h"

namespace fairlead::rm {

/// "root.a.b" of "a.b" and of "root.a.b".
std::string FullQueueName(std::string_view name);

/// Is the user on the list of the queue or of one above it, to submit or to administer? Without a list the root is
/// open to everybody and every other queue to nobody of its own (AllocationConfiguration.getQueueAcls). No
/// administrator of the cluster is let in beyond these lists, as Hadoop's FairScheduler lets none in. O(queues *
/// depth).
bool QueueAllows(const model::QueueTree& tree, const std::string& queue, const std::string& user,
                 const std::vector<std::string>& groups, bool administer);

/// The queue's own name if the file has it, else the nearest above it that is there.
std::string ConfiguredQueue(const model::QueueTree& tree, const std::string& queue);

}  // namespace fairlead::rm
