#include "endpoints/yarn/exceptions.h"

namespace fairlead::endpoints::yarn {
namespace {

/// Those that do not live in org.apache.hadoop.yarn.exceptions.
constexpr std::string_view kElsewhere[] = {
    exceptions::kInvalidToken,
    exceptions::kAccessControl,
    exceptions::kAuthorization,
    exceptions::kStandby,
    exceptions::kRetriable,
    exceptions::kNoSuchMethod,
    exceptions::kNoSuchProtocol,
    exceptions::kRpcServer,

    exceptions::kVersionMismatch,
    exceptions::kIpc,
    exceptions::kIo,
    exceptions::kIllegalArgument,
    exceptions::kUnsupportedOperation,
    exceptions::kSasl,
    exceptions::kInvalidProtocolBuffer,
    "org.apache.hadoop.yarn.server.api.records.InvalidStateTransitionException",
    "java.lang.NullPointerException",
    "java.lang.IllegalStateException",
    "java.lang.RuntimeException",
    "java.io.FileNotFoundException",
    "java.net.ConnectException",
};

/// Classes of org.apache.hadoop.yarn.exceptions (hadoop-yarn-api and hadoop-yarn-common 3.3).
constexpr std::string_view kYarnNames[] = {
    "AMSecurityException",
    "ApplicationAttemptNotFoundException",
    "ApplicationIdNotProvidedException",
    "ApplicationMasterNotRegisteredException",
    "ApplicationNotFoundException",
    "ConfigurationProviderException",
    "ContainerNotFoundException",
    "InvalidApplicationMasterRequestException",
    "InvalidAuxServiceException",
    "InvalidContainerException",
    "InvalidContainerReleaseException",
    "InvalidLabelResourceRequestException",
    "InvalidResourceBlacklistRequestException",
    "InvalidResourceRequestException",
    "NMNotYetReadyException",
    "ResourceNotFoundException",
    "ResourceProfilesNotEnabledException",
    "YARNFeatureNotEnabledException",
    "YarnException",
    "YarnRuntimeException",
};

}  // namespace

std::string JavaClass(std::string_view simple_name) {
  if (simple_name.find('.') != std::string_view::npos) return std::string(simple_name);
  for (const std::string_view name : kYarnNames) {
    if (name == simple_name) return "org.apache.hadoop.yarn.exceptions." + std::string(name);
  }
  for (const std::string_view full : kElsewhere) {
    if (SimpleName(full) == simple_name) return std::string(full);
  }
  return std::string(exceptions::kYarn);
}

std::string_view SimpleName(std::string_view java_class) {
  const size_t at = java_class.find_last_of(".$");
  return at == std::string_view::npos ? java_class : java_class.substr(at + 1);
}

}  // namespace fairlead::endpoints::yarn
