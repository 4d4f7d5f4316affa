#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "model/queue_set.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "rm/state.h"

namespace fairlead::rm {

/// Where a Step puts what it decided: effects for the outside, and events for the scheduler.
struct Sink {
  std::vector<model::rm::OuterEffect>& outer;
  std::vector<model::scheduler::Event>& scheduler;
};

/// Something to be looked at when the time comes. Whether it still means anything is seen then.
struct Timer {
  enum class Kind : uint8_t { kMaster, kFinishing, kNode, kLifetime, kDecommission, kRetry };
  base::Instant when;
  Kind kind = Kind::kMaster;
  uint32_t index = 0;   // application or node
  int32_t attempt = 0;  // 0: the application itself
  friend auto operator<=>(const Timer&, const Timer&) = default;
  FL_STATE(when, kind, index, attempt)
};

/// What follows when the store has answered.
struct Continuation {
  enum class After : uint8_t { kNothing, kAppNew, kAppFinal, kAttemptNew, kAttemptFinal, kAnswer };
  After after = After::kNothing;
  model::AppIndex app;
  int32_t attempt = 0;
  std::vector<model::rm::OuterEffect> answers;
  FL_STATE(after, app, attempt, answers)
};

/// What the parts of the core share (RMContext, without its tables): the configuration and the run, the time of the
/// step, where its decisions go, what the scheduler and the store have not answered yet, and the timers.
class Context {
 public:
  explicit Context(Config config) : config_(std::move(config)) { ReadQueues(); }

  /// Opens a step. `sink` must live until EndStep.
  void BeginStep(base::Instant now, base::WallTime wall, Sink* sink);
  void EndStep() { sink_ = nullptr; }
  base::Instant now() const { return now_; }
  base::WallTime wall() const { return wall_; }

  const Config& config() const { return config_; }
  void TakeQueues(model::QueueTree queues) {
    config_.queues = std::move(queues);
    ReadQueues();
  }
  /// In use. Whoever holds them may take them to any thread.
  const std::shared_ptr<const model::QueueSet>& queues() const { return queues_; }
  /// This run of the resource manager: application ids carry the time stamp, container ids the epoch.
  void BeginRun(int64_t cluster_timestamp, int32_t epoch);
  int64_t cluster_timestamp() const { return cluster_timestamp_; }
  int32_t epoch() const { return epoch_; }
  base::Instant started_at() const { return started_at_; }

  // ---- Decisions ----
  template <class T>
  void Emit(T&& effect) {
    sink_->outer.emplace_back(std::forward<T>(effect));
  }
  template <class T>
  void Tell(T&& event) {
    sink_->scheduler.emplace_back(std::forward<T>(event));
  }
  void Refuse(model::rm::CallToken call, model::Refused refused) {
    Emit(model::rm::CallRefused{call, std::move(refused)});
  }
  void Refuse(model::rm::CallToken call, model::Refusal why, std::vector<std::string> names = {},
              std::vector<int64_t> numbers = {}) {
    Refuse(call, {why, std::move(names), {}, std::move(numbers)});
  }
  template <class Id>
  void Log(const Id& id, std::string_view from, std::string_view to, std::string detail) {
    Emit(model::rm::StateChanged{ToString(id), std::string(from), std::string(to), std::move(detail), AppOf(id)});
  }
  /// The event means nothing in that state: all stays as it is.
  template <class Id, class State, class Event>
  void RefuseTransition(const Id& id, State state, Event event, State to) {
    std::string why("refused ");
    why.append(EnumName(event)).append(" to ").append(EnumName(to));
    Log(id, EnumName(state), EnumName(state), std::move(why));
  }
  /// One step of a life cycle; false: its table does not have it.
  template <class Life, class Id, class State, class Event>
  bool Advance(const Life& life, const Id& id, State& state, Event event, State to, std::string_view detail = "") {
    if (!life.Leads(state, event, to)) {
      RefuseTransition(id, state, event, to);
      return false;
    }
    std::string why(EnumName(event));
    if (!detail.empty()) why.append(": ").append(detail);
    Log(id, EnumName(state), EnumName(to), std::move(why));
    state = to;
    return true;
  }

  // ---- Calls of the scheduler: it answers each within the step ----
  /// A token for a call of the core's own.
  uint64_t OwnToken() { return model::scheduler::kOwnCall | model::scheduler::kOwnCall >> 1 | ++last_own_call_; }
  void Await(uint64_t token, Asked asked) { asked_.emplace(token, std::move(asked)); }
  /// What was asked under that token, which still waits; an unknown token is a scheduler's fault.
  Asked& Awaited(uint64_t token);
  /// The same, answered now.
  Asked TakeAsked(uint64_t token);
  template <class T>
  T TakeAsked(uint64_t token) {
    Asked asked = TakeAsked(token);
    FL_CHECK(std::holds_alternative<T>(asked), "the scheduler answers another question");
    return std::get<T>(std::move(asked));
  }

  // ---- The store ----
  void Store(std::vector<model::rm::StoreRow> rows, Continuation continuation = {});
  /// Stores the row of a change that is made already, and answers then.
  void StoreAndAnswer(model::rm::StoreRow row, model::rm::OuterEffect answer);
  /// Nothing for a transaction that is not known.
  std::optional<Continuation> TakeContinuation(uint64_t txn);

  // ---- Timers ----
  void Arm(Timer timer) { timers_.insert(timer); }
  void Disarm(const Timer& timer) { timers_.erase(timer); }
  /// The next one that is due, disarmed.
  std::optional<Timer> TakeDue();
  base::Instant NextDeadline() const { return timers_.empty() ? base::Instant::Max() : timers_.begin()->when; }

  std::string Check() const { return asked_.empty() ? "" : "the scheduler has not answered a call"; }
  void Mix(base::StateHasher& hasher) const;
  void AfterRead() { ReadQueues(); }
  FL_STATE_PART(config_.queues, cluster_timestamp_, epoch_, started_at_, last_txn_, last_own_call_, waiting_, timers_)

 private:
  static model::ApplicationId AppOf(const model::ApplicationId& id) { return id; }
  static model::ApplicationId AppOf(const model::ApplicationAttemptId& id) { return id.app; }
  static model::ApplicationId AppOf(const model::ContainerId& id) { return id.attempt.app; }
  static model::ApplicationId AppOf(const model::rm::NodeAddress&) { return {}; }

  void ReadQueues() { queues_ = std::make_shared<const model::QueueSet>(config_.queues); }

  Config config_;
  std::shared_ptr<const model::QueueSet> queues_;  // of config_.queues
  int64_t cluster_timestamp_ = 0;
  int32_t epoch_ = 0;
  base::Instant started_at_;
  uint64_t last_txn_ = 0;
  uint64_t last_own_call_ = 0;
  std::map<uint64_t, Continuation> waiting_;  // by transaction
  std::map<uint64_t, Asked> asked_;           // by token
  std::set<Timer> timers_;
  // Valid during a step only.
  base::Instant now_;
  base::WallTime wall_;
  Sink* sink_ = nullptr;
};

}  // namespace fairlead::rm
