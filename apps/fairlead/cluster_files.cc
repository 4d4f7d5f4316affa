#include "cluster_files.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "env_posix/posix_loop.h"

namespace fairlead::apps {
namespace {

using Properties = std::vector<std::pair<std::string, std::string>>;

std::string XmlEscape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string SiteXml(const Properties& properties) {
  std::string out = "<?xml version=\"1.0\"?>\n<configuration>\n";
  for (const auto& [name, value] : properties) {
    out += "  <property><name>" + name + "</name><value>" + XmlEscape(value) + "</value></property>\n";
  }
  return out + "</configuration>\n";
}

/// One <queue> and those inside.
struct QueueElement {
  std::string name;
  std::string weight;
  std::vector<QueueElement> inside;
};

void AddQueue(std::vector<QueueElement>& siblings, const std::string& path, const std::string& weight) {
  const size_t dot = path.find('.');
  const std::string name = path.substr(0, dot);
  auto it = std::find_if(siblings.begin(), siblings.end(), [&](const QueueElement& one) { return one.name == name; });
  if (it == siblings.end()) it = siblings.insert(it, {name, "", {}});
  if (dot != std::string::npos) return AddQueue(it->inside, path.substr(dot + 1), weight);
  it->weight = weight;
}

void AppendXml(const std::vector<QueueElement>& queues, const std::string& indent, std::string& out) {
  for (const QueueElement& queue : queues) {
    out += indent + "<queue name=\"" + queue.name + "\">";
    if (!queue.weight.empty()) out += "<weight>" + queue.weight + "</weight>";
    if (!queue.inside.empty()) {
      out += "\n";
      AppendXml(queue.inside, indent + "  ", out);
      out += indent;
    }
    out += "</queue>\n";
  }
}

std::string Allocations(const ClusterShape& shape) {
  std::vector<QueueElement> queues;
  for (const std::string& queue : shape.queues) {
    const size_t equals = queue.find('=');
    AddQueue(queues, queue.substr(0, equals), equals == std::string::npos ? "" : queue.substr(equals + 1));
  }
  std::string out = "<?xml version=\"1.0\"?>\n<allocations>\n";
  AppendXml(queues, "  ", out);
  return out + "</allocations>\n";
}

std::string Topology(const ClusterShape& shape) {
  std::string out = std::string(kFirstNodeByName) + " /rack1\n";
  for (int node = 1; node <= shape.nodes; ++node) {
    out += NodeHost(node) + " /rack" + std::to_string((node - 1) % shape.racks + 1) + "\n";
  }
  return out;
}

/// Where the managers are, and how they choose one among them.
Properties ManagerSite(const ClusterShape& shape) {
  Properties site;
  for (int number = 1; number <= shape.Managers(); ++number) {
    const std::string suffix = shape.ha ? "." + ManagerName(shape, number) : "";
    const auto add = [&](const char* key, uint16_t offset) {
      site.emplace_back("yarn.resourcemanager." + std::string(key) + suffix,
                        "127.0.0.1:" + std::to_string(shape.ManagerPort(number, offset)));
    };
    site.emplace_back("yarn.resourcemanager.hostname" + suffix, "127.0.0.1");
    add("scheduler.address", kSchedulerOffset);
    add("resource-tracker.address", kTrackerOffset);
    add("address", kClientOffset);
    add("admin.address", kAdminOffset);
    add("webapp.address", kWebOffset);
  }
  if (!shape.ha) return site;
  const Properties several = {
      {"yarn.resourcemanager.ha.enabled", "true"},
      {"yarn.resourcemanager.ha.rm-ids", ManagerName(shape, 1) + "," + ManagerName(shape, 2)},
      {"yarn.resourcemanager.cluster-id", "up"},
      {"hadoop.zk.address", "127.0.0.1:" + std::to_string(shape.Port(kZooKeeperOffset))},
      {"hadoop.zk.auth", "@" + shape.directory + "/zookeeper/identity"},
  };
  site.insert(site.end(), several.begin(), several.end());
  return site;
}

Properties YarnSite(const ClusterShape& shape) {
  const std::string conf = shape.directory + "/conf";
  Properties site = ManagerSite(shape);
  const Properties rest = {
      {"yarn.resourcemanager.scheduler.class",
       "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler"},
      {"yarn.scheduler.fair.allocation.file", conf + "/fair-scheduler.xml"},
      {"fairlead.scheduler.profile", shape.profile},
      {"fairlead.rm.state-dir", shape.directory + "/rm"},
      {"yarn.scheduler.minimum-allocation-mb", "64"},
      {"yarn.scheduler.increment-allocation-mb", "64"},
      {"yarn.scheduler.maximum-allocation-mb", std::to_string(shape.node_memory_mib)},
      {"yarn.scheduler.maximum-allocation-vcores", std::to_string(shape.node_vcores)},
      {"yarn.nodemanager.aux-services", "spark_shuffle,mapreduce_shuffle"},
      {"spark.shuffle.service.port", std::to_string(shape.Port(kShuffleOffset))},
      {"yarn.nodemanager.resource.memory-mb", std::to_string(shape.node_memory_mib)},
      {"yarn.nodemanager.resource.cpu-vcores", std::to_string(shape.node_vcores)},
      {"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "99.5"},
      // Physical memory is what runs out on one machine; address space is not.
      {"yarn.nodemanager.vmem-check-enabled", "false"},
      // Queues of a small cluster come to their shares within a second.
      {"yarn.scheduler.fair.preemption", "true"},
      {"yarn.scheduler.fair.waitTimeBeforeKill", "20"},
      {"fairlead.scheduler.preemption.starvation-ms", "100"},
      {"fairlead.scheduler.preemption.interval-ms", "25"},
      {"fairlead.scheduler.preemption.minimum-run-ms", "0"},
      // The cluster ends with its command, so containers of a killed node agent end soon, too.
      {"fairlead.nm.agent-absence-limit-ms", "20000"},
      {"yarn.nm.liveness-monitor.expiry-interval-ms", "10000"},
  };
  site.insert(site.end(), rest.begin(), rest.end());
  if (shape.callers) site.emplace_back("fairlead.callers.uids", std::to_string(*shape.callers));
  return site;
}

/// The server's settings, and an identity of the cluster's own that later starts find again: other users of this
/// machine reach the port, too.
base::Status WriteZooKeeperFiles(const ClusterShape& shape, env::Disk& disk) {
  const std::string directory = shape.directory + "/zookeeper";
  if (const base::Status made = disk.MakeDirectories(directory + "/data", 0700); !made.ok()) return made;
  // Sessions of 2 s need ticks of at most 1 s.
  const std::string settings = "tickTime=500\ndataDir=" + directory +
                               "/data\nclientPort=" + std::to_string(shape.Port(kZooKeeperOffset)) +
                               "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n";
  if (const base::Status written = disk.WriteFileAtomically(directory + "/zoo.cfg", settings); !written.ok()) {
    return written;
  }
  if (std::filesystem::exists(directory + "/identity")) return {};
  std::array<uint8_t, 16> secret{};
  if (::getentropy(secret.data(), secret.size()) != 0) return base::Error{"the system gives no random bytes"};
  std::string text = "digest:fairlead:";
  for (const uint8_t byte : secret) text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return disk.WriteFileAtomically(directory + "/identity", text + "\n");
}

/// JAVA_HOME's or PATH's; "" without one.
std::string FindJava() {
  std::vector<std::string> candidates;
  if (const char* home = std::getenv("JAVA_HOME")) candidates.push_back(std::string(home) + "/bin/java");
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string directory; std::getline(path, directory, ':');) candidates.push_back(directory + "/java");
  for (const std::string& candidate : candidates) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

}  // namespace

std::vector<uint16_t> PortOffsets(const ClusterShape& shape) {
  std::vector<uint16_t> offsets(kPortOffsets.begin(), kPortOffsets.end());
  if (!shape.ha) return offsets;
  offsets.push_back(kZooKeeperOffset);
  for (const uint16_t offset : {kSchedulerOffset, kTrackerOffset, kClientOffset, kAdminOffset, kWebOffset}) {
    offsets.push_back(static_cast<uint16_t>(offset + kNextManager));
  }
  return offsets;
}

std::string NodeHost(int number) { return "127.0.0." + std::to_string(number); }

std::string ManagerName(const ClusterShape& shape, int number) {
  return shape.ha ? "rm" + std::to_string(number) : "rm";
}

base::Result<std::vector<std::string>> ZooKeeperCommand(const ClusterShape& shape) {
  const std::string jar = "/usr/share/java/zookeeper.jar";  // Debian's; it names what else it needs
  const std::string java = FindJava();
  if (java.empty() || !std::filesystem::exists(jar)) {
    return base::Error{"--ha needs ZooKeeper's server, and " + (java.empty() ? std::string("java") : jar) +
                       " is not here: install Debian's packages default-jre-headless and zookeeper"};
  }
  return std::vector<std::string>{java,
                                  "-Xmx128m",
                                  "-XX:TieredStopAtLevel=1",
                                  "-cp",
                                  jar,
                                  "org.apache.zookeeper.server.ZooKeeperServerMain",
                                  shape.directory + "/zookeeper/zoo.cfg"};
}

std::string WrongQueue(const std::string& queue) {
  static const std::regex kForm(R"([\w-]+(\.[\w-]+)*(=\d+(\.\d+)?)?)");
  if (std::regex_match(queue, kForm)) return "";
  return "'" + queue +
         "' is not a queue; write NAME, NAME=WEIGHT or GROUP.POOL=WEIGHT, names of letters, digits, _ and -";
}

base::Status WriteClusterFiles(const ClusterShape& shape) {
  const auto disk = env_posix::MakePosixDisk();
  for (const char* folder : {"/conf", "/logs", "/rm", "/tmp"}) {
    if (const base::Status made = disk->MakeDirectories(shape.directory + folder, 0700); !made.ok()) return made;
  }
  for (int node = 1; node <= shape.nodes; ++node) {
    const std::string own = shape.directory + "/nm" + std::to_string(node);
    if (const base::Status made = disk->MakeDirectories(own, 0700); !made.ok()) return made;
  }
  const std::map<std::string, std::string> files = {
      {"core-site.xml", SiteXml({{"fs.defaultFS", "file:///"},
                                 {"hadoop.tmp.dir", shape.directory + "/tmp"},
                                 {"net.topology.node.switch.mapping.impl", "org.apache.hadoop.net.TableMapping"},
                                 {"net.topology.table.file.name", shape.directory + "/conf/topology"}})},
      {"yarn-site.xml", SiteXml(YarnSite(shape))},
      {"mapred-site.xml", SiteXml({{"mapreduce.framework.name", "yarn"},
                                   {"mapreduce.shuffle.port", std::to_string(shape.Port(kMapReduceOffset))}})},
      {"fair-scheduler.xml", Allocations(shape)},
      {"topology", Topology(shape)},
  };
  if (shape.ha) {
    if (const base::Status written = WriteZooKeeperFiles(shape, *disk); !written.ok()) return written;
  }
  for (const auto& [name, text] : files) {
    const base::Status written = disk->WriteFileAtomically(shape.directory + "/conf/" + name, text);
    if (!written.ok()) return written;
  }
  return {};
}

std::vector<std::string> RmArguments(const ClusterShape& shape, int number) {
  std::vector<std::string> arguments = {"rm", "--hadoop-conf", shape.directory + "/conf"};
  if (shape.ha)
    arguments.insert(arguments.end(), {"--set", "yarn.resourcemanager.ha.id=" + ManagerName(shape, number)});
  return arguments;
}

std::vector<std::string> NmArguments(const ClusterShape& shape, int number) {
  const std::string host = NodeHost(number);
  const std::string own = shape.directory + "/nm" + std::to_string(number);
  std::vector<std::string> arguments = {"nm", "--hadoop-conf", shape.directory + "/conf"};
  const Properties settings = {
      {"yarn.nodemanager.hostname", host},
      {"yarn.nodemanager.address", host + ":0"},
      {"yarn.nodemanager.webapp.address", host + ":" + std::to_string(shape.Port(kNodeWebOffset))},
      {"yarn.nodemanager.local-dirs", own + "/local"},
      {"yarn.nodemanager.log-dirs", own + "/logs"},
      {"yarn.nodemanager.recovery.dir", own + "/state"},
  };
  for (const auto& [key, value] : settings) {
    arguments.push_back("--set");
    arguments.push_back(key + "=" + value);
  }
  return arguments;
}

}  // namespace fairlead::apps
