#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace fairlead::shell {

/// Knows where each of the agent's threads is, so that one that hangs (a disk or mount that does not answer) makes the
/// node unhealthy, with the place in the report, instead of leaving it silently useless.
class Watchdog {
 public:
  /// One thread's place. `what` must live for ever (a literal).
  class Post {
   public:
    void Enter(const char* what) {
      since_ms_ = NowMs();
      what_ = what;
    }
    void Leave() { what_ = nullptr; }

   private:
    friend class Watchdog;
    std::atomic<const char*> what_ = nullptr;
    std::atomic<int64_t> since_ms_ = 0;
  };
  /// Enters a place for as long as it lives.
  class Stay {
   public:
    Stay(Post& post, const char* what) : post_(post) { post_.Enter(what); }
    ~Stay() { post_.Leave(); }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

   private:
    Post& post_;
  };

  explicit Watchdog(int64_t limit_ms = 60'000) : limit_ms_(limit_ms) {}
  /// A place for one more thread; lives as long as this object.
  Post& NewPost() {
    const std::lock_guard lock(mutex_);
    return posts_.emplace_back();
  }
  /// "" or which threads hang where, for how long.
  std::string Report() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const Post& post : posts_) {
      const char* what = post.what_;
      const int64_t waited = NowMs() - post.since_ms_;
      if (!what || waited < limit_ms_) continue;
      text += (text.empty() ? "" : "; ") + std::string(what) + " hangs for " + std::to_string(waited / 1000) + " s";
    }
    return text;
  }

 private:
  static int64_t NowMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  const int64_t limit_ms_;
  mutable std::mutex mutex_;
  std::deque<Post> posts_;
};

}  // namespace fairlead::shell
