#pragma once

// What `fairlead submit` tells a job's driver: variables in the environment of the application's master container. The
// job binary is localized as `job` in the container's directory and started as `./job ARGUMENTS...`; executors are the
// same file. Amounts are decimal numbers.

namespace fairlead::engine {

/// "HOST:PORT" of ApplicationMasterProtocol. Its presence makes the binary a driver in a container (cluster mode).
inline constexpr const char* kEnvSchedulerAddress = "FAIRLEAD_RM_SCHEDULER_ADDRESS";
/// "application_..." of the job.
inline constexpr const char* kEnvApplicationId = "FAIRLEAD_APPLICATION_ID";
/// file:// URL, size in bytes and modification time in ms of the job binary, for localizing it on executors.
inline constexpr const char* kEnvJobUrl = "FAIRLEAD_JOB_URL";
inline constexpr const char* kEnvJobSize = "FAIRLEAD_JOB_SIZE";
inline constexpr const char* kEnvJobTimestamp = "FAIRLEAD_JOB_TIMESTAMP";
/// Executors at most and at least; equal numbers mean a fixed count.
inline constexpr const char* kEnvExecutorsMax = "FAIRLEAD_EXECUTORS_MAX";
inline constexpr const char* kEnvExecutorsMin = "FAIRLEAD_EXECUTORS_MIN";
inline constexpr const char* kEnvExecutorMemoryMib = "FAIRLEAD_EXECUTOR_MEMORY_MIB";
inline constexpr const char* kEnvExecutorCores = "FAIRLEAD_EXECUTOR_CORES";
/// Port of the shuffle service on every node (spark.shuffle.service.port).
inline constexpr const char* kEnvShufflePort = "FAIRLEAD_SHUFFLE_PORT";

}  // namespace fairlead::engine
