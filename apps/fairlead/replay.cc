#include "shell/rm/replay.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "base/text.h"
#include "commands.h"
#include "env_posix/posix_loop.h"
#include "exit_words.h"
#include "model/exit_status.h"
#include "past.h"
#include "progress.h"
#include "table.h"

namespace fairlead::apps {
namespace {

struct ReplayOptions {
  PastOptions past;
  bool decisions = false;
};

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

/// As `fairlead events` shows it. A journal is of any length, so rows are printed as they come.
void Print(const process::rm::Happening& one) {
  const bool over =
      one.kind == process::rm::HappeningKind::kEnded || one.kind == process::rm::HappeningKind::kPreempted;
  const std::string what = one.container.value != 0 ? ToString(one.container)
                           : one.app.number != 0    ? ToString(one.app)
                                                    : "-";
  const int status = over ? one.exit_status : int{model::kExitInvalid};
  const std::string row = TimeText(one.at.ms) + "  " + std::string(EnumName(one.kind)) + "  " + what + "  " +
                          OrDash(one.queue) + "  " + OrDash(one.node) + "  " +
                          (one.size.memory_mib() == 0 ? "-" : SizeText(one.size.memory_mib(), one.size.vcores())) +
                          "  " + ExitWords(status, one.detail);
  std::puts(base::VisibleText(row).c_str());
}

int Replay(const ReplayOptions& options) {
  const auto disk = env_posix::MakePosixDisk();
  if (std::filesystem::is_directory(options.past.journal)) {
    return Complain("replay", options.past.journal + " is a directory; name one file of it, such as rm.journal",
                    kUsage);
  }
  auto file = shell::OpenSegment::Read(*disk, options.past.journal);
  if (!file) {
    const auto there = disk->Stat(options.past.journal);
    return Complain("replay", file.error().message, there.ok() ? kFailed : kNotFound);
  }
  shell::JournalReader& journal = file->reader;
  shell::ReplayWatch watch;
  Progress progress("replay");
  if (options.decisions) {
    watch.told = Print;
  } else {
    watch.progress = [&] {
      progress.Show(static_cast<int64_t>(journal.position()), static_cast<int64_t>(file->bytes->size()), "bytes");
    };
  }
  const auto result = shell::ReplayRm(journal, watch);
  progress.TakeAway();
  if (!result) return Complain("replay", options.past.journal + ": " + result.error().message, kFailed);
  const bool same = result->difference.empty();
  const bool goes_on = !journal.header().state.empty();  // a segment behind another one
  if (options.past.json) {
    std::printf(
        "{\"batches\":%lld,\"events\":%lld,\"same\":%s,\"stateHash\":\"%016llx\",\"tornTail\":%s,\"begins\":\"%s\"}\n",
        static_cast<long long>(result->batches), static_cast<long long>(result->events), same ? "true" : "false",
        static_cast<unsigned long long>(result->state_hash), journal.torn_tail() ? "true" : "false",
        goes_on ? "state" : "start");
  } else {
    std::printf("%lld batches with %lld events replayed%s%s, state %016llx\n", static_cast<long long>(result->batches),
                static_cast<long long>(result->events), goes_on ? " from the state that they begin with" : "",
                journal.torn_tail() ? " (a torn last record was left out)" : "",
                static_cast<unsigned long long>(result->state_hash));
  }
  if (same) return kOk;
  return Complain("replay", result->difference, kFailed);
}

}  // namespace

void AddReplay(CLI::App& app, int& exit_code) {
  CLI::App* replay = app.add_subcommand(
      "replay", "Look into a resource manager's journal: what was at a moment, one application's life, every decision");
  replay->footer(
      "Without an option every decision is made again and has to come out the same, byte for byte.\n"
      "JOURNAL is the file that is written now, with the older ones beside it; an older one, alone; or their "
      "directory.\nTIME is 2026-11-25T03:10 (with Z: UTC), 03:10, -2h before the last moment that is kept, or "
      "milliseconds since 1970.\n"
      "Examples:\n  fairlead replay /var/lib/fairlead/rm/rm.journal\n"
      "  fairlead replay --decisions /var/lib/fairlead/rm/rm.journal | grep preempted\n"
      "  fairlead replay /var/lib/fairlead/rm --at 03:10 --queues\n"
      "  fairlead replay /var/lib/fairlead/rm --at -2h --why application_1700000000000_0001\n"
      "  fairlead replay /var/lib/fairlead/rm --story application_1700000000000_0001\n"
      "  fairlead replay /var/lib/fairlead/rm --diff new-fair-scheduler.xml --out report");
  auto options = std::make_shared<ReplayOptions>();
  PastOptions& past = options->past;
  replay->add_option("journal", past.journal, "the file, or with --at, --story and --diff its directory")->required();
  CLI::Option* json = replay->add_flag("--json", past.json, "print JSON");
  CLI::Option* decisions =
      replay
          ->add_flag("--decisions", options->decisions,
                     "print what was decided when, and why: a line each, as 'fairlead events' tells it")
          ->excludes(json);
  CLI::Option* at = replay->add_option("--at", past.at, "TIME: the cluster as it was then")->excludes(decisions);
  replay->add_option("--story", past.story, "APP: its life in sentences, with times")
      ->excludes(decisions)
      ->excludes(at);
  CLI::Option* diff =
      replay
          ->add_option("--diff", past.diff,
                       "FILE|PROFILE: run the same arrivals, nodes and run times again, with the journal's own queues "
                       "and with those of FILE or under PROFILE, and compare")
          ->excludes(decisions)
          ->excludes(at);
  replay->add_option("--out", past.out, "--diff: directory for report.html, report.json, report.txt")->needs(diff);
  std::vector<CLI::Option*> parts = {
      replay->add_flag("--queues", past.queues, "--at: as 'fairlead queues' shows them"),
      replay->add_flag("--nodes", past.nodes, "--at: as 'fairlead nodes' shows them"),
      replay->add_flag("--apps", past.apps, "--at: as 'fairlead apps' shows them"),
      replay->add_option("--why", past.why, "--at: APP, why its asks waited, as 'fairlead why' says it"),
      replay->add_option(
          "--document", past.document,
          "--at: NAME or NAME?QUERY, what REST's /fairlead/v1/NAME would have said: cluster, apps, nodes, "
          "queues")};
  for (CLI::Option* part : parts) {
    part->needs(at);
    for (CLI::Option* other : parts) {
      if (other != part) part->excludes(other);
    }
  }
  replay->add_flag("--all,-a", past.all, "--apps: ended ones, too")->needs(parts[2]);
  replay->callback([options, &exit_code] {
    const PastOptions& wanted = options->past;
    exit_code = !wanted.at.empty()      ? ShowMoment(wanted)
                : !wanted.story.empty() ? TellStory(wanted)
                : !wanted.diff.empty()  ? DiffJournal(wanted)
                                        : Replay(*options);
  });
}

}  // namespace fairlead::apps
