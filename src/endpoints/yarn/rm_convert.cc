#include "endpoints/yarn/rm_convert.h"

#include <algorithm>
#include <limits>

namespace fairlead::endpoints::yarn {

namespace w = wire::yarn;
using model::rm::AppState;
using model::rm::AttemptState;

namespace {
/// Unit of a value map entry -> the same amount in the unit of the model (memory in MiB, everything else in 1), as
/// UnitsConversionUtil does; unknown units count as none.
struct Unit {
  std::string_view name;
  int64_t numerator;
  int64_t denominator;
};
constexpr Unit kUnits[] = {
    {"p", 1, 1'000'000'000'000},
    {"n", 1, 1'000'000'000},
    {"u", 1, 1'000'000},
    {"m", 1, 1'000},
    {"", 1, 1},
    {"k", 1'000, 1},
    {"M", 1'000'000, 1},
    {"G", 1'000'000'000, 1},
    {"T", 1'000'000'000'000, 1},
    {"Ki", 1LL << 10, 1},
    {"Mi", 1LL << 20, 1},
    {"Gi", 1LL << 30, 1},
    {"Ti", 1LL << 40, 1},
    {"Pi", 1LL << 50, 1},
};

int64_t InUnitsOfOne(int64_t value, std::string_view unit) {
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    const __int128 scaled = static_cast<__int128>(value) * known.numerator / known.denominator;
    return static_cast<int64_t>(
        std::clamp<__int128>(scaled, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
  }
  return value;
}
}  // namespace

model::ApplicationId FromWire(const w::ApplicationIdProto& proto) { return {proto.ClusterTimestamp(), proto.Id()}; }

model::ApplicationAttemptId FromWire(const w::ApplicationAttemptIdProto& proto) {
  return {FromWire(proto.ApplicationId()), proto.AttemptId()};
}

model::ContainerId FromWire(const w::ContainerIdProto& proto) { return {FromWire(proto.AppAttemptId()), proto.Id()}; }

model::Resources FromWire(const w::ResourceProto& proto) {
  model::Resources resources = model::Resources::Of(proto.Memory(), proto.VirtualCores());
  for (const w::ResourceInformationProto& entry : proto.resource_value_map) {
    const int type = model::ResourceTypes::Find(entry.key);
    if (type < 2) continue;
    resources[static_cast<size_t>(type)] = InUnitsOfOne(entry.Value(), entry.Units());
  }
  return resources;
}

model::rm::NodeAddress FromWire(const w::NodeIdProto& proto) { return {std::string(proto.Host()), proto.Port()}; }

model::Ask FromWire(const w::ResourceRequestProto& proto) {
  model::Ask ask;
  ask.priority = proto.Priority().Priority();
  ask.allocation_request_id = proto.allocation_request_id.value_or(-1);
  ask.name = std::string(proto.ResourceName());
  ask.relax_locality = proto.relax_locality.value_or(true);
  ask.capability = FromWire(proto.Capability());
  ask.count = proto.NumContainers();
  ask.label = std::string(proto.NodeLabelExpression());
  return ask;
}

w::ApplicationIdProto ToWire(const model::ApplicationId& id) {
  w::ApplicationIdProto proto;
  proto.id = id.number;
  proto.cluster_timestamp = id.cluster_timestamp;
  return proto;
}

w::ApplicationAttemptIdProto ToWire(const model::ApplicationAttemptId& id) {
  w::ApplicationAttemptIdProto proto;
  proto.application_id = ToWire(id.app);
  proto.attempt_id = id.attempt;
  return proto;
}

w::ContainerIdProto ToWire(const model::ContainerId& id) {
  w::ContainerIdProto proto;
  proto.app_attempt_id = ToWire(id.attempt);
  proto.id = id.value;
  return proto;
}

w::ResourceProto ToWire(const model::Resources& resources) {
  w::ResourceProto proto;
  proto.memory = resources.memory_mib();
  proto.virtual_cores = static_cast<int32_t>(std::clamp<int64_t>(resources.vcores(), INT32_MIN, INT32_MAX));
  proto.resource_value_map.reserve(model::ResourceTypes::Count());
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    w::ResourceInformationProto& entry = proto.resource_value_map.emplace_back();
    entry.key = std::string(model::ResourceTypes::Name(type));
    entry.value = resources[type];
    entry.units = type == 0 ? "Mi" : "";
    entry.type = w::ResourceTypesProto::kCountable;
  }
  return proto;
}

w::NodeIdProto ToWire(const model::rm::NodeAddress& address) {
  w::NodeIdProto proto;
  proto.host = address.host;
  proto.port = address.port;
  return proto;
}

w::PriorityProto PriorityToWire(int32_t priority) {
  w::PriorityProto proto;
  proto.priority = priority;
  return proto;
}

w::ResourceRequestProto ToWire(const model::Ask& ask) {
  w::ResourceRequestProto proto;
  proto.priority = PriorityToWire(ask.priority);
  proto.resource_name = ask.name;
  proto.capability = ToWire(ask.capability);
  proto.num_containers = ask.count;
  proto.relax_locality = ask.relax_locality;
  proto.allocation_request_id = ask.allocation_request_id;
  if (!ask.label.empty()) proto.node_label_expression = ask.label;
  return proto;
}

w::YarnApplicationStateProto ToWire(AppState state) {
  using W = w::YarnApplicationStateProto;
  switch (state) {
    case AppState::kNew:
      return W::kNew;
    case AppState::kNewSaving:
      return W::kNewSaving;
    case AppState::kSubmitted:
      return W::kSubmitted;
    case AppState::kAccepted:
      return W::kAccepted;
    case AppState::kRunning:
    case AppState::kFinalSaving:
      return W::kRunning;
    case AppState::kFinishing:
    case AppState::kFinished:
      return W::kFinished;
    case AppState::kFailed:
      return W::kFailed;
    case AppState::kKilling:
    case AppState::kKilled:
      return W::kKilled;
  }
  return W::kNew;
}

w::YarnApplicationAttemptStateProto ToWire(AttemptState state) {
  using W = w::YarnApplicationAttemptStateProto;
  switch (state) {
    case AttemptState::kNew:
      return W::kNew;
    case AttemptState::kSubmitted:
      return W::kSubmitted;
    case AttemptState::kScheduled:
      return W::kScheduled;
    case AttemptState::kAllocatedSaving:
      return W::kAllocatedSaving;
    case AttemptState::kAllocated:
      return W::kAllocated;
    case AttemptState::kLaunchedUnmanagedSaving:
    case AttemptState::kLaunched:
      return W::kLaunched;
    case AttemptState::kRunning:
    case AttemptState::kFinalSaving:
      return W::kRunning;
    case AttemptState::kFinishing:
      return W::kFinishing;
    case AttemptState::kFinished:
      return W::kFinished;
    case AttemptState::kFailed:
      return W::kFailed;
    case AttemptState::kKilled:
      return W::kKilled;
  }
  return W::kNew;
}

w::FinalApplicationStatusProto ToWire(model::rm::FinalStatus status) {
  return static_cast<w::FinalApplicationStatusProto>(status);
}

w::NodeStateProto ToWire(model::rm::NodeState state) {
  return static_cast<w::NodeStateProto>(static_cast<int32_t>(state) + 1);
}

model::rm::FinalStatus FromWire(w::FinalApplicationStatusProto status) {
  const auto number = static_cast<int32_t>(status);
  return number >= 0 && number <= 4 ? static_cast<model::rm::FinalStatus>(number) : model::rm::FinalStatus::kUndefined;
}

std::vector<w::ResourceTypeInfoProto> ResourceTypeInfos() {
  std::vector<w::ResourceTypeInfoProto> infos;
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    w::ResourceTypeInfoProto& info = infos.emplace_back();
    info.name = std::string(model::ResourceTypes::Name(type));
    info.units = type == 0 ? "Mi" : "";
    info.type = w::ResourceTypesProto::kCountable;
  }
  return infos;
}

}  // namespace fairlead::endpoints::yarn
