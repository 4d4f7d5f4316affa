#include "sim/traces/both.h"

#include <utility>

namespace fairlead::sim {

namespace {
/// Handed over together, so that the two threads seldom meet.
constexpr size_t kEventsPerLog = 1024;
/// How far the scheduler may run ahead; bounds the memory.
constexpr size_t kLogsAhead = 64;
}  // namespace

BothTarget::BothTarget(scheduler::Scheduler& scheduler)
    : leader_(scheduler), log_(std::make_unique<StepLog>()), thread_([this] { Follow(); }) {
  leader_.LogTo(log_.get());
}

BothTarget::~BothTarget() { Finish(); }

void BothTarget::Step(base::Instant now, std::vector<model::scheduler::Event>& events, scheduler::EffectSink& out) {
  leader_.Step(now, events, out);
  if (log_->events.size() + log_->steps.size() >= kEventsPerLog) HandOver();
}

void BothTarget::HandOver() {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [this] { return full_.size() < kLogsAhead; });
  full_.push_back(std::move(log_));
  if (empty_.empty()) {
    log_ = std::make_unique<StepLog>();
  } else {
    log_ = std::move(empty_.back());
    empty_.pop_back();
  }
  leader_.LogTo(log_.get());
  moved_.notify_one();
}

std::string BothTarget::Finish() {
  if (thread_.joinable()) {
    HandOver();
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    moved_.notify_one();
    thread_.join();
  }
  return follower_.problem();
}

void BothTarget::Follow() {
  std::unique_lock lock(mutex_);
  while (true) {
    moved_.wait(lock, [this] { return ended_ || !full_.empty(); });
    if (full_.empty()) return;
    std::unique_ptr<StepLog> log = std::move(full_.front());
    lock.unlock();
    follower_.Follow(*log);
    log->Clear();
    lock.lock();
    full_.pop_front();
    empty_.push_back(std::move(log));
    moved_.notify_one();
  }
}

}  // namespace fairlead::sim
