#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "env/store.h"

namespace fairlead::env {

/// Chooses one of several processes as the leader, again and again, and gives it the store that they share. Two never
/// act at one time: a leader's right to act ends by its own clock before another can be chosen, and its store refuses
/// (CommitFailure::kFenced) once another was.
class Elector {
 public:
  struct Listener {
    /// This process leads. The store belongs to this leadership; its rows have been read, so Load does not wait.
    std::function<void(std::unique_ptr<Store>)> elected;
    /// It leads no more. The store of the leadership must not be used after this call.
    std::function<void(const std::string& why)> deposed;
    /// MayAct() is true again within one leadership: it had run out, and the question went well.
    std::function<void()> confirmed;
    /// This process cannot take part; nothing more is called. For a person: what, why, what to do.
    std::function<void(const base::Error& why)> refused;
    /// Worth a line in the log.
    std::function<void(const std::string& what)> notice;
    /// The same, and somebody should see to it.
    std::function<void(const std::string& what)> warning;
  };

  virtual ~Elector() = default;

  /// Begins to compete. Every call of the listener runs on the loop, never from inside a call of this class.
  virtual void Start(Listener listener) = 0;

  /// Whether this process may act as the leader now. Reads a clock that counts time in which the process did not run:
  /// one that was stopped finds out here before it does anything. Cheap; to be asked before every decision.
  virtual bool MayAct() const = 0;

  /// The member that leads, as far as this one has heard; none when nobody does or it is not known.
  virtual std::optional<std::string> Leader() const = 0;

  /// A row of the store as a process that does not lead saw it last, maybe seconds ago; nothing where there is none or
  /// none is known. For what a process has to know while another leads; the leader's Store knows better.
  virtual std::optional<std::string> Seen(const std::string& /*table*/, const std::string& /*key*/) const { return {}; }

  /// How long a leader that died without a word still leads; 0: not known yet.
  virtual base::Duration SessionTime() const { return {}; }

  /// Gives the leadership up (deposed is called) and lets the others go first; competes again when one of them leads,
  /// or none wanted to.
  virtual void Yield() = 0;
};

}  // namespace fairlead::env
