#include "rm/state_hash.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace fairlead::rm {
namespace {

template <class T>
uint64_t HashOf(const T& state) {
  base::StateHasher hash;
  Mix(hash, state);
  return hash.value();
}

/// Becomes whatever a field is; only asked whether it could.
struct Any {
  template <class Field>
  operator Field() const {
    std::abort();
  }
};
/// The fields of an aggregate: of how many values it can be made at the most.
template <class T, class... Values>
constexpr size_t FieldsOf() {
  if constexpr (requires { T{Values{}..., Any{}}; }) {
    return FieldsOf<T, Values..., Any>();
  } else {
    return sizeof...(Values);
  }
}

/// Makes each change to a state as it is at first: every one has a hash of its own. There is one for each field but
/// those that are left out, since nothing is decided by them.
template <class T, size_t kLeftOut = 0>
void EveryChangeShows(const std::vector<std::function<void(T&)>>& changes) {
  EXPECT_EQ(changes.size() + kLeftOut, FieldsOf<T>())
      << "mix the new field in src/rm/state_hash.cc and change it here, or say why it is left out";
  std::set<uint64_t> seen{HashOf(T{})};
  for (size_t i = 0; i < changes.size(); ++i) {
    T state;
    changes[i](state);
    EXPECT_TRUE(seen.insert(HashOf(state)).second) << "change " << i << " does not show";
  }
}

const model::ContainerId kId{{{1, 2}, 3}, 4};
const model::NodeIndex kNode{5};

// Left out: its place among the waiting grants, and `expires`, which counts while it has one.
TEST(StateHash, EveryFieldOfAContainer) {
  EveryChangeShows<Container, 2>({
      [](Container& c) { c.id = kId; },
      [](Container& c) { c.state = model::rm::ContainerState::kRunning; },
      [](Container& c) { c.is_master = true; },
      [](Container& c) { c.launched = true; },
      [](Container& c) { c.reported_complete = true; },
      [](Container& c) { c.node = kNode; },
      [](Container& c) { c.remembered_by = kNode; },
      [](Container& c) { c.exit_status = 3; },
      [](Container& c) { c.created = {7}; },
      [](Container& c) { c.launched_at = {7}; },
      [](Container& c) { c.version = 8; },
      [](Container& c) { c.priority = 9; },
      [](Container& c) { c.allocation_request_id = 10; },
      [](Container& c) { c.resources = model::Resources::Of(1, 1); },
      [](Container& c) { c.diagnostics = "why"; },
  });
}

TEST(StateHash, EveryFieldOfAnAttempt) {
  EveryChangeShows<Attempt>({
      [](Attempt& a) { a.id = kId.attempt; },
      [](Attempt& a) { a.state = model::rm::AttemptState::kRunning; },
      [](Attempt& a) { a.known = true; },
      [](Attempt& a) { a.master_gone = true; },
      [](Attempt& a) { a.response_id = 1; },
      [](Attempt& a) { a.containers_allocated = 1; },
      [](Attempt& a) { a.containers_preempted = 1; },
      [](Attempt& a) { a.granted = {kId}; },
      [](Attempt& a) { a.just_finished.emplace_back().remembered_by = kNode; },
      [](Attempt& a) {
        a.told.push_back({kId, kNode});
      },
      [](Attempt& a) { a.memory_ms = 1; },
      [](Attempt& a) { a.vcore_ms = 1; },
      [](Attempt& a) { a.preempt_strict.insert(kId); },
      [](Attempt& a) { a.preempt_contract.insert(kId); },
      [](Attempt& a) { a.master.id = kId; },
      [](Attempt& a) { a.token_nodes.Insert(kNode); },
      [](Attempt& a) { a.last_answer = std::make_unique<model::rm::AllocateAnswer>(); },
      [](Attempt& a) { a.last_seen = {9}; },
      [](Attempt& a) { a.headroom = model::Resources::Of(1, 1); },
      [](Attempt& a) { a.state_before_saving = model::rm::AttemptState::kRunning; },
      [](Attempt& a) { a.target = model::rm::AttemptState::kRunning; },
      [](Attempt& a) { a.final_status = model::rm::FinalStatus::kFailed; },
      [](Attempt& a) { a.pending_diagnostics = "why"; },
      [](Attempt& a) { a.kill_diagnostics = "why"; },
      [](Attempt& a) { a.unregistration = std::make_unique<Unregistration>(); },
      [](Attempt& a) { a.host = "h"; },
      [](Attempt& a) { a.rpc_port = 1; },
      [](Attempt& a) { a.original_url = "u"; },
      [](Attempt& a) { a.proxied_url = "u"; },
      [](Attempt& a) { a.progress = 0.5; },
      [](Attempt& a) { a.diagnostics = "why"; },
      [](Attempt& a) { a.exit_status = 3; },
      [](Attempt& a) { a.started = {1}; },
      [](Attempt& a) { a.finished = {1}; },
      [](Attempt& a) { a.preempted_memory_ms = 1; },
      [](Attempt& a) { a.preempted_vcore_ms = 1; },
      [](Attempt& a) { a.updated.emplace_back(); },
      [](Attempt& a) { a.update_errors.emplace_back(); },
      [](Attempt& a) { a.recovered.emplace_back(); },
  });
}

// Left out: `touched`.
TEST(StateHash, EveryFieldOfAnApplication) {
  EveryChangeShows<App, 1>({
      [](App& a) { a.index = {1}; },
      [](App& a) { a.alive = true; },
      [](App& a) { a.state = model::rm::AppState::kRunning; },
      [](App& a) { a.in_scheduler = true; },
      [](App& a) { a.in_store = true; },
      [](App& a) { a.containers.Add(Container{}); },
      [](App& a) { a.attempts[1]; },
      [](App& a) { a.ran_on.insert(kNode); },
      [](App& a) { a.reservations[kId] = model::Resources::Of(1, 1); },
      [](App& a) { a.submission.name = "n"; },
      [](App& a) { a.state_before_saving = model::rm::AppState::kRunning; },
      [](App& a) { a.state_before_killing = model::rm::AppState::kRunning; },
      [](App& a) { a.target = model::rm::AppState::kRunning; },
      [](App& a) { a.max_attempts = 9; },
      [](App& a) { a.next_attempt = 9; },
      [](App& a) { a.pending_diagnostics = "why"; },
      [](App& a) { a.diagnostics = "why"; },
      [](App& a) { a.submitted = {1}; },
      [](App& a) { a.started = {1}; },
      [](App& a) { a.launched = {1}; },
      [](App& a) { a.finished = {1}; },
      [](App& a) { a.expires = {1}; },
      [](App& a) { a.deadline = {1}; },
      [](App& a) { a.master_asks.emplace_back(); },
      [](App& a) { a.RememberEndedRecovered(kId); },
      [](App& a) { a.node_changes[kNode] = model::rm::NodeChange::kUnusable; },
      [](App& a) { a.waiting_calls.emplace_back(WaitsFor::kKilled, 7); },
  });
}

// Left out: `touched`.
TEST(StateHash, EveryFieldOfANode) {
  EveryChangeShows<Node, 1>({
      [](Node& n) { n.index = kNode; },
      [](Node& n) { n.registered_as = kNode; },
      [](Node& n) { n.state = model::rm::NodeState::kRunning; },
      [](Node& n) { n.in_scheduler = true; },
      [](Node& n) { n.resized = true; },
      [](Node& n) { n.response_id = 1; },
      [](Node& n) { n.last_seen = {1}; },
      [](Node& n) { n.heartbeat = 1; },
      [](Node& n) { n.last_answer = std::make_shared<const model::rm::HeartbeatAnswer>(); },
      [](Node& n) { n.running.Insert(kId); },
      [](Node& n) { n.cleanup.insert(kId); },
      [](Node& n) { n.forget.insert(kId); },
      [](Node& n) {
        n.finished_apps.insert({1, 2});
      },
      [](Node& n) {
        n.running_apps.insert({1, 2});
      },
      [](Node& n) { n.updates[kId].version = 1; },
      [](Node& n) {
        n.signals.push_back({kId, {}});
      },
      [](Node& n) { n.health_report = "ill"; },
      [](Node& n) { n.health_time = {1}; },
      [](Node& n) {
        n.address = {"h", 1};
      },
      [](Node& n) { n.http_port = 1; },
      [](Node& n) { n.capacity = model::Resources::Of(1, 1); },
      [](Node& n) { n.physical = model::Resources::Of(1, 1); },
      [](Node& n) { n.use.disk_busy = 1; },
      [](Node& n) { n.containers_use.disk_busy = 1; },
      [](Node& n) { n.ip = "::1"; },
      [](Node& n) { n.rack = "/r"; },
      [](Node& n) { n.version = "3"; },
      [](Node& n) { n.labels = {"gpu"}; },
      [](Node& n) { n.decommission_deadline = {1}; },
      [](Node& n) { n.decommission_timeout_s = 1; },
  });
}

}  // namespace
}  // namespace fairlead::rm
