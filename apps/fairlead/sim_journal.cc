#include "sim_journal.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/text.h"
#include "commands.h"
#include "env_posix/posix_loop.h"
#include "progress.h"
#include "shell/rm/replay.h"
#include "shell/rm/segments.h"

namespace fairlead::apps {

bool IsJournal(const std::string& path) {
  const auto disk = env_posix::MakePosixDisk();
  if (const auto there = disk->Stat(path); there.ok() && there->kind == env::FileInfo::Kind::kDirectory) return true;
  const auto file = disk->OpenForReading(path);
  std::array<char, 6> begin{};
  const auto read = file.ok() ? (*file)->ReadAt(0, begin) : base::Result<size_t>(0);
  return read.ok() && std::string_view(begin.data(), *read) == "FLJRNL";
}

base::Result<RecordedTrace> ReadJournal(const std::string& path) {
  const auto disk = env_posix::MakePosixDisk();
  const auto kept = shell::FindSegments(*disk, path);
  if (!kept) return base::Error{kept.error().message, kept.error().code == ENOENT ? kNotFound : kUsage};
  for (const std::string& file : kept->left_out) (void)Complain("sim", file + "; it is left out", kOk);
  int64_t bytes = 0;
  for (const shell::Segment& file : kept->files) bytes += static_cast<int64_t>(file.bytes);
  sim::JournalTrace trace;
  std::optional<sim::Configuration> configuration;
  Progress progress("journal");
  shell::Walk walk;
  walk.begun = [&](const shell::RmReplay& replay, base::WallTime at) { trace.Begin(at, *replay.machine()); };
  walk.decided = [&](const shell::RmReplay& replay, base::WallTime at, const auto& effects) {
    trace.Decided(at, *replay.machine(), replay.events(), effects);
  };
  walk.see = [&](const shell::RmReplay& replay) {
    trace.Stepped(replay.wall(), *replay.machine(), replay.events());
    if (!configuration) {
      configuration = sim::RunConfiguration(path, replay.settings().manager.profile, replay.conf(),
                                            replay.machine()->core().config().queues);
    }
    return true;
  };
  walk.progress = [&](uint64_t done) { progress.Show(static_cast<int64_t>(done), bytes, "bytes"); };
  const auto walked = shell::WalkRm(*disk, kept->files, walk);
  progress.TakeAway();
  if (!walked) return walked.error();
  RecordedTrace out{trace.Finish(), std::move(configuration).value_or(sim::Configuration())};
  if (out.jobs.left_out > 0) {
    std::fprintf(stderr, "%s: %s were taken back, lost or never ran, and are left out\n", path.c_str(),
                 base::Counted(out.jobs.left_out, "container").c_str());
  }
  return out;
}

}  // namespace fairlead::apps
