#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/rm.h"

// The life cycles of applications, attempts, containers and nodes as tables: in a state, on an event, to a state
// (stateMachineFactory of RMAppImpl, RMAppAttemptImpl, RMContainerImpl, RMNodeImpl). What is not in a table does not
// happen: Core refuses it and says so in the log. docs/life-cycles.md draws the tables.

namespace fairlead::rm {

enum class AppEvent : uint8_t {
  kStart,
  kRecover,
  kRejected,
  kNewSaved,
  kAccepted,
  kAttemptRegistered,
  kAttemptUnregistered,
  kAttemptFinished,
  kAttemptFailed,
  kAttemptKilled,
  kKill,
  kUpdateSaved,
};
enum class AttemptEvent : uint8_t {
  kStart,
  kRecover,
  kAdded,
  kContainerAllocated,
  kNewSaved,
  kLaunched,
  kRegistered,
  kUnregistered,
  kFail,
  kKill,
  kUpdateSaved,
  kContainerFinished,
  kExpire,
  kApplicationEnded,
};
enum class ContainerEvent : uint8_t { kAcquired, kLaunched, kFinished, kExpire, kPreempted };
enum class NodeEvent : uint8_t {
  kStarted,
  kStatusUpdate,
  kGracefulDecommission,
  kRecommission,
  kDecommission,
  kExpire,
  kRebooting,
  kShutdown,
};
std::string_view EnumName(AppEvent event);
std::string_view EnumName(AttemptEvent event);
std::string_view EnumName(ContainerEvent event);
std::string_view EnumName(NodeEvent event);

/// One line of a table. An event may lead to several states; then the core chooses.
template <class State, class Event>
struct Transition {
  State from;
  Event event;
  State to;
};

/// The lines of one life cycle, looked up in O(1). A line that leaves a state, or names an event, which the counts do
/// not cover does not compile.
template <class State, class Event, size_t kStates, size_t kEvents>
class LifeCycle {
 public:
  static constexpr size_t kStateCount = kStates;

  template <size_t N>
  explicit constexpr LifeCycle(const Transition<State, Event> (&lines)[N]) : lines_(lines) {
    for (const auto& line : lines) targets_[Index(line.from)][Index(line.event)] |= Bit(line.to);
  }
  /// Does the event mean anything in that state?
  constexpr bool Knows(State from, Event event) const { return targets_[Index(from)][Index(event)] != 0; }
  constexpr bool Leads(State from, Event event, State to) const {
    return (targets_[Index(from)][Index(event)] & Bit(to)) != 0;
  }
  constexpr std::span<const Transition<State, Event>> lines() const { return lines_; }

 private:
  template <class Enum>
  static constexpr size_t Index(Enum value) {
    return static_cast<size_t>(value);
  }
  static constexpr uint32_t Bit(State state) { return uint32_t{1} << static_cast<uint32_t>(state); }

  std::span<const Transition<State, Event>> lines_;
  std::array<std::array<uint32_t, kEvents>, kStates> targets_{};
};

using AppLifeCycle = LifeCycle<model::rm::AppState, AppEvent, 11, 12>;
using AttemptLifeCycle = LifeCycle<model::rm::AttemptState, AttemptEvent, 13, 14>;
using ContainerLifeCycle = LifeCycle<model::rm::ContainerState, ContainerEvent, 6, 5>;
using NodeLifeCycle = LifeCycle<model::rm::NodeState, NodeEvent, 8, 8>;

const AppLifeCycle& AppLife();
const AttemptLifeCycle& AttemptLife();
const ContainerLifeCycle& ContainerLife();
const NodeLifeCycle& NodeLife();

/// It will never change again.
constexpr bool IsOver(model::rm::AppState state) {
  return state == model::rm::AppState::kFinished || state == model::rm::AppState::kFailed ||
         state == model::rm::AppState::kKilled;
}
constexpr bool IsOver(model::rm::AttemptState state) {
  return state == model::rm::AttemptState::kFinished || state == model::rm::AttemptState::kFailed ||
         state == model::rm::AttemptState::kKilled;
}
/// Its end is stored; its master may still run.
constexpr bool EndIsStored(model::rm::AppState state) {
  return state == model::rm::AppState::kFinishing || IsOver(state);
}
/// Its end is decided, stored or not.
constexpr bool IsEnding(model::rm::AppState state) {
  return EndIsStored(state) || state == model::rm::AppState::kFinalSaving || state == model::rm::AppState::kKilling;
}
constexpr bool IsEnding(model::rm::AttemptState state) {
  return IsOver(state) || state == model::rm::AttemptState::kFinalSaving ||
         state == model::rm::AttemptState::kFinishing;
}
/// Its agent answers.
constexpr bool IsActive(model::rm::NodeState state) {
  return state == model::rm::NodeState::kRunning || state == model::rm::NodeState::kUnhealthy ||
         state == model::rm::NodeState::kDecommissioning;
}
/// It may be moved, and its priority and lifetime changed.
constexpr bool IsActive(model::rm::AppState state) {
  return state == model::rm::AppState::kSubmitted || state == model::rm::AppState::kAccepted ||
         state == model::rm::AppState::kRunning;
}

}  // namespace fairlead::rm
