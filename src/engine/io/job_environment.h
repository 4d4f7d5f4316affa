#pragma once

// What `fairlead submit` tells a job's driver: variables in the environment of the application's master container. The
// job binary is localized as `job` in the container's directory and started as `./job ARGUMENTS...`; executors are the
// same file. Amounts are decimal numbers.

namespace fairlead::engine {

/// "HOST:PORT" of ApplicationMasterProtocol. Its presence makes the binary a driver in a container (cluster mode).
inline constexpr const char* kEnvSchedulerAddress = "FAIRLEAD_RM_SCHEDULER_ADDRESS";
/// "application_..." of the job.
inline constexpr const char* kEnvApplicationId = "FAIRLEAD_APPLICATION_ID";
/// The application's name.
inline constexpr const char* kEnvApplicationName = "FAIRLEAD_APPLICATION_NAME";
/// Directory for the driver's event log, CONTAINER.jsonl; unset: the container's log directory, events.jsonl.
inline constexpr const char* kEnvEventLogDirectory = "FAIRLEAD_EVENT_LOG_DIRECTORY";
/// file:// URL, size in bytes and modification time in ms of the job binary, for localizing it on executors.
inline constexpr const char* kEnvJobUrl = "FAIRLEAD_JOB_URL";
inline constexpr const char* kEnvJobSize = "FAIRLEAD_JOB_SIZE";
inline constexpr const char* kEnvJobTimestamp = "FAIRLEAD_JOB_TIMESTAMP";
/// Executors at most and at least; equal numbers mean a fixed count.
inline constexpr const char* kEnvExecutorsMax = "FAIRLEAD_EXECUTORS_MAX";
inline constexpr const char* kEnvExecutorsMin = "FAIRLEAD_EXECUTORS_MIN";
/// "1": slow tasks are run a second time beside the first (spark.speculation).
inline constexpr const char* kEnvSpeculation = "FAIRLEAD_SPECULATION";
/// "1": tasks wait for a place near their data no longer than reading from afar was measured to take.
inline constexpr const char* kEnvAdaptiveDelay = "FAIRLEAD_ADAPTIVE_DELAY";
/// Executors above the least number are given back when they were idle for so many seconds.
inline constexpr const char* kEnvExecutorIdleSeconds = "FAIRLEAD_EXECUTOR_IDLE_SECONDS";
inline constexpr const char* kEnvExecutorMemoryMib = "FAIRLEAD_EXECUTOR_MEMORY_MIB";
inline constexpr const char* kEnvExecutorCores = "FAIRLEAD_EXECUTOR_CORES";
/// Directory that relative paths of the job begin at: where it was submitted from.
inline constexpr const char* kEnvWorkingDirectory = "FAIRLEAD_WORKING_DIRECTORY";
/// Port of the shuffle service on every node (spark.shuffle.service.port).
inline constexpr const char* kEnvShufflePort = "FAIRLEAD_SHUFFLE_PORT";

}  // namespace fairlead::engine
