#include "process/rm/batches.h"

#include <algorithm>

#include "base/freed_pages.h"
#include "endpoints/yarn/refusals.h"

namespace fairlead::process::rm {

namespace m = model::rm;

namespace {
constexpr base::Duration kStoreRetry = base::Duration::Seconds(1);
constexpr char kProbeTable[] = "rm/probe";
}  // namespace

Batches::Batches(env::Loop& loop, env::Store* store, bool recovery, ResourceMachine& machine, Outside outside)
    : loop_(loop), store_(store), recovery_(recovery), machine_(machine), outside_(std::move(outside)) {}

void Batches::Post(m::OuterEvent event) {
  inbox_.push_back(std::move(event));
  if (drain_posted_ || draining_) return;
  drain_posted_ = true;
  loop_.Post(alive_([this] { Drain(); }));
}

static bool IsLarge(const m::OuterEvent& event) {
  const auto* submit = std::get_if<m::Submit>(&event);
  return submit != nullptr && submit->submission.context.size() > kLargeSubmission;
}

// Steps until the inbox is empty: what arrived in one turn of the loop is one batch.
void Batches::Drain() {
  drain_posted_ = false;
  if (draining_ || held_ || !MayAct()) return;
  draining_ = true;
  // A process that was stopped in the middle of a step tells nobody what it has decided before it has asked.
  for (bool first = true; MayAct(); first = false) {
    DispatchAll();
    if (!first && inbox_.empty()) break;
    std::swap(batch_, inbox_);
    const base::Instant now = loop_.Now();
    const base::WallTime wall = loop_.Wall();
    const base::Instant began = loop_.ReadClock();
    machine_.Step(now, wall, batch_, effects_);
    counts_.step.Add(loop_.ReadClock() - began);
    counts_.events += batch_.size();
    ++counts_.batches;
    if (outside_.on_batch) outside_.on_batch({now, wall, batch_, effects_, machine_});
    // A submission's megabytes are not needed while the store's thread takes as many.
    const bool large = std::any_of(batch_.begin(), batch_.end(), IsLarge);
    batch_.clear();
    if (large) base::GiveBackFreedPages();
  }
  draining_ = false;
  ArmTimer();
}

void Batches::DispatchAll() {
  std::vector<m::OuterEffect> effects = std::move(effects_);
  for (m::OuterEffect& effect : effects) Dispatch(effect);
  effects.clear();
  effects_ = std::move(effects);
}

void Batches::ArmTimer() {
  const base::Instant deadline = machine_.NextDeadline();
  if (deadline == timer_.due()) return;
  timer_.At(deadline, [this] {
    if (inbox_.empty()) inbox_.emplace_back(m::Tick{});
    Drain();
  });
}

void Batches::Answered(m::CallToken call, const m::OuterEffect& effect) {
  const auto it = answers_.find(call);
  if (it == answers_.end()) return;
  const Answer answer = std::move(it->second);
  answers_.erase(it);
  answer(effect);
}

void Batches::Dispatch(m::OuterEffect& effect) {
  std::visit(
      [&](auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, m::Persist>) {
          Commit(std::move(e));
        } else if constexpr (std::is_same_v<E, m::LaunchMaster> || std::is_same_v<E, m::StopContainers> ||
                             std::is_same_v<E, m::StateChanged>) {
          outside_.carry_out(effect);
        } else {
          if constexpr (std::is_same_v<E, m::AllocateAnswer>) counts_.granted += e.granted.size();
          Answered(e.call, effect);
        }
      },
      effect);
}

void Batches::Commit(m::Persist persist) {
  if (!store_ || !recovery_) {
    Post(m::Persisted{persist.txn, true, ""});
    return;
  }
  std::vector<env::Row> rows;
  for (m::StoreRow& row : persist.rows) {
    std::optional<std::string> value;
    if (!row.remove) value = std::move(row.value);
    rows.push_back({std::move(row.table), std::move(row.key), std::move(value)});
  }
  store_->Commit(std::move(rows),
                 alive_([this, txn = persist.txn, began = loop_.ReadClock()](const env::CommitStatus& status) {
                   counts_.commit.Add(loop_.ReadClock() - began);
                   if (!NoteCommit(status)) return;
                   if (status.ok()) return Post(m::Persisted{txn, true, ""});
                   outside_.warn("The state store refused a change: " + status.error().message);
                   Post(m::Persisted{txn, false, status.error().message});
                 }));
}

bool Batches::NoteCommit(const env::CommitStatus& status) {
  store_error_ = status.ok() ? "" : status.error().message;
  if (status.ok()) return true;
  ++counts_.store_errors;
  if (status.error().kind != env::CommitFailure::kRefused) {
    StoreLost(status.error());
    return false;
  }
  ProbeLater();
  return true;
}

// What is refused is told to who asked, and perhaps nobody asks again.
void Batches::ProbeLater() {
  if (std::exchange(probing_, true)) return;
  loop_.After(kStoreRetry, alive_([this] {
                probing_ = false;
                if (store_error_.empty()) return;
                store_->Commit({{kProbeTable, "written", std::to_string(loop_.Wall().ms)}},
                               alive_([this](const env::CommitStatus& status) { NoteCommit(status); }));
              }));
}

// What was asked is not answered: nobody knows, or another resource manager does.
void Batches::StoreLost(const env::CommitError& error) {
  held_ = true;
  const bool fenced = error.kind == env::CommitFailure::kFenced;
  const std::string why =
      (fenced ? "Another resource manager owns the state store now: " : "The state store is gone: ") + error.message;
  outside_.warn(why + ". No more decisions are made.");
  if (outside_.on_store_lost) std::exchange(outside_.on_store_lost, nullptr)(why);
}

void Batches::StoreForCertain(std::vector<env::Row> rows, std::function<void()> stored) {
  if (!store_) {
    loop_.Post(alive_([stored = std::move(stored)] { stored(); }));
    return;
  }
  store_->Commit(rows, alive_([this, rows, stored = std::move(stored)](const env::CommitStatus& status) {
                   if (!NoteCommit(status)) return;
                   if (status.ok()) return stored();
                   outside_.warn("The state store refused a change, which is tried again: " + status.error().message);
                   loop_.After(kStoreRetry, alive_([this, rows, stored] { StoreForCertain(rows, stored); }));
                 }));
}

void Batches::HoldUntilStored(std::vector<env::Row> rows) {
  held_ = true;
  StoreForCertain(std::move(rows), [this] {
    held_ = false;
    Drain();
  });
}

std::optional<endpoints::yarn::RemoteException> RefusalOf(const m::OuterEffect& effect) {
  const auto* refused = std::get_if<m::CallRefused>(&effect);
  if (!refused) return std::nullopt;
  return endpoints::yarn::ExceptionOf(refused->refused);
}

}  // namespace fairlead::process::rm
