#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "model/scheduler.h"
#include "oracle/oracle.h"
#include "scheduler/scheduler.h"

// What the recorders of Hadoop's schedulers have in common: how they name containers, what they write of a step.

namespace fairlead::oracle {

nlohmann::json ToJson(const model::Resources& resources);
/// `mem`, `vc` and `ext` of a recorded thing.
model::Resources SizeOf(const nlohmann::json& thing);
std::vector<std::string> StringsOf(const nlohmann::json& step, const char* key);

/// One scenario being replayed into a core; what a recorder does around the real scheduler.
class HadoopPlayer {
 public:
  virtual ~HadoopPlayer() = default;
  std::string CheckInvariants() const { return core().CheckInvariants(); }
  /// The step as the recorder would have written it.
  nlohmann::json Play(const nlohmann::json& step);

 protected:
  virtual const scheduler::Scheduler& core() const = 0;
  virtual scheduler::Scheduler& core() = 0;
  /// Does the step and writes what is special to it; `unknown step` when there is no such.
  virtual void Apply(const std::string& op, const nlohmann::json& step, nlohmann::json& out) = 0;
  /// Free resources of a node.
  virtual model::Resources FreeOf(model::NodeIndex node) const = 0;
  /// Further fields of a grant.
  virtual void Describe(const model::scheduler::Granted& grant, nlohmann::json& out) const;

  void Begin(const nlohmann::json& scenario);
  base::Instant now() const { return base::Instant{now_ms_ * 1'000'000}; }
  void MoveClock(int64_t ms) { now_ms_ += ms; }
  int64_t now_ms() const { return now_ms_; }
  void Send(model::scheduler::Event event);
  void RunPass(model::scheduler::PassKind kind) { Send(model::scheduler::Pass{kind}); }
  const std::vector<model::scheduler::Effect>& effects() const { return effects_; }
  void ForgetEffects() { effects_.clear(); }
  template <class T>
  const T* Last() const {
    for (auto it = effects_.rbegin(); it != effects_.rend(); ++it) {
      if (const T* found = std::get_if<T>(&*it)) return found;
    }
    return nullptr;
  }

  /// The node's index; nullopt, with the recorder's error in `out`, when there is none (any more).
  std::optional<model::NodeIndex> NodeOf(const std::string& host, nlohmann::json& out) const;
  void AddNode(const nlohmann::json& step, const std::vector<std::string>& labels);
  void RemoveNode(model::NodeIndex node);
  void Heartbeat(const nlohmann::json& step, nlohmann::json& out);
  /// An ask step without what its answer becomes.
  model::scheduler::Allocate CallOf(const nlohmann::json& step);
  void EndApp(int number);
  /// The containers granted to it and not yet fetched are fetched.
  void Acquire(int number);

  void Know(int number) { apps_.insert(number); }
  const std::set<int>& apps() const { return apps_; }
  model::AppIndex AppOf(int number);
  /// Of an application that AppOf was asked for before.
  model::AppIndex IndexOf(int number) const { return app_index_.at(number); }
  int NumberOf(model::AppIndex app) const;
  model::ApplicationAttemptId AttemptOf(int number) const { return {{timestamp_, number}, 1}; }
  model::ContainerId ContainerOf(const std::string& name) const;
  static std::string NameOf(const model::ContainerId& id);

 private:
  struct ReservedContainer {
    std::string name;
    nlohmann::json description;
  };
  nlohmann::json Describe(const model::scheduler::Granted& grant) const;
  void Record(nlohmann::json& out);
  void RecordReservations(nlohmann::json& out) const;

  int64_t timestamp_ = 0;
  int64_t now_ms_ = 0;
  bool auto_acquire_ = true;
  int index_ = 0;
  std::vector<model::scheduler::Effect> effects_;  // of the step
  std::map<int, model::AppIndex> app_index_;
  std::set<int> apps_;  // that the recorder still knows
  std::map<int, std::vector<model::ContainerId>> fresh_;
  std::map<std::string, model::NodeIndex> nodes_;
  std::vector<std::string> hosts_;                            // by node index
  std::map<std::string, ReservedContainer> reserved_;         // by host, now
  std::map<std::string, ReservedContainer> reserved_before_;  // at the start of the step
};

/// Plays all steps and compares each with its recording; `adjust` is applied to both sides first.
Difference PlayAll(HadoopPlayer& player, const nlohmann::json& scenario, const std::vector<nlohmann::json>& expected,
                   bool check_invariants, const std::function<void(nlohmann::json& step)>& adjust = nullptr);

}  // namespace fairlead::oracle
