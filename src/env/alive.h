#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace fairlead::env {

/// Ends callbacks with their owner. An object that gives callbacks away keeps one as its last member (so that it goes
/// first), and wraps each callback in it: once the owner is gone, the wrapped one does nothing. For one thread: owner
/// and callbacks live on the same loop.
class Alive {
 public:
  /// Tells whether the owner is still there; for code that goes on after a call that may have ended it.
  class Watch {
   public:
    explicit operator bool() const { return !life_.expired(); }

   private:
    friend class Alive;
    explicit Watch(std::weak_ptr<const char> life) : life_(std::move(life)) {}

    std::weak_ptr<const char> life_;
  };

  Alive() = default;
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;

  Watch watch() const { return Watch(life_); }

  /// `callback` as long as the owner lives, nothing after. What the callback returns is dropped.
  template <class Callback>
  auto operator()(Callback callback) const {
    return Guarded<Callback>{watch(), std::move(callback)};
  }

  /// Before the owner's end: what was wrapped so far does nothing from now on.
  void End() { life_.reset(); }

 private:
  template <class Callback>
  struct Guarded {
    Watch owner;
    Callback callback;

    template <class... Args>
      requires std::invocable<Callback&, Args...>
    void operator()(Args&&... args) {
      if (owner) callback(std::forward<Args>(args)...);
    }
  };

  std::shared_ptr<const char> life_ = std::make_shared<const char>();
};

}  // namespace fairlead::env
