#include "process/rm/machine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/state.h"

namespace fairlead::process::rm {

namespace {
/// More turns than this inside one step mean that the two cores quarrel for ever.
constexpr int kTurnsMax = 100'000;
}  // namespace

ResourceMachine::ResourceMachine(fairlead::rm::Config config, std::unique_ptr<scheduler::Scheduler> scheduler)
    : core_(std::move(config)), scheduler_(std::move(scheduler)) {}

ResourceMachine::ResourceMachine(const ResourceMachine& other)
    : core_(other.core_), scheduler_(other.scheduler_->Fork()) {}

std::unique_ptr<ResourceMachine> ResourceMachine::Fork() const {
  return std::unique_ptr<ResourceMachine>(new ResourceMachine(*this));
}

void ResourceMachine::Step(base::Instant now, base::WallTime wall, std::span<const model::rm::OuterEvent> events,
                           std::vector<model::rm::OuterEffect>& out) {
  to_scheduler_.clear();
  core_.StepOuter(now, wall, events, {out, to_scheduler_});
  for (int turn = 0; turn == 0 || !to_scheduler_.empty(); ++turn) {
    FL_CHECK(turn < kTurnsMax, "rm and scheduler do not come to an end");
    if (to_scheduler_.empty() && scheduler_->NextDeadline() > now) break;
    from_scheduler_.clear();
    scheduler_->Step(now, to_scheduler_, from_scheduler_);
    if (watch_ && !from_scheduler_.empty()) watch_(wall, from_scheduler_);
    next_.clear();
    core_.StepScheduler(now, wall, from_scheduler_, {out, next_});
    std::swap(to_scheduler_, next_);
  }
  core_.EndStep(now, wall, {out, to_scheduler_});
}

base::Instant ResourceMachine::NextDeadline() const {
  return std::min(core_.NextDeadline(), scheduler_->NextDeadline());
}

std::string ResourceMachine::CheckInvariants() const {
  const std::string own = core_.CheckInvariants();
  return own.empty() ? scheduler_->CheckInvariants() : own;
}

uint64_t ResourceMachine::StateHash() const {
  base::StateHasher hasher;
  hasher.Mix(core_.StateHash());
  hasher.Mix(scheduler_->StateHash());
  return hasher.value();
}

std::string ResourceMachine::State() const {
  std::string out;
  base::WriteState(out, core_.State());
  base::WriteState(out, scheduler_->State());
  return out;
}

bool ResourceMachine::ReadState(std::string_view bytes) {
  base::Budget budget(base::kStateKind, bytes.size());
  base::ByteReader in(bytes, budget);
  std::string core, scheduler;
  base::ReadState(in, core);
  base::ReadState(in, scheduler);
  return in.done() && core_.ReadState(core) && scheduler_->ReadState(scheduler);
}

}  // namespace fairlead::process::rm
