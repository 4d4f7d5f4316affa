#include "model/rm.h"

#include <array>

namespace fairlead::model::rm {

namespace {
template <size_t N, class E>
std::string_view Pick(const std::array<std::string_view, N>& names, E value) {
  const auto index = static_cast<size_t>(value);
  return index < N ? names[index] : std::string_view("?");
}
}  // namespace

std::string_view EnumName(AppState state) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINAL_SAVING",
                                       "FINISHING", "FINISHED", "FAILED", "KILLING", "KILLED"});
  return Pick(kNames, state);
}
std::string_view EnumName(AttemptState state) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"NEW", "SUBMITTED", "SCHEDULED", "ALLOCATED_SAVING", "ALLOCATED", "LAUNCHED_UNMANAGED_SAVING", "LAUNCHED",
       "RUNNING", "FINAL_SAVING", "FINISHING", "FINISHED", "FAILED", "KILLED"});
  return Pick(kNames, state);
}
std::string_view EnumName(ContainerState state) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"ALLOCATED", "ACQUIRED", "RUNNING", "COMPLETED", "EXPIRED", "KILLED"});
  return Pick(kNames, state);
}
std::string_view EnumName(NodeState state) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"NEW", "RUNNING", "UNHEALTHY", "DECOMMISSIONED", "LOST", "REBOOTED", "DECOMMISSIONING", "SHUTDOWN"});
  return Pick(kNames, state);
}
std::string_view EnumName(FinalStatus status) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"UNDEFINED", "SUCCEEDED", "FAILED", "KILLED", "ENDED"});
  return Pick(kNames, status);
}

std::string ToString(const NodeAddress& address) { return address.host + ":" + std::to_string(address.port); }

}  // namespace fairlead::model::rm
