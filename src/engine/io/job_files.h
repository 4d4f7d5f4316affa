#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/settings/job_settings.h"

// What a container gives a driver or an executor: environment, tokens, directories.

namespace fairlead::engine {

/// An environment variable, or `otherwise`.
std::string Environment(const char* name, const std::string& otherwise = "");
/// What this driver or executor was started with. Throws JobError.
JobSettings SettingsOfThisProcess();
/// What the program sets by itself goes above what it was started with, as in Spark. Throws JobError.
void AddSettings(const std::map<std::string, std::string>& spark, JobSettings& settings);

/// The whole file of HADOOP_TOKEN_FILE_LOCATION (or container_tokens in the working directory). Throws JobError.
std::string ReadTokenFile();

/// Differs between binaries: a hash of the running program's file.
std::string BuildId();

/// The number of the application's attempt that this driver or executor belongs to, from CONTAINER_ID; 1 without.
int32_t ApplicationAttempt();

std::vector<std::string> SplitCommas(const std::string& text);

/// Alias of the application's secret among an executor's credentials.
inline constexpr const char* kSecretAlias = "fairlead.engine.secret";

}  // namespace fairlead::engine
