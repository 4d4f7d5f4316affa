#pragma once

#include <cstdint>

namespace fairlead::model {

/// For what a container was taken back (kExitPreempted).
enum class TakenBackFor : uint8_t {
  kQueue,    // another queue, which was below its share
  kNode,     // wish overcommit: its node, of whose machine too much is in use
  kMasters,  // wish park-masters: masters of others, where this one only waited
};
/// What is said of it. The first is Hadoop's.
constexpr const char* DiagnosticsOf(TakenBackFor what) {
  switch (what) {
    case TakenBackFor::kQueue:
      return "Container preempted by scheduler";
    case TakenBackFor::kNode:
      return "The node needs for others what the container had above its capacity";
    case TakenBackFor::kMasters:
      return "The master only waited: it made room for applications that may be smaller, and starts again in its turn";
  }
  return "";
}

}  // namespace fairlead::model
