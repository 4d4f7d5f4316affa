#include "rm/context.h"

namespace fairlead::rm {

void Context::BeginStep(base::Instant now, base::WallTime wall, Sink* sink) {
  now_ = now;
  wall_ = wall;
  sink_ = sink;
}

void Context::BeginRun(int64_t cluster_timestamp, int32_t epoch) {
  cluster_timestamp_ = cluster_timestamp;
  epoch_ = epoch;
  started_at_ = now_;
}

Asked& Context::Awaited(uint64_t token) {
  const auto it = asked_.find(token);
  FL_CHECK(it != asked_.end(), "the scheduler answers what nobody asked");
  return it->second;
}

Asked Context::TakeAsked(uint64_t token) {
  auto taken = asked_.extract(token);
  FL_CHECK(!taken.empty(), "the scheduler answers what nobody asked");
  return std::move(taken.mapped());
}

void Context::Store(std::vector<model::rm::StoreRow> rows, Continuation continuation) {
  const uint64_t txn = ++last_txn_;
  waiting_[txn] = std::move(continuation);
  Emit(model::rm::Persist{txn, std::move(rows)});
}

void Context::StoreAndAnswer(model::rm::StoreRow row, model::rm::OuterEffect answer) {
  Continuation continuation;
  continuation.after = Continuation::After::kAnswer;
  continuation.answers.push_back(std::move(answer));
  Store({std::move(row)}, std::move(continuation));
}

std::optional<Continuation> Context::TakeContinuation(uint64_t txn) {
  auto taken = waiting_.extract(txn);
  if (taken.empty()) return std::nullopt;
  return std::move(taken.mapped());
}

std::optional<Timer> Context::TakeDue() {
  if (timers_.empty() || timers_.begin()->when > now_) return std::nullopt;
  return timers_.extract(timers_.begin()).value();
}

void Context::Mix(base::StateHasher& hasher) const {
  for (const Timer& timer : timers_) {
    hasher.Mix(static_cast<uint64_t>(timer.when.ns));
    hasher.Mix(static_cast<uint64_t>(timer.kind) << 32 | timer.index);
    hasher.Mix(static_cast<uint64_t>(timer.attempt));
  }
  for (const auto& [txn, continuation] : waiting_) {
    hasher.Mix(txn);
    hasher.Mix(static_cast<uint64_t>(continuation.after) << 32 | continuation.app.value);
    hasher.Mix(static_cast<uint64_t>(continuation.attempt));
  }
  hasher.Mix(last_txn_);
  hasher.Mix(static_cast<uint64_t>(cluster_timestamp_));
  hasher.Mix(static_cast<uint64_t>(epoch_));
}

}  // namespace fairlead::rm
