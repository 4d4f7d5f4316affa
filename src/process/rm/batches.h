#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/yarn/exceptions.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"
#include "process/http/metrics.h"
#include "process/rm/machine.h"

namespace fairlead::process::rm {

/// One batch as it was stepped, for the journal.
struct Batch {
  base::Instant now;
  base::WallTime wall;
  const std::vector<model::rm::OuterEvent>& events;
  const std::vector<model::rm::OuterEffect>& effects;
  const ResourceMachine& machine;  // as it is then
};

/// Bytes above which what a submission has freed is given back at once.
inline constexpr size_t kLargeSubmission = 1 << 20;

/// Steps the machine: what arrives in one turn of the loop is one batch. What it decides is stored, or answers who
/// asked, or goes to Outside. Owns what waits for a step, a store or an answer.
class Batches {
 public:
  struct Outside {
    std::function<bool()> may_act;                                 // ResourceManagerOptions::may_act
    std::function<void(const Batch&)> on_batch;                    // may be empty, as may the last
    std::function<void(const model::rm::OuterEffect&)> carry_out;  // neither an answer nor for the store
    std::function<void(const std::string&)> warn;
    std::function<void(const std::string& why)> on_store_lost;
  };
  /// `store` null: nothing is stored. `recovery`: what the machine decides is.
  Batches(env::Loop& loop, env::Store* store, bool recovery, ResourceMachine& machine, Outside outside);

  /// Gets the effect that answers a call.
  using Answer = std::function<void(const model::rm::OuterEffect&)>;
  /// Puts an event into the next batch, with the token that it must carry.
  template <class Event>
  void Ask(Event event, Answer answer) {
    event.call = ++last_call_;
    answers_[event.call] = std::move(answer);
    Post(std::move(event));
  }
  void Post(model::rm::OuterEvent event);
  /// Steps until nothing waits, unless nothing may be decided now.
  void Drain();

  /// Tries until the rows are stored, then calls `stored`; not any more once the store is lost.
  void StoreForCertain(std::vector<env::Row> rows, std::function<void()> stored);
  /// The same, for parts that store.
  auto Storing() {
    return [this](std::vector<env::Row> rows, std::function<void()> stored) {
      StoreForCertain(std::move(rows), std::move(stored));
    };
  }
  /// Decides nothing before the rows are stored.
  void HoldUntilStored(std::vector<env::Row> rows);
  /// False while nothing is decided: rows are awaited, or the store is lost.
  bool decides() const { return !held_; }
  /// Why the store took nothing when it was last asked, which is done every second until it does; empty: it did.
  const std::string& store_error() const { return store_error_; }

  struct Counts {
    uint64_t events = 0;
    uint64_t batches = 0;
    uint64_t granted = 0;
    uint64_t store_errors = 0;
    http::Histogram step;    // of a batch through both cores
    http::Histogram commit;  // from a change to its being stored
  };
  const Counts& counts() const { return counts_; }

 private:
  bool MayAct() const { return !outside_.may_act || outside_.may_act(); }
  void DispatchAll();
  void Dispatch(model::rm::OuterEffect& effect);
  void Commit(model::rm::Persist persist);
  /// False: the store is lost.
  bool NoteCommit(const env::CommitStatus& status);
  void ProbeLater();
  void StoreLost(const env::CommitError& error);
  void Answered(model::rm::CallToken call, const model::rm::OuterEffect& effect);
  void ArmTimer();

  env::Loop& loop_;
  env::Store* store_;
  const bool recovery_;
  ResourceMachine& machine_;
  Outside outside_;
  std::vector<model::rm::OuterEvent> inbox_;
  std::vector<model::rm::OuterEvent> batch_;
  std::vector<model::rm::OuterEffect> effects_;  // decided and not told yet
  bool drain_posted_ = false;
  bool draining_ = false;
  bool held_ = false;
  std::string store_error_;
  bool probing_ = false;
  env::Timer timer_{loop_};
  model::rm::CallToken last_call_ = 0;
  std::map<model::rm::CallToken, Answer> answers_;
  Counts counts_;
  env::Alive alive_;
};

/// What clients are told of a call that was refused; nothing of others.
std::optional<endpoints::yarn::RemoteException> RefusalOf(const model::rm::OuterEffect& effect);

}  // namespace fairlead::process::rm
