#pragma once

#include <map>
#include <string>
#include <vector>

// What a container gives a driver or an executor: environment, tokens, directories.

namespace fairlead::engine {

/// An environment variable, or `otherwise`.
std::string Environment(const char* name, const std::string& otherwise = "");
/// As a number; throws JobError when it is set to something else.
long EnvironmentNumber(const char* name, long otherwise);
/// Throws JobError that names the variable.
std::string RequiredEnvironment(const char* name);

/// The whole file of HADOOP_TOKEN_FILE_LOCATION (or container_tokens in the working directory). Throws JobError.
std::string ReadTokenFile();

/// Differs between binaries: a hash of the running program's file.
std::string BuildId();

std::vector<std::string> SplitCommas(const std::string& text);

/// Variables between a driver and its executors; those that `fairlead submit` sets are in job_environment.h.
inline constexpr const char* kEnvDriverAddress = "FAIRLEAD_DRIVER_ADDRESS";
/// Alias of the application's secret among an executor's credentials.
inline constexpr const char* kSecretAlias = "fairlead.engine.secret";

}  // namespace fairlead::engine
