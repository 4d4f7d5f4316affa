#pragma once

#include <cstdint>

#include "base/budget.h"

// What a message of Hadoop's RPC may cost, and Protocol Buffers that stand elsewhere. An empty element is two bytes on
// the wire and some hundred in memory, so memory is what decides: 32 bytes for each byte is more than any real message
// takes. A list that grows takes up to twice what is charged for its elements; the bounds allow for it. Messages within
// messages: 64; Hadoop's own readers stop at 100.

namespace fairlead::wire::hadoop_rpc {

inline constexpr base::BudgetKind MessageKind(std::string_view name, size_t bytes, size_t floor, size_t per_byte,
                                              size_t most) {
  return {name,
          bytes,
          64,
          {.floor = floor, .per_byte = per_byte, .most = most},
          {.floor = SIZE_MAX, .per_byte = 0, .most = SIZE_MAX},   // memory bounds them
          {.floor = SIZE_MAX, .per_byte = 0, .most = SIZE_MAX}};  // none is searched
}

/// Headers, logins and connection contexts.
inline constexpr base::BudgetKind kSetup = MessageKind("a header of Hadoop's RPC", 1 << 20, 64 << 10, 32, 1 << 20);
/// A call, unless its method is one of those below. The largest of real ones are lists of ids, 40 bytes each.
inline constexpr base::BudgetKind kCall = MessageKind("a call of Hadoop's RPC", 1 << 20, 256 << 10, 32, 5 << 20);
/// Calls without a token that are larger: a submission has its master's environment, files and credentials (Spark's is
/// 20 to 300 KB), a heartbeat some 300 bytes for each container of a node.
inline constexpr base::BudgetKind kLargeCall =
    MessageKind("a submission or heartbeat of Hadoop's RPC", 4 << 20, 256 << 10, 32, 6 << 20);
/// Calls of application masters, whose token is checked before the message is looked at: an ask is 100 bytes for each
/// host that is named, a start has the environment and credentials of each container.
inline constexpr base::BudgetKind kMasterCall =
    MessageKind("a call of an application master", 8 << 20, 256 << 10, 32, 64 << 20);
/// An answer to a call of ours: lists of all applications or nodes of a cluster are long.
inline constexpr base::BudgetKind kAnswer =
    MessageKind("an answer of Hadoop's RPC", INT32_MAX, 4 << 20, 32, size_t{4} << 30);
/// The identifier of a token.
inline constexpr base::BudgetKind kTokenIdentifier = MessageKind("a token", 1 << 20, 64 << 10, 32, 1 << 20);
/// Part of a call that was taken (contexts of applications and containers, credentials), kept as bytes: it may not be
/// refused for what its call was not refused for.
inline constexpr base::BudgetKind kKept =
    MessageKind("a context that was kept", 64 << 20, 1 << 20, 128, size_t{1} << 30);

/// What a call of this method may cost, by the protocols that Fairlead serves.
constexpr const base::BudgetKind& CallKind(std::string_view method) {
  if (method == "allocate" || method == "startContainers") return kMasterCall;
  if (method == "submitApplication" || method == "nodeHeartbeat" || method == "registerNodeManager") return kLargeCall;
  return kCall;
}

}  // namespace fairlead::wire::hadoop_rpc
