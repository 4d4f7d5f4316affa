#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/queues.h"

namespace fairlead::config {

/// What is wrong with an allocation file, as Error::code; named after what Hadoop would throw.
enum class AllocationFault : int {
  kXml = 1,            // SAXParseException
  kConfiguration = 2,  // AllocationConfigurationException
  kNumber = 3,         // NumberFormatException
  kEmptyElement = 4,   // NullPointerException
};

struct AllocationFile {
  model::QueueTree tree;
  std::vector<std::string> warnings;  // elements that are not known, with line and column
};

/// Reads fair-scheduler.xml as Hadoop does (AllocationFileParser, AllocationFileQueueParser, QueuePlacementPolicy,
/// FairSchedulerConfiguration.parseResourceConfigValue). An Error has all that is wrong, a line each, as
/// "FILE:LINE:COLUMN: what; write what instead", in the file's order and at most 201; its code is that of the first
/// that Hadoop comes to. Beyond Hadoop it refuses weights that are no finite number, queues nested deeper than 100 and
/// files above 16 MiB. The resource types must have been registered before. O(size).
base::Result<AllocationFile> ParseAllocationFile(std::string_view text, std::string_view file = "fair-scheduler.xml");

/// One amount of <minResources>, <maxResources> and the like; `unnamed` is what types not named get in the new style.
base::Result<model::ConfiguredResources> ParseConfiguredResources(std::string_view text, int64_t unnamed);

/// The users and groups of an access list: "user1,user2 group1", "*" for everybody, " " for nobody.
model::AccessList ParseAccessList(std::string_view text);

}  // namespace fairlead::config
