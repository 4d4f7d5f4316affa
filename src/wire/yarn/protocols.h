#pragma once

#include <string_view>

namespace fairlead::wire::yarn {

/// Names of the protocols as RequestHeaderProto.declaring_class_protocol_name carries them (Hadoop's *ProtocolPB
/// interfaces). All have version 1. Their methods: kApplicationClientProtocolMethods in wire/yarn/client.h and so on.
inline constexpr std::string_view kApplicationClientProtocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";
inline constexpr std::string_view kApplicationMasterProtocol = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB";
inline constexpr std::string_view kContainerManagementProtocol =
    "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB";
inline constexpr std::string_view kResourceTracker = "org.apache.hadoop.yarn.server.api.ResourceTrackerPB";
inline constexpr std::string_view kResourceManagerAdministrationProtocol =
    "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB";
inline constexpr std::string_view kHaServiceProtocol = "org.apache.hadoop.ha.HAServiceProtocol";
inline constexpr std::string_view kProtocolMetaInfo = "org.apache.hadoop.ipc.ProtocolMetaInfoPB";

}  // namespace fairlead::wire::yarn
