#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "base/time.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/timer.h"

namespace fairlead::process::rm {

/// Answers as long as the list of applications, of one port: made off the loop's thread, one after the other, the next
/// when what earlier ones left to be sent is little. So many readers at once take turns, where the port's bound on
/// memory would close them. Those who take nothing hold the others up for kPatience, once: then answers are made
/// without waiting, and the port closes who has moved least, until little is left. Single-threaded.
class LargeAnswers {
 public:
  static constexpr size_t kUnsentHigh = size_t{8} << 20;
  static constexpr base::Duration kPatience = base::Duration::Seconds(2);

  /// Work to be done off the thread; it holds all that it reads.
  using Work = std::function<void()>;

  /// `unsent`: bytes that the port's peers hold now.
  LargeAnswers(env::Loop& loop, std::function<size_t()> unsent) : loop_(loop), unsent_(std::move(unsent)) {}
  ~LargeAnswers();
  LargeAnswers(const LargeAnswers&) = delete;
  LargeAnswers& operator=(const LargeAnswers&) = delete;

  /// In its turn `begin` reads what the answer is made of and gives the work; then `send`. Both on the loop; neither
  /// runs when this ends before. A turn whose `asker` has gone is passed over.
  void Add(std::weak_ptr<const void> asker, std::function<Work()> begin, std::function<void()> send);

 private:
  struct Turn {
    std::weak_ptr<const void> asker;
    std::function<Work()> begin;
    std::function<void()> send;
  };
  bool MustWait();
  void Next();

  env::Loop& loop_;
  std::function<size_t()> unsent_;
  std::deque<Turn> turns_;
  bool making_ = false;
  bool waits_no_more_ = false;  // patience is at its end
  base::Instant made_;          // when the last one was
  env::Timer timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::rm
