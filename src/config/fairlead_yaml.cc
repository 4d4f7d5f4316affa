#include "config/fairlead_yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/did_you_mean.h"
#include "wire/yaml/yaml.h"

namespace fairlead::config {
namespace {

using Kind = YamlEntry::Kind;

constexpr YamlEntry kEntries[] = {
    {"cluster.name", "yarn.resourcemanager.cluster-id", Kind::kText, "name shown on pages and in metrics"},
    {"cluster.filesystem", "fs.defaultFS", Kind::kText, "default file system, such as file:///"},
    {"rm.host", "yarn.resourcemanager.hostname", Kind::kText, "host that clients and nodes connect to"},
    {"rm.bind", "yarn.resourcemanager.bind-host", Kind::kText, "address to listen on; default: rm.host, else loopback"},
    {"rm.client-address", "yarn.resourcemanager.address", Kind::kText, "HOST:PORT of ApplicationClientProtocol, 8032"},
    {"rm.scheduler-address", "yarn.resourcemanager.scheduler.address", Kind::kText,
     "HOST:PORT of ApplicationMasterProtocol, 8030"},
    {"rm.tracker-address", "yarn.resourcemanager.resource-tracker.address", Kind::kText,
     "HOST:PORT of ResourceTracker, 8031"},
    {"rm.admin-address", "yarn.resourcemanager.admin.address", Kind::kText,
     "HOST:PORT of ResourceManagerAdministrationProtocol, 8033"},
    {"rm.web-address", "yarn.resourcemanager.webapp.address", Kind::kText,
     "HOST:PORT of pages, REST and metrics, 8088"},
    {"rm.state-dir", "fairlead.rm.state-dir", Kind::kText, "directory of state and journal"},
    {"rm.max-attempts", "yarn.resourcemanager.am.max-attempts", Kind::kNumber, "attempts of an application at most"},
    {"ha.enabled", "yarn.resourcemanager.ha.enabled", Kind::kText, "true: one of several managers leads"},
    {"ha.managers", "yarn.resourcemanager.ha.rm-ids", Kind::kList,
     "their ids; the addresses of each under `hadoop:`, such as yarn.resourcemanager.hostname.rm1"},
    {"ha.id", "yarn.resourcemanager.ha.id", Kind::kText, "the one that runs here; default: by the host's name"},
    {"ha.zookeeper", "hadoop.zk.address", Kind::kList, "HOST:PORT of each server of ZooKeeper"},
    {"ha.zookeeper-auth", "hadoop.zk.auth", Kind::kText, "digest:USER:PASSWORD, or @FILE that holds it"},
    {"ha.zookeeper-path", "fairlead.ha.zookeeper-path", Kind::kText, "where the state lies; /fairlead"},
    {"ha.session", "hadoop.zk.timeout-ms", Kind::kText, "how long a leader may be silent; 2s"},
    {"scheduler.profile", "fairlead.scheduler.profile", Kind::kText,
     "fairlead (default) or another of `fairlead config profiles`"},
    {"scheduler.min-memory", "yarn.scheduler.minimum-allocation-mb", Kind::kMemory, "smallest container"},
    {"scheduler.max-memory", "yarn.scheduler.maximum-allocation-mb", Kind::kMemory, "largest container"},
    {"scheduler.max-vcores", "yarn.scheduler.maximum-allocation-vcores", Kind::kNumber, "largest container"},
    {"nm.host", "yarn.nodemanager.hostname", Kind::kText, "name or address under which this node registers"},
    {"nm.address", "yarn.nodemanager.address", Kind::kText,
     "HOST:PORT of ContainerManagementProtocol; port 0: any, kept over restarts"},
    {"nm.web-address", "yarn.nodemanager.webapp.address", Kind::kText, "HOST:PORT of pages, REST and metrics, 8042"},
    {"nm.memory", "yarn.nodemanager.resource.memory-mb", Kind::kMemory, "memory given to containers"},
    {"nm.vcores", "yarn.nodemanager.resource.cpu-vcores", Kind::kNumber, "virtual cores given to containers"},
    {"nm.local-dirs", "yarn.nodemanager.local-dirs", Kind::kList, "scratch directories of containers"},
    {"nm.log-dirs", "yarn.nodemanager.log-dirs", Kind::kList, "log directories of containers"},
    {"nm.state-dir", "yarn.nodemanager.recovery.dir", Kind::kText, "directory of state for a restart"},
    {"http.hosts", "fairlead.http.hosts", Kind::kList, "further names under which web ports are served"},
    {"shuffle.port", "spark.shuffle.service.port", Kind::kPort, "port of the shuffle service, 7337"},
};

std::string At(const std::string& file, const YAML::Mark& mark) {
  return file + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1) + ": ";
}

const YamlEntry* FindEntry(const std::string& path) {
  for (const YamlEntry& entry : kEntries) {
    if (path == entry.path) return &entry;
  }
  return nullptr;
}

bool IsNumber(const std::string& text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size();
}

/// One file being read.
class Reader {
 public:
  Reader(std::string file, Settings& settings) : file_(std::move(file)), settings_(settings) {}

