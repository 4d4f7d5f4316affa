#pragma once

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

/// What a whole machine uses. None does without memory: 0 says that its node has not measured it yet, and CPU that is 0
/// then neither.
model::MeasuredUse OfMachine(model::MeasuredUse use);

/// The attribute of a container's status in which a node tells what it was measured to use
/// (model::ToText).
inline constexpr char kUseAttribute[] = "fairlead.use";

}  // namespace fairlead::endpoints::yarn
