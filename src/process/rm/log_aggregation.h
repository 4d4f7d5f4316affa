#pragma once

#include <map>

#include "process/rm/machine.h"
#include "process/rm/summary.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::rm {

/// How far nodes have come with applications' logs (Hadoop's RMAppLogAggregation): owns what each said last.
class LogAggregation {
 public:
  explicit LogAggregation(ResourceMachine& machine) : machine_(machine) {}

  /// What the node says with its heartbeat, of applications that ran on it.
  void Record(const wire::yarn::NodeHeartbeatRequestProto& request);
  /// RMAppImpl.getLogAggregationStatusForAppReport. Cost: the nodes on which it ran.
  LogStatuses Of(const fairlead::rm::App& app) const;

 private:
  using Status = LogStatuses::Status;
  Status StatusOf(const fairlead::rm::App& app, bool late) const;

  ResourceMachine& machine_;
  std::map<model::ApplicationId, std::map<model::rm::NodeAddress, Status>> told_;  // forgotten with the application
  size_t sweep_ = 1024;  // so many are looked through for forgotten ones
};

}  // namespace fairlead::process::rm
