#pragma once

#include <cstdint>
#include <string>

#include "model/ids.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "rm/context.h"
#include "rm/life_cycles.h"
#include "rm/state.h"

namespace fairlead::rm {

class Apps;
class Containers;

/// The table of the store in which attempts are.
inline constexpr char kAttemptTable[] = "rm/attempt";

/// The life of attempts: the master's container from ask to end (RMAppAttemptImpl). Owns nothing: an attempt stands
/// in its application.
class Attempts {
 public:
  Attempts(Context& context, Apps& apps, Containers& containers)
      : context_(context), config_(context.config()), apps_(apps), containers_(containers) {}

  void On(const model::rm::FailAttempt& event);
  void On(const model::rm::MasterLaunched& event);
  void Refused(const MasterAsked& asked, uint64_t token, const model::Refused& refused);
  // The store's answers.
  void Saved(App& app, Attempt& attempt, bool ok);
  void FinalSaved(App& app, Attempt& attempt, bool ok);

  /// The application's new one, which takes over what the one before has not told. `transfer`: also its containers.
  void Start(App& app, int32_t number, bool transfer);
  /// The master of a run before may live on: it registers again, or its node says how it ended, or it expires.
  void Resume(App& app, Attempt& attempt);
  void MasterGranted(App& app, Attempt& attempt, const model::ContainerId& container);
  void MasterContainerEnded(App& app, Attempt& attempt, const model::rm::ContainerEnd& end);
  void MarkLaunched(App& app, Attempt& attempt, AttemptEvent event);
  void Registered(App& app, Attempt& attempt);
  void Unregistered(App& app, Attempt& attempt);
  void Fail(App& app, Attempt& attempt, std::string diagnostics, int32_t exit_status = model::kExitInvalid);
  void Kill(App& app, Attempt& attempt, const std::string& diagnostics);
  /// The application is over; only when the scheduler threw it out had its attempt no end of its own.
  void ApplicationEnded(Attempt& attempt);
  /// The master has been told of these ends: their nodes may forget them.
  void AckToldContainers(Attempt& attempt);

  /// The master may have been silent for too long.
  void Expire(App& app, Attempt& attempt, const Timer& timer);
  /// Tries once more to store what could not be stored.
  void Retry(App& app, Attempt& attempt);

  /// Is it its application's fault?
  bool CountsAsFailure(const App& app, const Attempt& attempt) const;
  model::rm::StoreRow RowOf(const Attempt& attempt) const;

 private:
  bool SetState(Attempt& attempt, AttemptEvent event, model::rm::AttemptState to);
  void ScheduleMaster(App& app, Attempt& attempt);
  void Store(const App& app, const Attempt& attempt, Continuation::After after);
  void AwaitMaster(const App& app, Attempt& attempt, Timer::Kind kind);
  void SaveFinal(App& app, Attempt& attempt, AttemptEvent event, model::rm::AttemptState target,
                 std::string diagnostics, int32_t exit_status);
  void End(App& app, Attempt& attempt, AttemptEvent event, model::rm::AttemptState final_state);
  std::string CrashDiagnostics(const Attempt& attempt, const model::rm::ContainerEnd& end) const;

  Context& context_;
  const Config& config_;
  Apps& apps_;
  Containers& containers_;
};

}  // namespace fairlead::rm
