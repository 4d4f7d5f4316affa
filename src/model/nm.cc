#include "model/nm.h"

namespace fairlead::model::nm {

std::string_view EnumName(ContainerState state) {
  switch (state) {
    case ContainerState::kNew:
      return "NEW";
    case ContainerState::kLocalizing:
      return "LOCALIZING";
    case ContainerState::kLocalizationFailed:
      return "LOCALIZATION_FAILED";
    case ContainerState::kScheduled:
      return "SCHEDULED";
    case ContainerState::kRunning:
      return "RUNNING";
    case ContainerState::kRelaunching:
      return "RELAUNCHING";
    case ContainerState::kExitedWithSuccess:
      return "EXITED_WITH_SUCCESS";
    case ContainerState::kExitedWithFailure:
      return "EXITED_WITH_FAILURE";
    case ContainerState::kKilling:
      return "KILLING";
    case ContainerState::kDone:
      return "DONE";
    case ContainerState::kReinitializing:
      return "REINITIALIZING_AWAITING_KILL";
  }
  return "UNKNOWN";
}

std::string_view EnumName(ResourceType type) {
  switch (type) {
    case ResourceType::kArchive:
      return "ARCHIVE";
    case ResourceType::kFile:
      return "FILE";
    case ResourceType::kPattern:
      return "PATTERN";
  }
  return "UNKNOWN";
}

std::string_view EnumName(AppState state) {
  switch (state) {
    case AppState::kInitializing:
      return "INITING";
    case AppState::kRunning:
      return "RUNNING";
    case AppState::kFinishingContainersWait:
      return "FINISHING_CONTAINERS_WAIT";
    case AppState::kCleaningUp:
      return "APPLICATION_RESOURCES_CLEANINGUP";
    case AppState::kFinished:
      return "FINISHED";
  }
  return "UNKNOWN";
}

}  // namespace fairlead::model::nm
