#pragma once

#include <cstdint>

// How containers end, as everybody says it: ContainerExitStatus of Hadoop, and what a shell makes of a signal.

namespace fairlead::model {

inline constexpr int32_t kExitInvalid = -1000;  // it has not ended, or nobody knows how
inline constexpr int32_t kExitAborted = -100;   // released, or its node or its application is gone
inline constexpr int32_t kExitDisksFailed = -101;
inline constexpr int32_t kExitPreempted = -102;
inline constexpr int32_t kExitExceededVirtualMemory = -103;
inline constexpr int32_t kExitExceededPhysicalMemory = -104;
inline constexpr int32_t kExitKilledByMaster = -105;
inline constexpr int32_t kExitKilledByResourceManager = -106;
inline constexpr int32_t kExitKilledAfterAppCompletion = -107;
inline constexpr int32_t kExitKilledByScheduler = -108;
/// ContainerExecutor.ExitCode of Hadoop.
inline constexpr int32_t kExitForceKilled = 137;
inline constexpr int32_t kExitTerminated = 143;
inline constexpr int32_t kExitLost = 154;

/// What Hadoop takes for an end by signal.
constexpr bool EndedBySignal(int32_t status) { return status == kExitForceKilled || status == kExitTerminated; }

}  // namespace fairlead::model
