#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/rm/lately.h"
#include "process/rm/machine.h"
#include "shell/rm/journal.h"
#include "shell/rm/segments.h"
#include "shell/rm/settings.h"

namespace fairlead::shell {

/// The header of a resource manager's journal: everything that its machine is made from.
JournalHeader RmJournalHeader(const config::HadoopConf& conf, const RmSettings& settings);
/// Makes of it the one of a segment that goes on from the machine as it is now: once, on any thread. Cost now: a copy
/// of the machine.
std::function<JournalHeader()> NextHeader(JournalHeader header, const process::rm::ResourceMachine& machine);

/// The hash of a batch's effects that the journal keeps.
uint64_t EffectHash(const std::vector<model::rm::OuterEffect>& effects);
/// JournalBatch::events.
std::string EncodeEvents(const std::vector<model::rm::OuterEvent>& events);

/// A resource manager's machine on its way through a journal again.
class RmReplay {
 public:
  /// Sees what the scheduler decided, before the rm core works on it.
  using Decided = std::function<void(const RmReplay&, base::WallTime, std::span<const model::scheduler::Effect>)>;
  /// In the state that the file begins with. Error: another release, or another daemon, wrote it.
  static base::Result<std::unique_ptr<RmReplay>> Begin(const JournalHeader& header, Decided decided = {});

  /// Error: its events cannot be read, or the first ones of a manager are not there.
  base::Status Take(const JournalBatch& batch);

  /// Null before the first batch of a journal that begins with a start.
  const process::rm::ResourceMachine* machine() const { return machine_.get(); }
  const RmSettings& settings() const { return settings_; }
  /// The keys that the journal has.
  const config::HadoopConf& conf() const { return conf_; }
  // Of the last batch.
  base::Instant now() const { return now_; }
  base::WallTime wall() const { return wall_; }
  const std::vector<model::rm::OuterEvent>& events() const { return events_; }
  const std::vector<model::rm::OuterEffect>& effects() const { return effects_; }
  /// It had the effects that the journal has of it.
  bool same() const { return same_; }

 private:
  RmReplay(RmSettings settings, config::HadoopConf conf) : settings_(std::move(settings)), conf_(std::move(conf)) {}
  base::Status Make(int64_t epoch);

  RmSettings settings_;
  config::HadoopConf conf_;
  Decided decided_;
  std::unique_ptr<process::rm::ResourceMachine> machine_;
  base::Instant now_;
  base::WallTime wall_;
  std::vector<model::rm::OuterEvent> events_;
  std::vector<model::rm::OuterEffect> effects_;
  bool same_ = true;
};

/// What to do on the way through a journal; all of it may be left out.
struct Walk {
  base::WallTime until{INT64_MAX};  // batches up to then
  RmReplay::Decided decided;
  /// The machine is in the state with which a file goes on, at the time of its first batch.
  std::function<void(const RmReplay&, base::WallTime)> begun;
  /// After each batch; false: that is enough.
  std::function<bool(const RmReplay&)> see;
  /// Between what it goes through something is missing: a file is damaged or cut, another build's, or not there. It
  /// goes on with the state of the next file. Empty: that is an error.
  std::function<void(const Hole&)> hole;
  /// Bytes of all files that are done.
  std::function<void(uint64_t bytes)> progress;
};
/// Goes through one file or several that follow each other, and gives the machine as it is where it stopped. A file
/// that begins behind Walk::until is only asked whether it goes on from there. Error: a file cannot be read or
/// replayed, or this build decides otherwise, and nobody hears of holes or nothing could be replayed at all; it names
/// the file.
base::Result<std::unique_ptr<RmReplay>> WalkRm(env::Disk& disk, std::span<const Segment> files, const Walk& walk);

struct ReplayResult {
  int64_t batches = 0;
  int64_t events = 0;
  uint64_t state_hash = 0;
  /// Empty: every batch had the same effects, byte for byte. Else the batch and its events, for a person.
  std::string difference;
};

struct ReplayWatch {
  /// Called after each batch.
  std::function<void()> progress;
  /// Called with what people may want to know: decisions, ends, changes of state, in order.
  std::function<void(const process::rm::Happening&)> told;
};

/// Steps a fresh machine through the journal and compares. An Error: the journal cannot be replayed at all.
base::Result<ReplayResult> ReplayRm(JournalReader& journal, const ReplayWatch& watch = {});

}  // namespace fairlead::shell
