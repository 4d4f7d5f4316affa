#include "sim/traces/configuration.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "config/capacity_file.h"
#include "profiles/profile.h"

namespace fairlead::sim {
namespace {

using config::FileReader;
using config::HadoopConf;

constexpr char kProfile[] = "fairlead.scheduler.profile";
constexpr char kClass[] = "yarn.resourcemanager.scheduler.class";
constexpr char kFairFile[] = "fair-scheduler.xml";
constexpr char kCapacityFile[] = "capacity-scheduler.xml";
constexpr char kDefaultVersion[] = "3.4.3";

/// The key that says which release a profile imitates; "": it imitates none.
std::string VersionKey(const std::string& profile) {
  if (profile == "yarn-fair") return "fairlead.scheduler.yarn-fair.version";
  if (profile == "yarn-capacity") return "fairlead.scheduler.hadoop-version";
  return "";
}

base::Status SetVersion(Configuration& to, const std::string& version) {
  const std::string key = VersionKey(to.profile);
  if (key.empty()) {
    if (version.empty()) return {};
    return base::Error{"profile " + to.profile + " imitates no release of Hadoop; leave @" + version + " away"};
  }
  if (!version.empty() || !to.conf.IsSet(key)) to.conf.Set(key, version.empty() ? kDefaultVersion : version);
  to.version = to.conf.String(key);
  return {};
}

/// The name of the first element; comments and the like before it are passed over.
std::string_view RootElement(std::string_view text) {
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (text.substr(at).starts_with("<!--")) {
      at = text.find("-->", at);
      if (at == std::string_view::npos) return "";
    } else if (at + 1 < text.size() && text[at + 1] != '?' && text[at + 1] != '!') {
      const size_t end = text.find_first_of(" \t\r\n/>", at + 1);
      return text.substr(at + 1, std::min(end, text.size()) - at - 1);
    }
  }
  return "";
}

base::Result<std::string> ProfileOfFile(const std::string& path, std::string_view text) {
  const std::string_view root = RootElement(text);
  if (root == "allocations") return std::string("yarn-fair");
  if (root == "configuration") return std::string("yarn-capacity");
  return base::Error{path + " is neither a fair-scheduler.xml, which begins with <allocations>, nor a " +
                     "capacity-scheduler.xml, which begins with <configuration>"};
}

/// Which scheduler a directory of Hadoop's files is for.
base::Result<std::string> ProfileOfDirectory(const std::string& path, const HadoopConf& conf, bool fair,
                                             bool capacity) {
  if (conf.IsSet(kProfile)) return conf.String(kProfile);
  const std::string scheduler = conf.IsSet(kClass) ? conf.String(kClass) : "";
  if (scheduler.ends_with(".FairScheduler")) return std::string("yarn-fair");
  if (scheduler.ends_with(".CapacityScheduler")) return std::string("yarn-capacity");
  if (!scheduler.empty()) return base::Error{path + ": " + kClass + " is " + scheduler + ", which does not run here"};
  if (fair && capacity) {
    return base::Error{path + " has a " + kFairFile + " and a " + kCapacityFile +
                       "; name the one that counts, or set " + kClass + " in yarn-site.xml"};
  }
  if (fair) return std::string("yarn-fair");
  if (capacity) return std::string("yarn-capacity");
  return base::Error{path + " has no " + kFairFile + " and no " + kCapacityFile, ENOENT};
}

bool IsNotANumber(const std::string& key, const std::string& value) {
  const model::CapacityQueues alone = config::ReadCapacityQueues({{key, value}});
  const auto wrong = [](const model::CapacityProblem& problem) {
    return problem.fault == model::CapacityFault::kNumber;
  };
  return wrong(alone.problem) || std::any_of(alone.queues.begin(), alone.queues.end(),
                                             [&](const auto& queue) { return wrong(queue.second.own.problem); });
}

/// Reads the queues again without the numbers that Hadoop cannot read: fs2cs writes 0.5 where a whole number belongs,
/// and nothing would be learned of such a file.
base::Status LeaveOutWrongNumbers(Configuration& to, const std::string& file, std::string_view text) {
  HadoopConf all = to.conf;
  const FileReader none = [](const std::string& path) -> base::Result<std::string> { return base::Error{path}; };
  if (const base::Status added = all.AddXml(file, text, none); !added) return added;
  std::map<std::string, std::string> keys;
  for (const auto& [key, raw] : all.Explicit()) {
    const std::string value = all.Find(key).value_or(raw);
    if (!IsNotANumber(key, value)) {
      keys[key] = value;
      continue;
    }
    const HadoopConf::Origin origin = all.OriginOf(key);
    to.notes.push_back(origin.file + ":" + std::to_string(origin.line) + ": " + key + " is '" + value +
                       "', no whole number or no number: Hadoop's own scheduler does not start with it; it is left "
                       "out here, and its default counts");
  }
  if (keys.size() < all.Explicit().size()) {
    keys.erase(config::kMappingRuleFile);  // jobs are placed by their trace
    to.queues = config::CapacityTree(keys);
  }
  return {};
}

/// Sizes of containers are the cluster's, whoever grants them.
bool IsOfSizes(const std::string& key) {
  for (const char* prefix : {"yarn.scheduler.m", "yarn.scheduler.increment-allocation-", "yarn.resource-types"}) {
    if (key.starts_with(prefix)) return true;
  }
  return false;
}

bool Preempts(const Configuration& one) {
  return one.queues.capacity ? one.queues.capacity->preemption.enabled
                             : one.conf.Bool("yarn.scheduler.fair.preemption", false);
}

base::Status ReadQueues(Configuration& to, const std::string& file, std::string_view text, const FileReader& read) {
  const profiles::Profile* profile = profiles::Find(to.profile);
  if (profile == nullptr)
    return base::Error{to.name + ": there is no profile \"" + to.profile + "\" (" + kProfile + ")"};
  auto queues = profiles::ParseWithIncluded(profile->queue_file, text, file, to.conf, read, to.notes);
  if (!queues) return base::Error{queues.error().message};
  to.queues = std::move(*queues);
  if (to.queues.capacity) {
    if (const base::Status left = LeaveOutWrongNumbers(to, file, text); !left) return left;
    // A day has 17 million passes of it, which decide what heartbeats do.
    if (std::exchange(to.queues.capacity->asynchronous, false)) {
      to.notes.push_back(file + ": schedule-asynchronously.enable: a simulated day grants at heartbeats");
    }
  }
  to.preemption = Preempts(to);
  for (std::string& passed : profiles::PassedOverIn(*profile, to.queues)) to.notes.push_back(std::move(passed));
  return {};
}

}  // namespace

