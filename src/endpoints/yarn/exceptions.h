#pragma once

#include <string>
#include <string_view>

namespace fairlead::endpoints::yarn {

/// An exception as it crosses the wire: Java's class name in full, and its message.
struct RemoteException {
  std::string class_name;
  std::string message;
  friend bool operator==(const RemoteException&, const RemoteException&) = default;
};

/// The full Java name of an exception that the cores name by its simple name ("ApplicationNotFoundException"): clients
/// decide by the exact class (RPCUtil.unwrapAndThrowException). A name with dots is returned as it is; an unknown
/// simple name becomes YarnException.
std::string JavaClass(std::string_view simple_name);

/// The simple name, for people and for the cores: what follows the last dot.
std::string_view SimpleName(std::string_view java_class);

namespace exceptions {
inline constexpr std::string_view kYarn = "org.apache.hadoop.yarn.exceptions.YarnException";
inline constexpr std::string_view kApplicationNotFound =
    "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException";
inline constexpr std::string_view kApplicationAttemptNotFound =
    "org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException";
inline constexpr std::string_view kContainerNotFound = "org.apache.hadoop.yarn.exceptions.ContainerNotFoundException";
inline constexpr std::string_view kApplicationMasterNotRegistered =
    "org.apache.hadoop.yarn.exceptions.ApplicationMasterNotRegisteredException";
inline constexpr std::string_view kInvalidApplicationMasterRequest =
    "org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException";
inline constexpr std::string_view kInvalidResourceRequest =
    "org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException";
inline constexpr std::string_view kInvalidLabelResourceRequest =
    "org.apache.hadoop.yarn.exceptions.InvalidLabelResourceRequestException";
inline constexpr std::string_view kInvalidResourceBlacklistRequest =
    "org.apache.hadoop.yarn.exceptions.InvalidResourceBlacklistRequestException";
inline constexpr std::string_view kInvalidContainerRelease =
    "org.apache.hadoop.yarn.exceptions.InvalidContainerReleaseException";
inline constexpr std::string_view kInvalidContainer = "org.apache.hadoop.yarn.exceptions.InvalidContainerException";
inline constexpr std::string_view kInvalidAuxService = "org.apache.hadoop.yarn.exceptions.InvalidAuxServiceException";
inline constexpr std::string_view kNmNotYetReady = "org.apache.hadoop.yarn.exceptions.NMNotYetReadyException";
inline constexpr std::string_view kInvalidToken = "org.apache.hadoop.security.token.SecretManager$InvalidToken";
inline constexpr std::string_view kAccessControl = "org.apache.hadoop.security.AccessControlException";
inline constexpr std::string_view kAuthorization = "org.apache.hadoop.security.authorize.AuthorizationException";
inline constexpr std::string_view kStandby = "org.apache.hadoop.ipc.StandbyException";
inline constexpr std::string_view kRetriable = "org.apache.hadoop.ipc.RetriableException";
inline constexpr std::string_view kNoSuchMethod = "org.apache.hadoop.ipc.RpcNoSuchMethodException";
inline constexpr std::string_view kNoSuchProtocol = "org.apache.hadoop.ipc.RpcNoSuchProtocolException";
inline constexpr std::string_view kRpcServer = "org.apache.hadoop.ipc.RpcServerException";
inline constexpr std::string_view kVersionMismatch = "org.apache.hadoop.ipc.RPC$VersionMismatch";
inline constexpr std::string_view kIpc = "org.apache.hadoop.ipc.IpcException";
inline constexpr std::string_view kIo = "java.io.IOException";
inline constexpr std::string_view kIllegalArgument = "java.lang.IllegalArgumentException";
inline constexpr std::string_view kUnsupportedOperation = "java.lang.UnsupportedOperationException";
inline constexpr std::string_view kSasl = "javax.security.sasl.SaslException";
inline constexpr std::string_view kInvalidProtocolBuffer =
    "org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException";
}  // namespace exceptions

}  // namespace fairlead::endpoints::yarn
