#include "sim_journal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <variant>

#include "base/stored.h"
#include "base/text.h"
#include "commands.h"
#include "env_posix/posix_loop.h"
#include "past.h"
#include "progress.h"
#include "shell/rm/replay.h"
#include "shell/rm/segments.h"

namespace fairlead::apps {
namespace {

/// The queues that were in use for the longest: a journal goes on over changes of them.
class QueuesInUse {
 public:
  void See(const shell::RmReplay& replay) {
    const auto reloads = [](const auto& event) { return std::holds_alternative<model::rm::ReloadQueues>(event); };
    last_ms_ = replay.wall().ms;
    if (since_ms_ >= 0 && std::none_of(replay.events().begin(), replay.events().end(), reloads)) return;
    std::string now = base::EncodeStored(replay.machine()->core().config().queues);
    if (now == current_) return;  // read again, or refused
    Close();
    current_ = std::move(now);
    since_ms_ = last_ms_;
    ++changes_;
  }
  model::QueueTree Take() {
    Close();
    const auto tree = base::DecodeStored<model::QueueTree>(longest_);
    return tree ? *tree : model::QueueTree();
  }
  int64_t changes() const { return changes_ - 1; }

 private:
  void Close() {
    if (since_ms_ < 0 || last_ms_ - since_ms_ < longest_ms_) return;
    longest_ms_ = last_ms_ - since_ms_;
    longest_ = current_;
  }

  int64_t changes_ = 0, since_ms_ = -1, last_ms_ = 0, longest_ms_ = -1;
  std::string current_, longest_;  // as stored
};

}  // namespace

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
  QueuesInUse queues;
  Progress progress("journal");
  shell::Walk walk;
  walk.begun = [&](const shell::RmReplay& replay, base::WallTime at) { trace.Begin(at, *replay.machine()); };
  walk.decided = [&](const shell::RmReplay& replay, base::WallTime at, const auto& effects) {
    trace.Decided(at, *replay.machine(), replay.events(), effects);
  };
  walk.see = [&](const shell::RmReplay& replay) {
    trace.Stepped(replay.wall(), *replay.machine(), replay.events());
    queues.See(replay);
    return true;
  };
  std::vector<std::string> missing;
  walk.hole = [&](const shell::Hole& hole) { missing.push_back(HoleText(hole)); };
  walk.progress = [&](uint64_t done) { progress.Show(static_cast<int64_t>(done), bytes, "bytes"); };
  const auto walked = shell::WalkRm(*disk, kept->files, walk);
  progress.TakeAway();
  if (!walked) return walked.error();
  RecordedTrace out{trace.Finish(), sim::RunConfiguration(path, (*walked)->settings().manager.profile,
                                                          (*walked)->conf(), queues.Take())};
  for (const std::string& text : missing) {
    (void)Complain("sim", text, kOk);
    out.configuration.notes.push_back("in the journal " + text);
  }
  if (queues.changes() > 0) {
    out.configuration.notes.push_back("the queues changed " + base::Counted(queues.changes(), "time") +
                                      " while the journal was written; those that were in use for the longest count");
  }
  if (out.jobs.left_out > 0) {
    std::fprintf(stderr, "%s: %s were taken back, lost or never ran, and are left out\n", path.c_str(),
                 base::Counted(out.jobs.left_out, "container").c_str());
  }
  return out;
}

}  // namespace fairlead::apps
