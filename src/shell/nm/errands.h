#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "env/loop.h"
#include "shell/nm/errand.h"
#include "shell/nm/helper.h"
#include "shell/nm/watchdog.h"

namespace fairlead::shell {

/// Errands under way, each in a process of its own (errand.h). Nobody's errands wait for another's: each lane (a kind
/// of work for one user) has some processes, lanes get theirs in turn, and an errand that takes too long is ended. One
/// thread.
class Errands {
 public:
  struct Options {
    int lane_max = 4;  // processes of one lane
    int total_max = 64;
    size_t answer_bytes_max = size_t{80} << 20;
  };
  using Done = std::function<void(base::Result<std::string>)>;

  Errands(Helper& helper, Watchdog& watchdog, Options options);
  ~Errands();
  /// Ends what is under way, without waiting for it; nothing is started or told after this.
  void Stop();
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  /// `done` runs once, on this object's thread, unless the object is destroyed before. Gives a number for Cancel.
  uint64_t Run(std::string lane, Order order, Errand errand, Done done);
  /// As Run, but `done` runs on the loop.
  uint64_t RunOn(env::Loop& loop, std::string lane, Order order, Errand errand, Done done);
  /// Ends it, or takes it out of the queue; `done` hears of an error.
  void Cancel(uint64_t number);
  bool switches_user() const { return helper_.policy().switch_user; }

 private:
  struct Job {
    uint64_t number = 0;
    std::string lane;
    Order order;
    Errand errand;
    Done done;
  };
  struct Running {
    uint64_t number = 0;
    std::string lane;
    Done done;
    Fd channel;
    std::string out;  // not yet sent
    std::string in;
    int64_t deadline_ms = 0;
  };

  void Loop();
  void Wake();
  void StartSome();
  void DropWaiting(const std::vector<uint64_t>& cancelled);
  void Start(Job job);
  /// False when it is over.
  bool Turn(Running& running, short events, int64_t now_ms);
  static void Finish(Running& running, base::Result<std::string> result);
  static base::Result<std::string> Answer(const Running& running);

  Helper& helper_;
  Watchdog::Post& post_;
  const Options options_;
  std::mutex mutex_;
  uint64_t next_number_ = 1;                         // under mutex_, as the next three
  std::map<std::string, std::vector<Job>> waiting_;  // by lane, oldest first
  std::vector<uint64_t> cancelled_;
  bool stop_ = false;
  std::string last_lane_;         // of the thread: whose turn it was
  std::vector<Running> running_;  // of the thread
  int wake_ = -1;
  std::thread thread_;
};

}  // namespace fairlead::shell
