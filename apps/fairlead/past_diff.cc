#include <cerrno>
#include <utility>

#include "base/did_you_mean.h"
#include "base/text.h"
#include "env_posix/posix_loop.h"
#include "past.h"
#include "profiles/profile.h"
#include "sim_journal.h"
#include "sim_migrate.h"
#include "table.h"

// `replay --diff`: what a journal has, again under its own queues and under others.

namespace fairlead::apps {
namespace {

constexpr const char* kCommand = "replay";
constexpr uint64_t kFileBytes = uint64_t{16} << 20;

/// A profile on the journal's queues; or a file of queues under the journal's profile, or under the one that reads it.
base::Result<sim::Configuration> Other(const std::string& what, const sim::Configuration& journal) {
  if (profiles::Find(what) != nullptr) return sim::NameConfiguration(what, "", journal);
  const auto disk = env_posix::MakePosixDisk();
  const auto read_file = [&](const std::string& path) { return disk->ReadFile(path, kFileBytes); };
  auto queues = sim::WithQueuesOf(what, read_file, journal);
  if (queues) return queues;
  auto whole = sim::ReadConfiguration(what, "", read_file);
  return whole ? std::move(whole) : std::move(queues);
}

/// How the journal itself went, to hold the run of its own queues against.
std::string Truth(const sim::JournalJobs& jobs) {
  return "in the journal itself " + Counted(jobs.ended, "application") + " came and ended, which waited " +
         DurationText(jobs.waited_ms / jobs.ended) + " for their first container and took " +
         DurationText(jobs.completion_ms / jobs.ended) + " on average; the run is as good as its times are like these";
}

}  // namespace

int DiffJournal(const PastOptions& options) {
  auto recorded = ReadJournal(options.journal);
  if (!recorded) {
    return Complain(kCommand, recorded.error().message, recorded.error().code == kNotFound ? kNotFound : kFailed);
  }
  auto other = Other(options.diff, recorded->configuration);
  if (!other) {
    const bool missing = other.error().code == ENOENT;
    const std::string profile =
        missing ? "; nor is it a profile" + base::DidYouMean(options.diff, profiles::Names()) : "";
    return Complain(kCommand, "--diff: " + other.error().message + profile, missing ? kNotFound : kUsage);
  }
  Sides sides{std::move(recorded->configuration), std::move(*other)};
  if (profiles::Find(options.diff) != nullptr) sides.written = &sides.from;
  if (recorded->jobs.ended > 0) sides.from.notes.push_back(Truth(recorded->jobs));
  TraceArguments arguments;
  arguments.traces = {options.journal};
  arguments.scheduler_only = true;
  arguments.out = options.out;
  arguments.json = options.json;
  Workload workload;
  workload.name = options.journal;
  TakeRecorded(std::move(recorded->jobs), workload);
  return CompareSides(kCommand, arguments, workload, sides);
}

}  // namespace fairlead::apps
