#include "shell/base/settings.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "env_posix/posix_loop.h"

namespace fairlead::shell {
namespace {

std::map<std::string, std::string> EnvironmentVariables() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

/// Keys without effect that are told one by one; a file may have any number.
constexpr size_t kUnreadTold = 500;
/// Keys of other programs that may be meant for this one.
constexpr size_t kLookedUp = 2000;

/// Hadoop's files of stores and passwords, whoever has written that TLS is spoken.
base::Status AddTlsFiles(const std::string& directory, const config::FileReader& read, config::HadoopConf& conf) {
  const bool pages = base::Lowered(conf.String("yarn.http.policy")) == "https_only";
  if (directory.empty() || (!pages && !conf.Bool("mapreduce.shuffle.ssl.enabled", false))) return {};
  for (const char* name : {"ssl-server.xml", "ssl-client.xml"}) {
    const std::string path = directory + "/" + name;
    const auto text = read(path);
    if (!text) continue;  // the server's, with its passwords, is not for everybody who reads the others
    if (base::Status added = conf.AddMissing(path, *text, read); !added.ok()) return added;
  }
  return {};
}

bool HasShortName(const std::string& key) {
  return std::ranges::any_of(config::YamlEntries(), [&](const config::YamlEntry& entry) { return entry.key == key; });
}

}  // namespace

base::Result<config::Settings> LoadSettings(const SettingsSource& source) {
  const auto disk = env_posix::MakePosixDisk();
  const config::FileReader read = [&](const std::string& path) { return disk->ReadFile(path, uint64_t{16} << 20); };
  config::Settings settings{config::HadoopConf(EnvironmentVariables()), std::nullopt};
  if (!source.hadoop_conf.empty()) {
    auto conf = config::HadoopConf::Load(source.hadoop_conf, EnvironmentVariables(), read);
    if (!conf) return conf.error();
    settings.conf = std::move(conf).value();
  } else {
    settings.conf.Set("yarn.resourcemanager.hostname", "127.0.0.1", {});
    settings.conf.Set("yarn.nodemanager.hostname", "127.0.0.1", {});
  }
  if (!source.yaml.empty()) {
    const auto text = read(source.yaml);
    if (!text) return text.error();
    if (const base::Status added = config::AddFairleadYaml(source.yaml, *text, settings); !added.ok()) {
      return added.error();
    }
  }
  for (const std::string& pair : source.overrides) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) return base::Error{"--set takes KEY=VALUE, not '" + pair + "'"};
    settings.conf.Set(pair.substr(0, equals), pair.substr(equals + 1));
  }
  if (base::Status added = AddTlsFiles(source.hadoop_conf, read, settings.conf); !added.ok()) return added.error();
  return settings;
}

void WarnOfUnread(const config::HadoopConf& conf, const std::vector<std::string_view>& prefixes,
                  const std::string& daemon, std::vector<std::string>& warnings) {
  size_t told = 0;
  const auto tell = [&](const std::string& key, const std::string& near) {
    ++told;
    warnings.push_back(key + " has no effect on " + daemon + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  };
  const std::vector<std::string> own = conf.Unread(prefixes);
  for (const std::string& key : own) {
    // Clients read the first, masters' command lines the second.
    if (key.starts_with("yarn.resourcemanager.connect.") || key.ends_with(".classpath")) continue;
    if (told == kUnreadTold) {
      warnings.push_back("more keys than these " + std::to_string(told) + " have no effect on " + daemon);
      break;
    }
    tell(key, conf.ReadAndNear(key));
  }
  size_t looked_up = 0;
  for (const std::string& key : conf.Unread({"yarn."})) {
    if (std::binary_search(own.begin(), own.end(), key)) continue;
    if (HasShortName(key)) continue;  // it is as it should be, for a daemon that shares the file
    if (++looked_up > kLookedUp || told >= kUnreadTold) break;
    if (const std::string near = conf.ReadAndNear(key); !near.empty()) tell(key, near);
  }
}

}  // namespace fairlead::shell
