#include "endpoints/yarn/utilization.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fairlead::endpoints::yarn {
namespace {

namespace w = wire::yarn;
using model::MeasuredUse;

constexpr int64_t kMiB = 1 << 20;
constexpr double kMostCores = 1e6;
constexpr double kMostBytesPerSecond = 1e15;

/// A custom resource, and what its value times `scale` is.
struct Custom {
  const char* name;
  int64_t MeasuredUse::*amount;
  double scale;
  double most;  // of the scaled value
};
constexpr Custom kCustoms[] = {
    {"fairlead.disk-bytes-per-second", &MeasuredUse::disk_bytes, 1, kMostBytesPerSecond},
    {"fairlead.disk-busy", &MeasuredUse::disk_busy, 1000, 1000},
    {"fairlead.network-bytes-per-second", &MeasuredUse::network_bytes, 1, kMostBytesPerSecond},
};

int32_t MiB(int64_t bytes) { return static_cast<int32_t>(std::clamp<int64_t>(bytes / kMiB, 0, INT32_MAX)); }

int64_t Bytes(int32_t mib) { return mib < 0 ? MeasuredUse::kUnknown : mib * kMiB; }

int64_t Scaled(float value, double scale, double most) {
  const double scaled = static_cast<double>(value) * scale;
  return scaled >= 0 && scaled <= most ? std::llround(scaled) : MeasuredUse::kUnknown;
}

}  // namespace

w::ResourceUtilizationProto ToWire(const MeasuredUse& use) {
  w::ResourceUtilizationProto proto;
  proto.pmem = MiB(use.physical_bytes);
  proto.vmem = MiB(use.virtual_bytes);
  proto.cpu = static_cast<float>(std::max<int64_t>(0, use.milli_cores)) / 1000.0F;
  for (const Custom& custom : kCustoms) {
    if (use.*custom.amount == MeasuredUse::kUnknown) continue;
    const double value = static_cast<double>(use.*custom.amount) / custom.scale;
    proto.custom_resources.push_back({custom.name, static_cast<float>(value)});
  }
  return proto;
}

MeasuredUse FromWire(const w::ResourceUtilizationProto& proto) {
  MeasuredUse use;
  if (proto.pmem) use.physical_bytes = Bytes(*proto.pmem);
  if (proto.vmem) use.virtual_bytes = Bytes(*proto.vmem);
  if (proto.cpu) use.milli_cores = Scaled(*proto.cpu, 1000, kMostCores * 1000);
  for (const Custom& custom : kCustoms) {
    const auto at = std::find_if(proto.custom_resources.begin(), proto.custom_resources.end(),
                                 [&](const w::StringFloatMapProto& one) { return one.key == custom.name; });
    if (at != proto.custom_resources.end()) use.*custom.amount = Scaled(at->value, custom.scale, custom.most);
  }
  return use;
}

MeasuredUse OfMachine(MeasuredUse use) {
  if (use.physical_bytes != 0) return use;
  use.physical_bytes = use.virtual_bytes = MeasuredUse::kUnknown;
  if (use.milli_cores == 0) use.milli_cores = MeasuredUse::kUnknown;
  return use;
}

}  // namespace fairlead::endpoints::yarn
