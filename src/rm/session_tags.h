#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/scheduler.h"

namespace fairlead::rm {

/// What an application's tags say to profile `tdw`: "fairlead.not-preemptable", "fairlead.maps=N",
/// "fairlead.reduces=N". Others, and numbers that are none, say nothing. YARN's clients write tags in small letters.
model::scheduler::SessionTraits TraitsOf(const std::vector<std::string>& tags);

/// The name of an application without its digits, as far as 64 bytes: those of one name do alike, whatever their dates
/// and numbers.
std::string KindOf(std::string_view name);

/// True with the tag "fairlead.gang": the number that an ask's allocation_request_id is, if it is above 0, is that of a
/// gang. Hadoop's protocol has no other place for one; a resource manager of Hadoop's grants such asks one by one.
bool AsksForGangs(const std::vector<std::string>& tags);

}  // namespace fairlead::rm