  base::Status Read(const YAML::Node& root) {
    if (root.IsNull()) return {};
    if (base::Status map = CheckMap(root, "the file must be a map of sections such as rm:, nm:, queues:"); !map.ok())
      return map;
    for (const auto& section : root) {
      const auto name = section.first.Scalar();
      base::Status status;
      if (name == "queues") {
        status = ReadQueues(section.second);
      } else if (name == "hadoop") {
        status = ReadHadoop(section.second);
      } else {
        status = ReadSection(name, section.first, section.second);
      }
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  base::Status Bad(const YAML::Node& node, const std::string& why) const {
    return base::Error{At(file_, node.Mark()) + why};
  }

  /// A map that is one, with every name once: the parser keeps both of two equal ones, and one would be passed over.
  base::Status CheckMap(const YAML::Node& node, const std::string& what) const {
    if (!node.IsMap()) return Bad(node, what);
    std::map<std::string, int> lines;
    for (const auto& item : node) {
      const auto [first, fresh] = lines.emplace(item.first.Scalar(), item.first.Mark().line + 1);
      if (fresh) continue;
      return Bad(item.first, "'" + first->first + "' is written twice, first in line " + std::to_string(first->second) +
                                 "; keep one of them");
    }
    return {};
  }

  HadoopConf::Origin Origin(const YAML::Node& node) const {
    return {file_, node.Mark().line + 1, node.Mark().column + 1};
  }

  base::Status ReadHadoop(const YAML::Node& section) {
    if (base::Status map = CheckMap(section, "hadoop: must be a map of full keys to values"); !map.ok()) return map;
    for (const auto& item : section) {
      if (!item.second.IsScalar()) return Bad(item.second, "the value of a Hadoop key is one text");
      settings_.conf.Set(item.first.Scalar(), item.second.Scalar(), Origin(item.second));
    }
    return {};
  }

  base::Status ReadSection(const std::string& name, const YAML::Node& key, const YAML::Node& section) {
    std::set<std::string> sections = {"queues", "hadoop"};
    std::vector<std::string> names;
    for (const YamlEntry& entry : kEntries) {
      const std::string path = entry.path;
      const size_t dot = path.find('.');
      sections.insert(path.substr(0, dot));
      if (path.substr(0, dot) == name) names.push_back(path.substr(dot + 1));
    }
    if (names.empty()) {
      return Bad(key, "unknown section '" + name + "'" + base::DidYouMean(name, {sections.begin(), sections.end()}));
    }
    if (base::Status map = CheckMap(section, name + ": must be a map"); !map.ok()) return map;
    for (const auto& item : section) {
      const YamlEntry* entry = FindEntry(name + "." + item.first.Scalar());
      if (entry == nullptr) {
        return Bad(item.first, "unknown entry '" + item.first.Scalar() + "' of " + name +
                                   base::DidYouMean(item.first.Scalar(), names));
      }
      if (const base::Status read = ReadEntry(*entry, item.second); !read.ok()) return read;
    }
    return {};
  }

  base::Status ReadEntry(const YamlEntry& entry, const YAML::Node& node) {
    std::string value;
    if (entry.kind == Kind::kList && node.IsSequence()) {
      for (const auto& item : node) value += (value.empty() ? "" : ",") + item.Scalar();
    } else if (!node.IsScalar()) {
      return Bad(node, std::string(entry.path) + " takes one value");
    } else {
      value = node.Scalar();
    }
    if (entry.kind == Kind::kMemory) {
      const auto mib = ParseMemoryMib(value);
      if (!mib) return Bad(node, std::string(entry.path) + ": " + mib.error().message);
      value = std::to_string(*mib);
    }
    const bool is_port = entry.kind == Kind::kPort;
    if ((entry.kind == Kind::kNumber || is_port) && !IsNumber(value)) {
      return Bad(node, std::string(entry.path) + ": '" + value + "' is not a whole number");
    }
    if (is_port && (std::stoll(value) < 0 || std::stoll(value) > 65535)) {
      return Bad(node, std::string(entry.path) + ": a port lies between 0 and 65535");
    }
    settings_.conf.Set(entry.key, value, Origin(node));
    return {};
  }

  base::Status ReadQueues(const YAML::Node& section) {
    settings_.queues.emplace();
    const YAML::Node root = section.IsMap() ? section["root"] : YAML::Node(YAML::NodeType::Undefined);
    if (!root.IsDefined()) return ReadChildren("root", section);
    if (section.size() > 1) return Bad(root, "queues stand beside root; write them under its queues:");
    return ReadQueue("root", root);
  }

  base::Status ReadChildren(const std::string& parent, const YAML::Node& children) {
    if (base::Status map = CheckMap(children, "queues: must be a map of queue names"); !map.ok()) return map;
    for (const auto& child : children) {
      const std::string name = child.first.Scalar();
      const bool good = !name.empty() && name.find_first_of(". \t/") == std::string::npos;
      if (!good) return Bad(child.first, "a queue's name is not empty and has no dot, slash or space");
      if (const base::Status read = ReadQueue(parent + "." + name, child.second); !read.ok()) return read;
    }
    return {};
  }

  base::Status ReadQueue(const std::string& name, const YAML::Node& node) {
    model::QueueConfig queue;
    queue.name = name;
    YAML::Node children;
    if (!node.IsNull()) {
      if (base::Status map = CheckMap(node, name + " must be a map such as {weight: 3}"); !map.ok()) return map;
    }
    for (const auto& item : node) {
      const std::string key = item.first.Scalar();
      const base::Status read =
          key == "queues" ? (children.reset(item.second), base::Status()) : ReadSetting(key, item, queue);
      if (!read.ok()) return read;
    }
    queue.parent_type = children.IsMap();
    settings_.queues->queues.push_back(std::move(queue));
    return children.IsMap() ? ReadChildren(name, children) : base::Status();
  }

  template <class Item>
  base::Status ReadSetting(const std::string& key, const Item& item, model::QueueConfig& queue) {
    const YAML::Node& value = item.second;
    if (key == "min" || key == "max") return ReadResources(key, value, queue);
    if (!value.IsScalar()) return Bad(value, key + " takes one value");
    const std::string& text = value.Scalar();
    if (key == "policy") {
      if (text != "fair" && text != "drf" && text != "fifo") return Bad(value, "policy is fair, drf or fifo");
      queue.policy = text;
      return {};
    }
    if (key == "weight" || key == "max-master-share") {
      double number = 0;
      if (!YAML::convert<double>::decode(value, number) || !(number >= 0) || number > 1e9) {
        return Bad(value, key + ": '" + text + "' is not a number of at least 0");
      }
      (key == "weight" ? queue.weight : queue.max_am_share) = number;
      return {};
    }
    if (key == "preemptable") {
      bool preemptable = true;
      if (!YAML::convert<bool>::decode(value, preemptable)) return Bad(value, "preemptable is true or false");
      queue.allow_preemption_from = preemptable;
      return {};
    }
    if (key == "max-apps") {
      int32_t number = 0;
      if (!YAML::convert<int32_t>::decode(value, number) || number < 0) return Bad(value, "max-apps is a whole number");
      queue.max_running_apps = number;
      return {};
    }
    if (key == "priority" || key == "start-time") {
      int64_t number = 0;
      if (!YAML::convert<int64_t>::decode(value, number)) return Bad(value, key + " is a whole number");
      if (key == "start-time") {
        queue.start_time = number;
        return {};
      }
      if (number < INT32_MIN || number > INT32_MAX) return Bad(value, "priority is a whole number of 32 bits");
      queue.priority = static_cast<int32_t>(number);
      return {};
    }
    return Bad(item.first, "unknown setting '" + key + "' of a queue" +
                               base::DidYouMean(key, {"weight", "min", "max", "policy", "max-apps", "max-master-share",
                                                      "preemptable", "priority", "start-time", "queues"}));
  }

  base::Status ReadResources(const std::string& key, const YAML::Node& value, model::QueueConfig& queue) {
    if (base::Status map = CheckMap(value, key + " is a map such as {memory: 4GiB, vcores: 4}"); !map.ok()) return map;
    model::ConfiguredResources resources;
    resources.unnamed = key == "max" ? INT64_MAX : 0;
    for (const auto& item : value) {
      const std::string type = item.first.Scalar();
      const auto amount = type == "memory" ? ParseMemoryMib(item.second.Scalar()) : ParseCount(item.second.Scalar());
      if (!amount) return Bad(item.second, key + "." + type + ": " + amount.error().message);
      resources.absolute[type == "memory" ? "memory-mb" : type] = *amount;
    }
    (key == "max" ? queue.max_resources : queue.min_resources) = std::move(resources);
    return {};
  }

  static base::Result<int64_t> ParseCount(const std::string& text) {
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size() || value < 0) {
      return base::Error{"'" + text + "' is not a whole number of at least 0"};
    }
    return value;
  }

  std::string file_;
  Settings& settings_;
};

}  // namespace

std::span<const YamlEntry> YamlEntries() { return kEntries; }

base::Result<int64_t> ParseMemoryMib(std::string_view text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(stop, static_cast<size_t>(text.data() + text.size() - stop));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const int64_t factor = unit.empty() || unit == "MiB" || unit == "MB" || unit == "M" ? 1
                         : unit == "GiB" || unit == "GB" || unit == "G"               ? 1024
                         : unit == "TiB" || unit == "TB" || unit == "T"               ? 1024 * 1024
                                                                                      : 0;
  int64_t mib = 0;
  if (error != std::errc() || factor == 0 || value < 0 || __builtin_mul_overflow(value, factor, &mib)) {
    return base::Error{"'" + std::string(text) + "' is not an amount of memory; write for example 512MiB or 4GiB"};
  }
  return mib;
}

base::Status AddFairleadYaml(const std::string& file, std::string_view text, Settings& settings) {
  const auto root = wire::yaml::Load(text);
  if (!root) return base::Error{At(file, root.error().mark) + root.error().message};
  try {
    return Reader(file, settings).Read(*root);
  } catch (const YAML::Exception& e) {  // yaml-cpp reports by exception; it ends here
    return base::Error{At(file, e.mark) + "not well-formed YAML: " + e.msg};
  }
}

}  // namespace fairlead::config
