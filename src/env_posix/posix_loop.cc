#include "env_posix/posix_loop.h"

#include <sys/random.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "base/check.h"
#include "env_posix/idle_polling.h"
#include "env_posix/processes_internal.h"
#include "env_posix/sockets_internal.h"

namespace fairlead::env_posix {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr int kOffloadThreads = 4;
/// While timers wait the loop turns at least this often, so that a longer time between two turns is a time in which
/// this process did not run: stopped, waiting for a disk, or on a suspended machine.
constexpr int64_t kPulse = 1'000'000'000;
constexpr int64_t kLateTurn = 2 * kPulse;
/// How long the clock still stands after that, so that what peers have sent meanwhile is read before a timer says that
/// they sent nothing.
constexpr int64_t kCatchUp = 1'000'000'000;
/// How often it is said at most that connections are not accepted.
constexpr int64_t kCrowdTold = 600'000'000'000;

class AsioLoop final : public PosixLoop, private SocketHost {
 public:
  explicit AsioLoop(WhenIdle idle)
      : SocketHost(context_), context_(1), work_(asio::make_work_guard(context_)), wakeup_(context_), idle_(idle) {
    BeginTurn();
  }

  ~AsioLoop() override {
    if (pool_) pool_->join();
    context_.stop();
  }

  base::Instant Now() const override { return now_; }
  base::Instant ReadClock() const override { return {Nanos() - left_out_}; }

  base::WallTime Wall() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
  }

  TimerId At(base::Instant when, Callback callback) override {
    const TimerId id = ++last_timer_;
    timers_.emplace(std::pair(when, id), std::move(callback));
    due_.emplace(id, when);
    ArmWakeup();
    return id;
  }

  void Cancel(TimerId timer) override {
    const auto found = due_.find(timer);
    if (found == due_.end()) return;
    timers_.erase({found->second, timer});
    due_.erase(found);
  }

  void Post(Callback callback) override {
    asio::post(context_, [this, callback = std::move(callback)] {
      BeginTurn();
      callback();
    });
  }

  void Offload(Callback work, Callback done) override {
    if (!pool_) pool_.emplace(kOffloadThreads);
    asio::post(*pool_, [this, guard = asio::make_work_guard(context_), work = std::move(work),
                        done = std::move(done)]() mutable {
      work();
      Post(std::move(done));
    });
  }

  void RandomBytes(std::span<uint8_t> bytes) override {
    size_t filled = 0;
    while (filled < bytes.size()) {
      const ssize_t n = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
      FL_CHECK(n > 0, "getrandom failed");
      filled += static_cast<size_t>(n);
    }
  }

  base::Result<std::unique_ptr<env::Listener>> Listen(const env::Endpoint& endpoint, AcceptHandler on_accept,
                                                      CrowdHandler on_crowded) override {
    return ListenOn(*this, endpoint, std::move(on_accept), std::move(on_crowded));
  }

  void Adopt(std::unique_ptr<env::Stream> stream, AcceptHandler on_accept) override {
    AdoptStream(*this, std::move(stream), std::move(on_accept));
  }