base::Result<Configuration> ReadConfiguration(const std::string& path, const std::string& version,
                                              const FileReader& read) {
  Configuration out;
  out.name = path;
  base::Result<std::string> file_text = read(path);
  if (!file_text.ok() && file_text.error().code != EISDIR) {
    const bool there = file_text.error().code != ENOENT;
    return base::Error{path + (there ? ": " + file_text.error().message
                                     : " is no file, no directory of Hadoop's files and no profile"),
                       file_text.error().code};
  }
  std::string directory = path;
  if (file_text.ok()) directory = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/'));
  const std::string site = directory + "/yarn-site.xml";
  const base::Result<std::string> site_text = read(site);
  if (site_text.ok()) {
    if (const base::Status added = out.conf.AddXml(site, *site_text, read); !added) return added.error();
  } else if (site_text.error().code != ENOENT) {
    return base::Error{site + ": " + site_text.error().message};
  }
  base::Result<std::string> profile = file_text.ok()
                                          ? ProfileOfFile(path, *file_text)
                                          : ProfileOfDirectory(path, out.conf, read(directory + "/" + kFairFile).ok(),
                                                               read(directory + "/" + kCapacityFile).ok());
  if (!profile.ok()) return profile.error();
  out.profile = *profile;
  std::string file = path;
  if (const profiles::Profile* entry = profiles::Find(out.profile); !file_text.ok() && entry != nullptr) {
    file = out.conf.String(entry->queue_file.key, entry->queue_file.name);
    if (!file.starts_with("/")) file = directory + "/" + file;
    file_text = read(file);
    if (!file_text.ok()) return base::Error{file + ": " + file_text.error().message, file_text.error().code};
  }
  if (const base::Status set = SetVersion(out, version); !set) return set.error();
  if (const base::Status queues = ReadQueues(out, file, file_text.ok() ? *file_text : "", read); !queues)
    return queues.error();
  return out;
}

Configuration RunConfiguration(const std::string& name, const std::string& profile, HadoopConf conf,
                               model::QueueTree queues) {
  Configuration out;
  out.name = name;
  out.profile = profile;
  if (const std::string key = VersionKey(profile); !key.empty() && conf.IsSet(key)) out.version = conf.String(key);
  out.conf = std::move(conf);
  out.queues = std::move(queues);
  out.preemption = Preempts(out);
  return out;
}

base::Result<Configuration> WithQueuesOf(const std::string& file, const FileReader& read, const Configuration& other) {
  const base::Result<std::string> text = read(file);
  if (!text) return text.error();
  Configuration out = other;
  out.name = file;
  out.notes.clear();
  if (const base::Status queues = ReadQueues(out, file, *text, read); !queues) return queues.error();
  return out;
}

base::Result<Configuration> NameConfiguration(const std::string& profile, const std::string& version,
                                              const Configuration& other) {
  Configuration out;
  out.name = profile;
  out.profile = profile;
  const bool own = profiles::Find(profile)->queue_file.name == std::string_view(kCapacityFile);
  out.queues = own ? other.queues : FairTreeOf(other.queues);
  for (const auto& [key, value] : other.conf.Explicit()) {
    if (profile == other.profile || IsOfSizes(key)) out.conf.Set(key, value);
  }
  if (const base::Status set = SetVersion(out, version); !set) return set.error();
  out.preemption = other.preemption;
  out.conf.Set("yarn.scheduler.fair.preemption", out.preemption ? "true" : "false");
  for (std::string& passed : profiles::PassedOverIn(*profiles::Find(profile), out.queues))
    out.notes.push_back(std::move(passed));
  return out;
}

base::Result<Profile> MakeProfile(const Configuration& configuration, int64_t node_heartbeat_ms) {
  HadoopConf conf = configuration.conf;
  for (const auto& [key, value] : {std::pair("yarn.scheduler.maximum-allocation-mb", "1048576"),
                                   {"yarn.scheduler.maximum-allocation-vcores", "1024"}}) {
    if (!conf.IsSet(key)) conf.Set(key, value);
  }
  auto profile = MakeProfile(configuration.profile, conf, configuration.queues, node_heartbeat_ms);
  if (!profile.ok()) return base::Error{configuration.name + ": " + profile.error().message};
  return profile;
}

std::vector<SettingDifference> DifferencesOf(const Configuration& from, const Configuration& to) {
  std::vector<SettingDifference> out = DifferencesOf(from.queues, to.queues);
  const auto text = [](bool on) { return std::string(on ? "on" : "off"); };
  if (from.preemption != to.preemption) {
    out.insert(out.begin(), {"", "preemption", text(from.preemption), text(to.preemption)});
  }
  return out;
}

}  // namespace fairlead::sim
