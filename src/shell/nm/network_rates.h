#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "shell/nm/accounts.h"
#include "shell/nm/beneath.h"

namespace fairlead::shell {

/// Control groups carry their class as MAJOR:CLASS in net_cls.classid; what has none, or class 0, has no limit.
constexpr uint32_t kNetworkMajor = 0xf1a0000;
constexpr uint32_t kNetworkClassMax = 0xfffe;

/// The rates at which containers send through one network interface. The kernel holds them: an HTB queueing discipline
/// with a class for each rate, and a filter that finds a packet's class by the control group (net_cls) of its socket.
/// A process of its own (`fl-network`) keeps the one right that this takes after the agent has given up its rights; it
/// takes nothing but numbers, and ends with the agent. Classes stay as they are until they are set again.
class NetworkRates {
 public:
  /// As root, in a process with one thread. Fails when the interface is not there, has a queueing discipline that
  /// somebody else has set, or is another agent's.
  static base::Result<std::unique_ptr<NetworkRates>> Start(const std::string& interface, const UnixUser& agent);

  /// `network_class`: 1 to kNetworkClassMax. Made where it is missing. Waits for the kernel: microseconds, and at most
  /// 5 s, after which every later call fails, too.
  base::Status Set(uint32_t network_class, int64_t mbit_per_second);

 private:
  explicit NetworkRates(Fd keeper) : keeper_(std::move(keeper)) {}

  const Fd keeper_;
};

}  // namespace fairlead::shell
