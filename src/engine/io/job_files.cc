#include "engine/io/job_files.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "engine/io/files.h"
#include "engine/records/buffer.h"
#include "engine/records/checksum.h"
#include "engine/records/errors.h"
#include "engine/settings/pools_file.h"
#include "engine/settings/spark_settings.h"

namespace fairlead::engine {

std::string Environment(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

JobSettings SettingsOfThisProcess() {
  const std::string text = Environment(kEnvJobSettings);
  if (text.empty()) {
    throw JobError(std::string("environment variable ") + kEnvJobSettings + " is missing: not started by a cluster?");
  }
  base::Result<JobSettings> settings = DecodeJobSettings(text);
  if (!settings) throw JobError(settings.error().message);
  return *std::move(settings);
}

void AddSettings(const std::map<std::string, std::string>& spark, JobSettings& settings) {
  for (const auto& [name, value] : spark) settings.spark[name] = value;
  const auto file = spark.find(kAllocationFile);
  if (file == spark.end()) return;
  base::Result<std::string> pools = ReadPoolsFile(ResolveUserPath(file->second));
  if (!pools) throw JobError(pools.error().message);
  settings.pools = *std::move(pools);
}

namespace {

std::string ReadWhole(const std::string& path) {
  try {
    const FileDescriptor file = OpenForReading(path);
    std::string bytes(FileSize(file.get(), path), '\0');
    bytes.resize(ReadAt(file.get(), path, 0, bytes.data(), bytes.size()));
    return bytes;
  } catch (const TaskError& error) {
    throw JobError(error.what());
  }
}

}  // namespace

std::string ReadTokenFile() { return ReadWhole(Environment("HADOOP_TOKEN_FILE_LOCATION", "container_tokens")); }

std::string BuildId() {
  const std::string program = ReadWhole("/proc/self/exe");
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(program.data(), program.size())));
  return text;
}

int32_t ApplicationAttempt() {
  // container_[eEPOCH_]CLUSTER_APPLICATION_ATTEMPT_CONTAINER
  const std::string id = Environment("CONTAINER_ID");
  const size_t container = id.rfind('_');
  const size_t attempt =
      container == std::string::npos || container == 0 ? std::string::npos : id.rfind('_', container - 1);
  int32_t number = 0;
  if (attempt != std::string::npos) {
    std::from_chars(id.data() + attempt + 1, id.data() + container, number);
  }
  return std::max(number, 1);
}

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace fairlead::engine
