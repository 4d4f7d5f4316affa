#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::shell {

/// What `fairlead replay JOURNAL --at TIME --document TARGET` prints, asked of this very program in a process of its
/// own: whatever a journal holds, it harms no other, and what it takes of memory and time has an end
/// (Questions::kLongest). The process ends when it is `given_up`, which is looked at now and then. Blocks; may be
/// called on any thread. Error: what that process said; ENOENT: the moment or the document is not there; EINVAL: what
/// was asked for is none; ETIMEDOUT.
base::Result<std::string> TellPast(const std::string& journal, base::WallTime at, const std::string& target,
                                   const std::function<bool()>& given_up,
                                   const std::string& program = "/proc/self/exe");

}  // namespace fairlead::shell
