#pragma once

#include <string>
#include <vector>

#include "model/ids.h"
#include "model/resources.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "wire/yarn/client.h"
#include "wire/yarn/records.h"

// Between the model's values and YARN's records (yarn_protos.proto). Absent fields become Hadoop's defaults; numbers
// from the wire are clamped where the model is narrower. Unknown resource types are left out, as Hadoop skips them.

namespace fairlead::endpoints::yarn {

model::ApplicationId FromWire(const wire::yarn::ApplicationIdProto& proto);
model::ApplicationAttemptId FromWire(const wire::yarn::ApplicationAttemptIdProto& proto);
model::ContainerId FromWire(const wire::yarn::ContainerIdProto& proto);
model::Resources FromWire(const wire::yarn::ResourceProto& proto);
model::rm::NodeAddress FromWire(const wire::yarn::NodeIdProto& proto);
model::Ask FromWire(const wire::yarn::ResourceRequestProto& proto);

wire::yarn::ApplicationIdProto ToWire(const model::ApplicationId& id);
wire::yarn::ApplicationAttemptIdProto ToWire(const model::ApplicationAttemptId& id);
wire::yarn::ContainerIdProto ToWire(const model::ContainerId& id);
/// As Java writes it: fields 1 and 2, and every type of the table in the value map.
wire::yarn::ResourceProto ToWire(const model::Resources& resources);
wire::yarn::NodeIdProto ToWire(const model::rm::NodeAddress& address);
wire::yarn::PriorityProto PriorityToWire(int32_t priority);
wire::yarn::ResourceRequestProto ToWire(const model::Ask& ask);

wire::yarn::YarnApplicationStateProto ToWire(model::rm::AppState state);
wire::yarn::YarnApplicationAttemptStateProto ToWire(model::rm::AttemptState state);
wire::yarn::FinalApplicationStatusProto ToWire(model::rm::FinalStatus status);
wire::yarn::NodeStateProto ToWire(model::rm::NodeState state);
model::rm::FinalStatus FromWire(wire::yarn::FinalApplicationStatusProto status);
/// Every type of the table, for GetAllResourceTypeInfo and RegisterApplicationMaster.
std::vector<wire::yarn::ResourceTypeInfoProto> ResourceTypeInfos();

}  // namespace fairlead::endpoints::yarn
