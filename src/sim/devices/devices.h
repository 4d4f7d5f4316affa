#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"

// Tasks that want cores, memory and devices (GPUs), or a share of one device, on nodes of several models: how much of
// the devices a placement can give away before tasks find no room. The environment is that of FGD (USENIX ATC '23,
// repository hkust-adsl/kubernetes-scheduler-simulator): tasks arrive in random order and stay.

namespace fairlead::sim {

inline constexpr int32_t kWholeDevice = 1000;  // thousandths of one device
inline constexpr size_t kMostDevices = 8;      // of a node

/// What one task wants.
struct DeviceAsk {
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int32_t devices = 0;
  int32_t share = 0;        // of each device; below kWholeDevice only with one device
  uint64_t models = ~0ULL;  // bits of the models that will do
  int64_t device_milli() const { return int64_t{devices} * share; }
  auto operator<=>(const DeviceAsk&) const = default;
};

/// A node's free room.
struct DeviceNode {
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int32_t devices = 0;
  uint64_t model = 0;                        // one bit; 0: no device
  std::array<int32_t, kMostDevices> free{};  // of each device
  int64_t free_milli() const;
  /// Whether it has the devices, cores and memory. Tasks without devices fit on every node with room.
  bool Fits(const DeviceAsk& ask) const;
  /// The same without memory, which fragmentation does not look at.
  bool FitsButMemory(const DeviceAsk& ask) const;
  /// Takes the room; a share comes from the device `device`, whole devices in order.
  void Take(const DeviceAsk& ask, size_t device);
};

/// How much somebody asks for, and how often: part of all tasks.
struct TypicalAsk {
  DeviceAsk ask;
  double part = 0;
};

/// The most frequent asks (without regard to memory) that make up at least 95 % of all, by falling number.
std::vector<TypicalAsk> TypicalAsks(std::span<const DeviceAsk> asks);

/// Chooses a node and, for a share, the device.
class DevicePlacement {
 public:
  virtual ~DevicePlacement() = default;
  struct Choice {
    int32_t node = -1;  // -1: none has room
    size_t device = 0;
  };
  virtual Choice Place(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask) = 0;
};

/// Best fit as FGD's authors ran it: least free cores and devices afterwards, as a whole score of 0 to 100; among
/// equals the first node. A share comes from the fullest device that has it.
class BestFit final : public DevicePlacement {
 public:
  Choice Place(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask) override;
};

/// FGD: the node, and device, whose fragmentation grows least: device room that typical asks could not use. As a whole
/// score of 0 to 100; among equals the first node.
class LeastFragmentation final : public DevicePlacement {
 public:
  explicit LeastFragmentation(std::vector<TypicalAsk> typical) : typical_(std::move(typical)) {}
  Choice Place(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask) override;

 private:
  std::vector<TypicalAsk> typical_;
};

/// Fairlead's: the least loss, which is the growth of fragmentation (FGD's, not rounded), the price of the node's model
/// (ModelPrices), and a little for what stays free on the node, so that asks pack where the others do not tell nodes
/// apart. Remembers the loss of each node
/// for each ask: a decision computes only the losses of nodes that changed since the same was asked for last.
class LeastLoss final : public DevicePlacement {
 public:
  explicit LeastLoss(std::vector<TypicalAsk> typical) : typical_(std::move(typical)) {}
  /// What it chose is taken before the next call, and nothing else changes.
  Choice Place(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask) override;

 private:
  struct Loss {
    double loss = 0;  // infinite: it does not fit
    size_t device = 0;
    int64_t version = -1;  // of the node
  };
  struct Known {
    std::vector<Loss> losses;  // by node
    size_t looked_at = 0;      // of changes_
  };
  Loss LossOf(const DeviceNode& node, double fragmentation, const DeviceAsk& ask) const;
  Known& KnownOf(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask);

  std::vector<TypicalAsk> typical_;
  std::map<uint64_t, double> prices_;  // by model
  std::map<DeviceAsk, Known> known_;
  std::vector<size_t> changes_;  // nodes, in order
  std::vector<int64_t> versions_;
  std::vector<double> fragmentation_;  // by node
  int64_t chosen_ = -1;                // changed since the last call; -1: none did
};

/// What room of each model is worth, by the model's bit: how much of it typical asks want, for the room that there is;
/// 1 is the mean of all models. An ask that takes several wants them in proportion to their room. So an ask that may
/// have any model leaves to others the one that they must have. O(asks x models).
std::map<uint64_t, double> ModelPrices(std::span<const DeviceNode> nodes, std::span<const TypicalAsk> typical);

/// Device room of the node that a typical ask could not use, in thousandths of a device.
double Fragmentation(const DeviceNode& node, std::span<const TypicalAsk> typical);

/// The ask in random order, then again some of them at random until `load` times the nodes' devices were asked for (or
/// without some, when it is more).
std::vector<DeviceAsk> ArrivingAsks(std::vector<DeviceAsk> asks, int64_t device_milli, double load, uint64_t seed);

struct AllocationPoint {
  double arrived = 0;    // device room asked for so far, part of all
  double allocated = 0;  // given, part of all
};
/// Places one ask after the other; those without room go away. A point for each.
std::vector<AllocationPoint> PlaceAll(std::vector<DeviceNode> nodes, std::span<const DeviceAsk> asks,
                                      DevicePlacement& placement);

/// The mean given part while the arrived part, rounded to whole percent, was `percent`; in percent. 0: never.
double AllocatedAt(std::span<const AllocationPoint> points, int32_t percent);

}  // namespace fairlead::sim