  void Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) override {
    ConnectTo(*this, endpoint, timeout, std::move(done));
  }

  base::Result<std::unique_ptr<env::Listener>> ListenLocal(const std::string& name,
                                                           LocalAcceptHandler on_accept) override {
    return ListenOnName(*this, name, std::move(on_accept));
  }

  void ConnectLocal(const std::string& name, LocalConnectHandler done) override {
    ConnectToName(*this, name, std::move(done));
  }

  base::Result<int64_t> Spawn(const env::SpawnRequest& request, ExitHandler on_exit) override {
    return SpawnProcess(*this, request, std::move(on_exit));
  }

  void Watch(int64_t pid, uint64_t start_ticks, std::function<void()> on_gone) override {
    WatchProcess(*this, pid, start_ticks, std::move(on_gone));
  }

  base::Status Signal(int64_t pid, int signal) override { return SignalProcess(pid, signal); }

  void Run() override {
    context_.restart();
    IdlePolling polling;
    BeginTurn();
    int64_t turn_begin = turn_;
    while (!context_.stopped()) {
      context_.poll();
      const int64_t idle_begin = Nanos();
      if (idle_ == WhenIdle::kPollFirst && polling.Worthwhile(idle_begin - turn_begin)) {
        if (PollUntil(idle_begin + IdlePolling::kWindow)) {
          polling.Hit();
          turn_begin = turn_;
          continue;
        }
        polling.Miss();
      }
      context_.run_one();
      polling.Slept(turn_ - idle_begin);
      turn_begin = turn_;
    }
  }

  void Stop() override { context_.stop(); }

  void OnCrowded(std::function<void(const std::string& reason)> tell) override { tell_crowded_ = std::move(tell); }

  void NoteCrowd(const std::string& reason) override {
    if (!tell_crowded_ || turn_ < crowd_told_ + kCrowdTold) return;
    crowd_told_ = turn_;
    tell_crowded_("no connection is accepted for want of open files (" + reason + " at a limit of " +
                  std::to_string(OpenFilesLimit()) + "); silent ones are closed; raise LimitNOFILE or ulimit -n");
  }

  void OnSignal(int signal, Callback callback) override {
    auto set = std::make_shared<asio::signal_set>(context_, signal);
    WaitSignal(std::move(set), std::move(callback));
  }

  /// The clock of the loop leaves out what did not count: the time before a late turn and the catching up after it.
  void BeginTurn() override {
    const int64_t last = std::exchange(turn_, Nanos());
    const bool pulsed = armed_for_ != base::Instant::Max();
    if (pulsed && turn_ - last > kLateTurn) caught_up_ = turn_ + kCatchUp;
    if (last < caught_up_) left_out_ += std::min(turn_, caught_up_) - last;
    now_ = {turn_ - left_out_};
  }

 private:
  static int64_t Nanos() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }

  bool PollUntil(int64_t end) {
    while (context_.poll() == 0) {
      if (Nanos() >= end || context_.stopped()) return false;
      std::this_thread::yield();  // what is waited for may have to run on this very core
    }
    return true;
  }

  void WaitSignal(std::shared_ptr<asio::signal_set> set, Callback callback) {
    asio::signal_set& waiting = *set;
    waiting.async_wait([this, set = std::move(set), callback = std::move(callback)](error_code error, int) {
      if (error) return;
      BeginTurn();
      callback();
      WaitSignal(set, callback);
    });
  }

  void ArmWakeup() {
    if (timers_.empty()) return;
    const base::Instant first = timers_.begin()->first.first;
    if (first >= armed_for_) return;
    armed_for_ = first;
    const int64_t due = std::max(first.ns + left_out_, caught_up_);
    wakeup_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(std::min(due, turn_ + kPulse))));
    wakeup_.async_wait([this](error_code error) {
      if (error) return;  // armed again for an earlier time
      BeginTurn();
      armed_for_ = base::Instant::Max();
      RunDueTimers();
      ArmWakeup();
    });
  }

  void RunDueTimers() {
    const base::Instant turn = now_;
    while (!timers_.empty() && timers_.begin()->first.first <= turn) {
      const auto node = timers_.extract(timers_.begin());
      due_.erase(node.key().second);
      BeginTurn();
      node.mapped()();
    }
  }

  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer wakeup_;
  const WhenIdle idle_;
  std::optional<asio::thread_pool> pool_;  // from the first Offload on: short-lived loops have none
  int64_t turn_ = Nanos();                 // when the current turn began, by the machine's clock
  int64_t left_out_ = 0;                   // how far that is ahead of now_
  int64_t caught_up_ = turn_;
  std::function<void(const std::string&)> tell_crowded_;
  int64_t crowd_told_ = -kCrowdTold;
  base::Instant now_;
  base::Instant armed_for_ = base::Instant::Max();
  TimerId last_timer_ = 0;
  std::map<std::pair<base::Instant, TimerId>, Callback> timers_;
  std::map<TimerId, base::Instant> due_;
};

}  // namespace

/// A quarter of the open files is left for files; the limit is raised before it is read.
SocketHost::SocketHost(asio::io_context& io) : context(io) {
  RaiseOpenFilesLimit();
  sockets_max = OpenFilesLimit() / 4 * 3;
}

std::unique_ptr<PosixLoop> MakePosixLoop(WhenIdle idle) { return std::make_unique<AsioLoop>(idle); }

}  // namespace fairlead::env_posix
