#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::apps {

inline constexpr uint16_t kSchedulerOffset = 30;
inline constexpr uint16_t kTrackerOffset = 31;
inline constexpr uint16_t kClientOffset = 32;
inline constexpr uint16_t kAdminOffset = 33;
inline constexpr uint16_t kNodeWebOffset = 42;
inline constexpr uint16_t kWebOffset = 88;
inline constexpr uint16_t kShuffleOffset = 137;
inline constexpr uint16_t kMapReduceOffset = 162;
inline constexpr uint16_t kSparkOffset = 177;
inline constexpr std::array kPortOffsets = {kSchedulerOffset, kTrackerOffset,   kClientOffset,
                                            kAdminOffset,     kNodeWebOffset,   kWebOffset,
                                            kShuffleOffset,   kMapReduceOffset, kSparkOffset};
/// From the ports of one resource manager to those of the next.
inline constexpr uint16_t kNextManager = 200;
inline constexpr uint16_t kZooKeeperOffset = 181;

/// A cluster on this machine: node N is 127.0.0.N, racks are dealt out in turn.
struct ClusterShape {
  std::string directory;
  int nodes = 3;
  int racks = 2;
  int64_t node_memory_mib = 2048;
  int node_vcores = 2;
  std::vector<std::string> queues;  // that passed WrongQueue
  std::string profile = "fairlead";
  bool ha = false;  // two resource managers and a ZooKeeper
  uint16_t port_base = 0;
  std::optional<uint32_t> callers;  // the user whose processes are served; nullopt: everybody's
  uint16_t Port(uint16_t offset) const { return static_cast<uint16_t>(port_base + offset); }
  int Managers() const { return ha ? 2 : 1; }
  /// Of manager `number` (from 1).
  uint16_t ManagerPort(int number, uint16_t offset) const {
    return Port(static_cast<uint16_t>(offset + (number - 1) * kNextManager));
  }
};

/// The offsets of every port that the cluster takes.
std::vector<uint16_t> PortOffsets(const ClusterShape& shape);

/// What is wrong with a queue of the command line ("NAME=WEIGHT", "GROUP.POOL=WEIGHT"); empty when it is good.
std::string WrongQueue(const std::string& queue);

/// Writes DIRECTORY/conf (Hadoop's files, good for any YARN client) and makes the other folders.
base::Status WriteClusterFiles(const ClusterShape& shape);

/// The address of node `number` (from 1), by which it registers; the first one by this name where a hosts file has it.
std::string NodeHost(int number);
inline constexpr const char* kFirstNodeByName = "localhost";

/// "rm1" of several, "rm" of one.
std::string ManagerName(const ClusterShape& shape, int number);

/// Words that start ZooKeeper; an Error says what is missing on this machine.
base::Result<std::vector<std::string>> ZooKeeperCommand(const ClusterShape& shape);
/// Words after `fairlead` that start the resource manager and the node `number` (from 1).
std::vector<std::string> RmArguments(const ClusterShape& shape, int number);
std::vector<std::string> NmArguments(const ClusterShape& shape, int number);

}  // namespace fairlead::apps
