#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/timer.h"
#include "process/ask/forecast.h"
#include "process/http/http.h"

namespace fairlead::process::rm {

/// Questions about the future take turns off the loop's thread: kAtOnce at a time, kWaiting more wait, kWaitingOfOne of
/// one user. The next is the first of the users of whose fewest are worked on. One forecast serves all who ask within
/// kFresh. Single-threaded.
class Questions {
 public:
  static constexpr size_t kAtOnce = 2;
  static constexpr size_t kWaiting = 16;
  static constexpr size_t kWaitingOfOne = 12;
  /// What is said when more than those wait, and of one that has taken kLongest: 503, and when to come back.
  static http::Response TooMany();
  static http::Response OutOfTime(const std::string& why);
  static constexpr base::Duration kFresh = base::Duration::Seconds(10);
  /// So long the memory of a copy is kept for the next question.
  static constexpr base::Duration kKeepPages = base::Duration::Seconds(60);

  /// Nobody waits for the answer any more, or it has taken kLongest: the work is to end. For any thread.
  using Ended = std::function<bool()>;
  static constexpr base::Duration kLongest = base::Duration::Seconds(30);

  /// Work to be done off the thread; it holds all that it reads.
  using Work = std::function<void()>;
  using Begin = std::function<Work(Ended)>;
  using Forecasts = std::shared_ptr<const ask::Forecast>;

  explicit Questions(env::Loop& loop) : loop_(loop), idle_(loop) {}
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  /// In its turn `begin` takes what the answer is made of and gives the work; then `done`. Both on the loop; neither
  /// runs when this ends before, nor when the `asker` has gone before its turn. False: too many wait.
  bool Ask(const std::string& user, std::weak_ptr<const void> asker, Begin begin, std::function<void()> done);
  /// `done` gets a forecast that is not older than `since` and kFresh, from `make` where there is none, which is told
  /// when it takes too long. False: too many wait.
  bool AskForecast(base::Instant since, const std::function<std::function<Forecasts()>(Ended)>& make,
                   std::function<void(const Forecasts&)> done);

 private:
  struct Turn {
    std::string user;
    std::weak_ptr<const void> asker;
    Begin begin;
    std::function<void()> done;
  };
  void Next();
  void Start(Turn turn);

  env::Loop& loop_;
  env::Timer idle_;
  std::deque<Turn> turns_;
  std::map<std::string, size_t> at_work_;   // by user
  std::map<uint64_t, env::Timer> longest_;  // of each that is at work
  uint64_t begun_ = 0;
  Forecasts forecast_;
  std::vector<std::function<void(const Forecasts&)>> for_forecast_;  // who waits for the one that is made
  env::Alive alive_;
};

}  // namespace fairlead::process::rm
