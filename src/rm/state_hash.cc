#include "rm/state_hash.h"

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/codec.h"

namespace fairlead::rm {
namespace {

template <class T>
concept Range = requires(const T& value) {
  value.begin();
  value.end();
} && !std::is_same_v<T, std::string>;

template <class T>
void MixOne(base::StateHasher& hash, const T& value);

template <class First, class Second>
void MixOne(base::StateHasher& hash, const std::pair<First, Second>& value) {
  MixOne(hash, value.first);
  MixOne(hash, value.second);
}

template <class T>
void MixOne(base::StateHasher& hash, const T& value) {
  if constexpr (std::is_same_v<T, float>) {
    hash.Mix(std::bit_cast<uint32_t>(value));
  } else if constexpr (Range<T>) {
    hash.Mix(value.size());
    for (const auto& item : value) MixOne(hash, item);
  } else {
    base::HashInto(hash, value);
  }
}

template <class... T>
void MixAll(base::StateHasher& hash, const T&... values) {
  (MixOne(hash, values), ...);
}

/// What a pointer leads to, or that it leads to nothing.
template <class Pointer>
void MixTarget(base::StateHasher& hash, const Pointer& pointer) {
  hash.Mix(pointer ? 1 : 0);
  if (pointer) MixOne(hash, *pointer);
}

}  // namespace

void Mix(base::StateHasher& hash, const Container& one) {
  MixAll(hash, one.id, one.state, one.is_master, one.launched, one.reported_complete, one.node, one.remembered_by,
         one.exit_status, one.created, one.launched_at, one.version, one.priority, one.allocation_request_id,
         one.resources, one.diagnostics, one.waits() ? one.expires : base::Instant::Max());
}

void Mix(base::StateHasher& hash, const Attempt& one) {
  MixAll(hash, one.id, one.state, one.known, one.master_gone, one.response_id, one.containers_allocated,
         one.containers_preempted, one.granted, one.just_finished, one.told, one.memory_ms, one.vcore_ms,
         one.preempt_strict, one.preempt_contract, one.master, one.last_seen, one.headroom);
  for (const bool has : one.token_nodes.bits()) hash.Mix(has ? 1 : 0);
  MixTarget(hash, one.last_answer);
  MixAll(hash, one.state_before_saving, one.target, one.final_status, one.pending_diagnostics, one.kill_diagnostics,
         one.host, one.rpc_port, one.original_url, one.proxied_url, one.progress, one.diagnostics, one.exit_status,
         one.started, one.finished, one.preempted_memory_ms, one.preempted_vcore_ms, one.updated, one.update_errors,
         one.recovered);
  hash.Mix(one.unregistration ? 1 : 0);
  if (one.unregistration) {
    MixAll(hash, one.unregistration->status, one.unregistration->diagnostics, one.unregistration->tracking_url);
  }
}

void Mix(base::StateHasher& hash, const App& one) {
  MixAll(hash, one.index, one.alive, one.state, one.in_scheduler, one.in_store, one.ran_on, one.reservations,
         one.submission, one.state_before_saving, one.state_before_killing, one.target, one.max_attempts,
         one.next_attempt, one.pending_diagnostics, one.diagnostics, one.submitted, one.started, one.launched,
         one.finished, one.expires, one.deadline, one.master_asks, one.node_changes);
  MixTarget(hash, one.ended_recovered);
  for (const auto& [what, call] : one.waiting_calls) MixAll(hash, what, call);
  for (const auto& [number, attempt] : one.attempts) Mix(hash, attempt);
  for (const Container* container : InOrder(one.containers)) Mix(hash, *container);
}

void Mix(base::StateHasher& hash, const Node& one) {
  MixAll(hash, one.index, one.registered_as, one.state, one.in_scheduler, one.resized, one.response_id, one.last_seen,
         one.heartbeat, one.cleanup, one.forget, one.finished_apps, one.running_apps, one.updates, one.signals,
         one.health_report, one.health_time, one.address, one.http_port, one.capacity, one.physical, one.use,
         one.containers_use, one.ip, one.rack, one.version, one.labels, one.decommission_deadline,
         one.decommission_timeout_s);
  MixTarget(hash, one.last_answer);
  one.running.ForEach([&](const model::ContainerId& id, bool over) { MixAll(hash, id, over); });
}

}  // namespace fairlead::rm
