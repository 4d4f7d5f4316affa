#pragma once

#include <string>
#include <string_view>

#include "model/measured_use.h"
#include "wire/yarn/records.h"

namespace fairlead::endpoints::yarn {

/// YARN's utilization fields, with disks and network as custom resources: `fairlead.disk-bytes-per-second`,
/// `fairlead.disk-busy` (a part of 1) and `fairlead.network-bytes-per-second`. What is not known is left out; memory
/// and CPU, which Hadoop's reader takes for given, are then 0.
wire::yarn::ResourceUtilizationProto ToWire(const model::MeasuredUse& use);

/// An amount that no machine has (negative, no number, beyond all bounds) is unknown. Other custom resources are passed
/// over.
model::MeasuredUse FromWire(const wire::yarn::ResourceUtilizationProto& proto);

/// The attribute of a container's status in which a node tells what it was measured to use.
inline constexpr char kUseAttribute[] = "fairlead.use";
/// "milli-cores physical-bytes disk-bytes network-bytes"; -1: not known.
std::string ToAttribute(const model::MeasuredUse& use);
/// Amounts that no container has, and text that is none, are unknown.
model::MeasuredUse FromAttribute(std::string_view text);

}  // namespace fairlead::endpoints::yarn
