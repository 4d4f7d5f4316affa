#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/ids.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "rm/app_table.h"
#include "rm/context.h"
#include "rm/life_cycles.h"
#include "rm/state.h"

namespace fairlead::rm {

class Attempts;
class Containers;
class Nodes;

/// The table of the store in which applications are.
inline constexpr char kAppTable[] = "rm/app";

/// The life of applications (RMAppImpl, RMAppManager, ClientRMService). Owns the table of them with the attempts in it,
/// the order in which they ended, and the numbers of new ones.
class Apps {
 public:
  Apps(Context& context, Attempts& attempts, Containers& containers, Nodes& nodes)
      : context_(context), config_(context.config()), attempts_(attempts), containers_(containers), nodes_(nodes) {}

  // ---- Calls of clients ----
  void On(const model::rm::NewApplication& event);
  void On(const model::rm::Submit& event);
  void On(const model::rm::KillApp& event);
  void On(const model::rm::MoveApp& event);
  void On(const model::rm::SetPriority& event);
  void On(const model::rm::SetLifetime& event);

  // ---- The scheduler's answers ----
  void On(const model::scheduler::AppAccepted& effect);
  void On(const model::scheduler::MoveAnswered& effect);
  void On(const model::scheduler::PriorityAnswered& effect);
  void On(const model::scheduler::GangExpired& effect);
  void Refused(const PlacementAsked& asked, uint64_t token, const model::Refused& refused);
  void Refused(const MoveAsked&, uint64_t token, const model::Refused& refused) { context_.Refuse(token, refused); }
  void Refused(const PriorityAsked&, uint64_t token, const model::Refused& refused) { context_.Refuse(token, refused); }

  // ---- The store's answers ----
  void Saved(App& app, bool ok, const std::string& error);
  void FinalSaved(App& app, bool ok);

  // ---- News of its attempts ----
  void AttemptRegistered(App& app);
  void AttemptUnregistered(App& app);
  void AttemptFinished(App& app, const std::string& diagnostics);
  void AttemptKilled(App& app, const std::string& diagnostics);
  void AttemptFailed(App& app, const std::string& diagnostics, bool keep_containers);
  /// Those that count towards the most that it may have.
  int32_t FailedAttempts(const App& app) const;

  // ---- Timers ----
  void LifetimeIsOver(App& app);
  /// Tries once more to store its end.
  void RetryFinal(App& app);

  /// What the store held of one application, with its attempts by number (RMAppImpl.recover).
  void Recover(const model::rm::AppRecord& record, std::span<const model::rm::AttemptRecord* const> attempts);
  /// Forgets the oldest that ended, beyond the limits.
  void Evict();

  // ---- The table. References live until the next step. ----
  void BeginStep() { table_.Clear(); }
  const AppTable& table() const { return table_; }
  int32_t submitted() const { return submitted_; }
  App& At(model::AppIndex index) { return table_[index]; }
  /// At and FindAttempt for who changes nothing that readers see, or says so by Touch.
  App& Peek(model::AppIndex index) { return table_.Peek(index); }
  Attempt* PeekAttempt(const model::ApplicationAttemptId& id, App** app);
  void Touch(App& app) { table_.Touch(app); }
  std::vector<model::AppIndex> TakeTouched() { return table_.TakeTouched(); }
  /// Null when there is none.
  App* Find(const model::ApplicationId& id) { return table_.FindById(id); }
  Attempt* FindAttempt(const model::ApplicationAttemptId& id, App** app = nullptr);
  /// The app, or null after answering the call with ApplicationNotFoundException.
  App* Require(model::rm::CallToken call, const model::ApplicationId& id);
  /// Calls `visit(App&)` in order of submission.
  template <class Visit>
  void ForEach(Visit&& visit) {
    table_.ForEach(std::forward<Visit>(visit));
  }
  /// `app` is as before then.
  model::rm::StoreRow RowOf(App& app) const;

  /// Empty when the table agrees with itself, else what differs.
  std::string Check() const;
  void Mix(base::StateHasher& hasher) const;
  FL_STATE_PART(table_, completed_, completed_in_store_, last_number_, submitted_)

 private:
  /// Asks the scheduler to take it; AppAccepted or CallRefused with the token must follow.
  void Place(const App& app, uint64_t token, bool recovered);
  model::Refused NormalizeMasterAsks(App& app) const;
  std::string RejectionDiagnostics(const App& app, const model::Refused& refused) const;
  model::Refused CheckQueue(const App& app, const std::string& queue) const;
  bool MaySubmit(App& app, const std::string& queue);
  /// The submission succeeds, and the application ends at once.
  void Reject(App& app, std::string_view why, std::string diagnostics);
  bool SetState(App& app, AppEvent event, model::rm::AppState to, std::string_view detail = "");
  void Kill(App& app, const std::string& diagnostics);
  void StartAttempt(App& app, bool transfer);
  void RecoverAttempt(App& app, const model::rm::AttemptRecord& record);
  /// Stores its end, unless the event does not end it in its state.
  void SaveFinal(App& app, AppEvent event, model::rm::AppState target, std::string diagnostics);
  void StoreFinal(App& app);
  void Complete(App& app, AppEvent event, model::rm::AppState final_state);
  void TellItsNodes(const App& app);
  void Forget(App& app);
  void ArmLifetime(App& app);
  std::string FailureDiagnostics(const App& app, const std::string& cause, bool beyond) const;

  Context& context_;
  const Config& config_;
  Attempts& attempts_;
  Containers& containers_;
  Nodes& nodes_;
  AppTable table_;
  std::deque<model::AppIndex> completed_;  // oldest first
  int32_t completed_in_store_ = 0;
  int32_t last_number_ = 0;
  int32_t submitted_ = 0;
};

}  // namespace fairlead::rm
