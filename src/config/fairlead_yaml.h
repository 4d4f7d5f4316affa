#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "model/queues.h"

namespace fairlead::config {

/// What a daemon runs on: Hadoop keys, and the queues when Fairlead's own file gives them.
struct Settings {
  HadoopConf conf;
  std::optional<model::QueueTree> queues;
};

/// Reads Fairlead's own short YAML over `settings`. Every entry stands for a Hadoop key or a fairlead.* key
/// (docs/configuration.md has the table); what has no short name goes under `hadoop:` by its full key. An unknown entry
/// or a value of the wrong kind is refused with file, line, column and what to write.
base::Status AddFairleadYaml(const std::string& file, std::string_view text, Settings& settings);

/// The table behind AddFairleadYaml, for docs and `config check`: path, key, kind, meaning.
struct YamlEntry {
  const char* path;
  const char* key;
  enum class Kind { kText, kNumber, kPort, kMemory, kBool, kTime, kList } kind;
  const char* meaning;
};
std::span<const YamlEntry> YamlEntries();

/// "4096", "512MiB", "4GiB" -> MiB.
base::Result<int64_t> ParseMemoryMib(std::string_view text);

}  // namespace fairlead::config
