#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/v1/apps.h"

namespace fairlead::endpoints::v1 {

struct Node {
  std::string id{}, rack{}, state{};
  Amount capacity{}, used{};
  int32_t containers = 0;
  std::string http_address{}, version{}, health_report{};

  FL_DESCRIBED("Node", (id, "HOST:PORT"), (rack, ""), (state, ""), (capacity, ""),
               (used, "by its containers, as granted"), (containers, ""), (http_address, "of its pages"),
               (version, "of its agent"), (health_report, "what it says of itself, or empty"))
};

/// A host that operators took out of service.
struct DrainedHost {
  std::string host{};
  int64_t since_ms = 0;
  std::string by{};
  FL_DESCRIBED("DrainedHost", (host, ""), (since_ms, "0: an earlier release took it out"), (by, "user and address"))
};

/// Maintenance of all nodes of a host.
struct MaintenanceWindow {
  std::string host{};
  int64_t from_ms = 0, until_ms = 0;
  std::string by{};
  FL_DESCRIBED("MaintenanceWindow", (host, ""), (from_ms, ""), (until_ms, ""), (by, "user and address"))
};
struct Maintenance {
  std::vector<MaintenanceWindow> maintenance{};
  FL_DESCRIBED("Maintenance", (maintenance, "windows of the host that have not ended"))
};

/// A node in the picture of all: [id, rack, state, thousandths of its memory in use].
struct NodeMark {
  std::string id{}, rack{}, state{};
  int64_t full = 0;

  void AppendJson(std::string& out) const;
  static std::string Schema(base::JsonSchemas& schemas);
};

struct Nodes {
  int64_t total = 0;
  std::vector<Node> nodes{};
  std::vector<NodeMark> map{};
  std::optional<std::vector<DrainedHost>> drained{};
  std::optional<std::vector<MaintenanceWindow>> maintenance{};

  FL_DESCRIBED("Nodes", (total, "that match"), (nodes, "those of this page, by rack and name"),
               (map, "of every node: id, rack, state, thousandths of its memory in use"),
               (drained, "hosts that operators took out; of the past it is left out"),
               (maintenance, "windows that have not ended; of the past it is left out"))
};

/// What a node measured last; what is not known is left out.
struct Measured {
  std::optional<int64_t> memory_mib{}, containers_memory_mib{};
  std::optional<double> cores{}, containers_cores{};
  std::optional<int64_t> disk_bytes_per_second{}, disk_busy_per_mille{}, network_bytes_per_second{},
      containers_disk_bytes_per_second{};

  FL_DESCRIBED("Measured", (memory_mib, "of the machine"), (containers_memory_mib, "of its containers"),
               (cores, "busy, of the machine"), (containers_cores, "busy, of its containers"),
               (disk_bytes_per_second, ""), (disk_busy_per_mille, "of the time"), (network_bytes_per_second, ""),
               (containers_disk_bytes_per_second, ""))
};

struct NodeContainer : Container {
  std::string app{}, user{};
  FL_DESCRIBED_BEYOND(Container, "NodeContainer", (app, ""), (user, ""))
};

struct NodeDetail : Node {
  Measured measured{};
  std::vector<MaintenanceWindow> maintenance{};
  std::optional<bool> node_gone{};
  std::vector<NodeContainer> running{};

  FL_DESCRIBED_BEYOND(Node, "NodeDetail", (measured, "what it measured last"), (maintenance, "windows of its host"),
                      (node_gone, "true: nobody serves pages there any more"),
                      (running, "containers that the caller may see"))
};

struct NodeState {
  std::string state{};
  FL_DESCRIBED("NodeState", (state, "empty: the node is not known any more"))
};

/// Of a node agent: the containers of an application that have logs there.
struct ContainerLogs {
  std::string id{};
  std::vector<std::string> files{};
  FL_DESCRIBED("ContainerLogs", (id, ""), (files, "names"))
};
struct Logs {
  std::vector<ContainerLogs> containers{};
  std::string cluster_page{};
  FL_DESCRIBED("Logs", (containers, ""), (cluster_page, "the resource manager's, or empty"))
};

}  // namespace fairlead::endpoints::v1
