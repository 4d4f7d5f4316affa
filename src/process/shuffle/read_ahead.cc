#include "process/shuffle/read_ahead.h"

#include <utility>

namespace fairlead::process::shuffle {

/// With several disks one read at a time: a loop has few threads for work off it, and no disk may take them all.
ReadAhead::ReadAhead(env::Loop& loop, size_t disks, base::Duration silence_max)
    : loop_(loop), silence_max_(silence_max), at_once_(disks > 1 ? 1 : 2), disks_(disks) {}

ReadAhead::~ReadAhead() = default;

void ReadAhead::Read(uint32_t disk, Place place, Work work, Done done) {
  Disk& queue = disks_[disk];
  std::vector<Done> waiters;
  if (done) waiters.push_back(std::move(done));
  if (queue.silent) return Fail(waiters);
  if (const auto running = queue.running.find(place); running != queue.running.end()) {
    for (Done& waiter : waiters) running->second.waiters.push_back(std::move(waiter));
    return;
  }
  const auto [waiting, added] = queue.waiting.try_emplace(std::move(place));
  if (added) waiting->second.work = std::move(work);
  for (Done& waiter : waiters) waiting->second.waiters.push_back(std::move(waiter));
  Start(disk);
}

void ReadAhead::Start(uint32_t disk) {
  Disk& queue = disks_[disk];
  while (queue.running.size() < at_once_ && !queue.waiting.empty()) {
    auto next = queue.waiting.upper_bound(queue.last);
    if (next == queue.waiting.end()) next = queue.waiting.begin();
    queue.last = next->first;
    const auto running = queue.running.insert(queue.waiting.extract(next)).position;
    running->second.begun = loop_.Now();
    ++counters_.reads;
    loop_.Offload(std::move(running->second.work), [this, alive = alive_.watch(), disk, place = running->first] {
      if (alive) Finish(disk, place);
    });
  }
}

void ReadAhead::Finish(uint32_t disk, const Place& place) {
  Disk& queue = disks_[disk];
  const auto running = queue.running.extract(place);
  queue.silent = false;
  Start(disk);
  for (const Done& done : running.mapped().waiters) done(true);
}

std::vector<uint32_t> ReadAhead::FindSilent() {
  std::vector<uint32_t> found;
  for (uint32_t disk = 0; disk < disks_.size(); ++disk) {
    Disk& queue = disks_[disk];
    if (queue.silent) continue;
    for (const auto& [place, job] : queue.running) queue.silent |= loop_.Now() - job.begun >= silence_max_;
    if (!queue.silent) continue;
    found.push_back(disk);
    for (auto* jobs : {&queue.running, &queue.waiting}) {
      for (auto& [place, job] : *jobs) Fail(job.waiters);
    }
    queue.waiting.clear();
  }
  return found;
}

void ReadAhead::Fail(std::vector<Done>& waiters) {
  counters_.unanswered += waiters.size();
  for (Done& done : std::exchange(waiters, {})) {
    loop_.Post([done = std::move(done), alive = alive_.watch()] {
      if (alive) done(false);
    });
  }
}

ReadAhead::Counters ReadAhead::counters() const {
  Counters out = counters_;
  for (const Disk& queue : disks_) out.waiting += queue.waiting.size() + queue.running.size();
  return out;
}

}  // namespace fairlead::process::shuffle
