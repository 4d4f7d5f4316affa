#include "shell/nm/errands.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/codec.h"

namespace fairlead::shell {

namespace {

constexpr int64_t kGraceMs = 5000;  // beyond the errand's own deadline

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Errands::Errands(Helper& helper, Watchdog& watchdog, Options options)
    : helper_(helper), post_(watchdog.NewPost()), options_(options), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { Loop(); });
}

Errands::~Errands() {
  Stop();
  ::close(wake_);
}

void Errands::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  Wake();
  if (thread_.joinable()) thread_.join();
  running_.clear();
}

void Errands::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_, &one, sizeof one);
}

uint64_t Errands::Run(std::string lane, Order order, Errand errand, Done done) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = next_number_++;
    waiting_[lane].push_back({number, lane, std::move(order), std::move(errand), std::move(done)});
  }
  Wake();
  return number;
}

uint64_t Errands::RunOn(env::Loop& loop, std::string lane, Order order, Errand errand, Done done) {
  return Run(std::move(lane), std::move(order), std::move(errand),
             [&loop, done = std::move(done)](base::Result<std::string> result) {
               loop.Post([done, result = std::move(result)] { done(result); });
             });
}

void Errands::Cancel(uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(number);
  }
  Wake();
}

void Errands::Loop() {
  for (;;) {
    StartSome();
    std::vector<pollfd> fds{{wake_, POLLIN, 0}};
    int64_t next = INT64_MAX;
    for (const Running& running : running_) {
      const bool sending = !running.out.empty();
      fds.push_back({running.channel.get(), static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 0});
      next = std::min(next, running.deadline_ms);
    }
    const int64_t wait = next == INT64_MAX ? -1 : std::max<int64_t>(0, next - NowMs());
    ::poll(fds.data(), fds.size(), static_cast<int>(std::min<int64_t>(wait, 60'000)));
    const Watchdog::Stay stay(post_, "errands among users' files");
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(wake_, &count, sizeof count);
    std::vector<uint64_t> cancelled;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      cancelled.swap(cancelled_);
    }
    const int64_t now = NowMs();
    size_t kept = 0;
    for (size_t i = 0; i < running_.size(); ++i) {
      Running& running = running_[i];
      if (std::find(cancelled.begin(), cancelled.end(), running.number) != cancelled.end()) {
        Finish(running, base::Error{"it is no longer wanted", ECANCELED});
      } else if (Turn(running, fds[i + 1].revents, now)) {
        if (kept != i) running_[kept] = std::move(running);
        ++kept;
      }
    }
    running_.resize(kept);
    DropWaiting(cancelled);
  }
}

// Those that still wait for their turn.
void Errands::DropWaiting(const std::vector<uint64_t>& cancelled) {
  std::vector<Done> dropped;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [lane, jobs] : waiting_) {
      std::erase_if(jobs, [&](const Job& job) {
        if (std::find(cancelled.begin(), cancelled.end(), job.number) == cancelled.end()) return false;
        dropped.push_back(job.done);
        return true;
      });
    }
  }
  for (const Done& done : dropped) done(base::Error{"it is no longer wanted", ECANCELED});
}

// Lanes take turns, in the order of their names after the one that had the last.
void Errands::StartSome() {
  while (std::cmp_less(running_.size(), options_.total_max)) {
    Job job;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(waiting_, [](const auto& lane) { return lane.second.empty(); });
      const auto free = [this](const std::string& lane) {
        return std::count_if(running_.begin(), running_.end(), [&](const Running& r) { return r.lane == lane; }) <
               options_.lane_max;
      };
      auto at = waiting_.upper_bound(last_lane_);
      for (size_t looked = 0; looked < waiting_.size(); ++looked, ++at) {
        if (at == waiting_.end()) at = waiting_.begin();
        if (free(at->first)) break;
        if (looked + 1 == waiting_.size()) return;
      }
      if (waiting_.empty()) return;
      if (at == waiting_.end()) at = waiting_.begin();
      last_lane_ = at->first;
      job = std::move(at->second.front());
      at->second.erase(at->second.begin());
    }
    Start(std::move(job));
  }
}

void Errands::Start(Job job) {
  const Watchdog::Stay stay(post_, "the start of an errand among users' files");
  std::string bytes;
  base::Encode(bytes, job.errand);
  if (bytes.size() > kErrandBytesMax) return job.done(base::Error{"there is too much of it for one errand"});
  base::Result<Fd> channel = helper_.Errand(std::move(job.order));
  if (!channel) return job.done(channel.error());
  ::fcntl(channel->get(), F_SETFL, O_NONBLOCK);
  const int64_t deadline = NowMs() + SecondsOf(job.errand) * 1000 + kGraceMs;
  running_.push_back(
      {job.number, std::move(job.lane), std::move(job.done), std::move(*channel), ErrandFrame(bytes), {}, deadline});
}

bool Errands::Turn(Running& running, short events, int64_t now_ms) {
  if (now_ms >= running.deadline_ms) {
    Finish(running, base::Error{"it takes too long", ETIMEDOUT});
    return false;
  }
  if ((events & POLLOUT) != 0 && !running.out.empty()) {
    const ssize_t n = ::send(running.channel.get(), running.out.data(), running.out.size(), MSG_NOSIGNAL);
    if (n > 0) running.out.erase(0, static_cast<size_t>(n));
    if (n < 0 && errno != EAGAIN && errno != EINTR) running.out.clear();  // its answer, or its end, says why
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return true;
  char buffer[65536];
  const ssize_t n = ::recv(running.channel.get(), buffer, sizeof buffer, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n > 0) {
    running.in.append(buffer, static_cast<size_t>(n));
    const bool has_head = running.in.size() >= kErrandFrameHead;
    const uint64_t length = has_head ? ErrandFrameLength(running.in) : 0;
    if (length > options_.answer_bytes_max) {
      Finish(running, base::Error{"its answer is too long"});
      return false;
    }
    if (!has_head || running.in.size() - kErrandFrameHead < length) return true;
  }
  Finish(running, Answer(running));
  return false;
}

base::Result<std::string> Errands::Answer(const Running& running) {
  const bool whole =
      running.in.size() >= kErrandFrameHead && running.in.size() - kErrandFrameHead == ErrandFrameLength(running.in);
  if (!whole) return base::Error{"the process that did it was ended (time, memory, or a signal of its user)"};
  base::Budget budget(kErrandKind, running.in.size());
  base::ByteReader in(std::string_view(running.in).substr(kErrandFrameHead), budget);
  ErrandAnswer answer;
  base::Decode(in, answer);
  if (!in.done()) return base::Error{"the process that did it gave no sensible answer"};
  if (!answer.ok) return base::Error{answer.text, answer.code};
  return std::move(answer.text);
}

void Errands::Finish(Running& running, base::Result<std::string> result) {
  running.channel = Fd();
  std::exchange(running.done, nullptr)(std::move(result));
}

}  // namespace fairlead::shell
