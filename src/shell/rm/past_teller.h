#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::shell {

/// What `fairlead replay JOURNAL --at TIME --document TARGET` prints, asked of this very program in a process of its
/// own: whatever a journal holds, it harms no other, and what it takes of memory and time has an end (kPastMost).
/// Blocks; may be called on any thread. Error: what that process said; ENOENT: the moment or the document is not there;
/// EINVAL: what was asked for is none.
base::Result<std::string> TellPast(const std::string& journal, base::WallTime at, const std::string& target);

inline constexpr base::Duration kPastMost = base::Duration::Seconds(60);

}  // namespace fairlead::shell
