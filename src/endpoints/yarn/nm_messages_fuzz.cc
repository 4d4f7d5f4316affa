#include <cstdint>
#include <string_view>

#include "endpoints/yarn/nm_messages.h"

/// Any bytes as each request and answer that the node agent reads.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;  // NOLINT
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  wire::yarn::StartContainersRequestProto start;
  wire::yarn::ContainerTokenIdentifierProto token;
  if (start.ParseFrom(bytes, wire::hadoop_rpc::kMasterCall)) {
    for (const auto& request : start.start_container_request) {
      const auto spec = endpoints::yarn::ContainerSpecOf(token, request.ContainerLaunchContext());
      if (spec) [[maybe_unused]]
        const auto context = endpoints::yarn::LaunchContextOf(*spec);
    }
  }
  if (token.ParseFrom(bytes, wire::hadoop_rpc::kMasterCall)) [[maybe_unused]]
    const auto spec = endpoints::yarn::ContainerSpecOf(token);
  wire::yarn::NodeHeartbeatResponseProto beat;
  if (beat.ParseFrom(bytes, wire::hadoop_rpc::kMasterCall)) [[maybe_unused]]
    const auto event = endpoints::yarn::HeartbeatAnsweredOf(beat);
  wire::yarn::RegisterNodeManagerResponseProto registered;
  if (registered.ParseFrom(bytes, wire::hadoop_rpc::kMasterCall)) [[maybe_unused]]
    const auto event = endpoints::yarn::RegisteredOf(registered);
  return 0;
}
