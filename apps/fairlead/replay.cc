#include "shell/rm/replay.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "commands.h"
#include "env_posix/posix_loop.h"
#include "exit_words.h"
#include "model/exit_status.h"
#include "progress.h"
#include "table.h"

namespace fairlead::apps {
namespace {

struct ReplayOptions {
  std::string file;
  bool decisions = false;
  bool json = false;
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
  const auto bytes = env_posix::MakePosixDisk()->ReadFile(options.file);
  if (!bytes) return Complain("replay", bytes.error().message, kNotFound);
  const auto journal = shell::ParseJournal(*bytes);
  if (!journal) return Complain("replay", options.file + ": " + journal.error().message, kFailed);
  shell::ReplayWatch watch;
  Progress progress("replay");
  if (options.decisions) {
    watch.told = Print;
  } else {
    watch.progress = [&](int64_t batches) {
      progress.Show(batches, static_cast<int64_t>(journal->batches.size()), "batches");
    };
  }
  const auto result = shell::ReplayRm(*journal, watch);
  progress.TakeAway();
  if (!result) return Complain("replay", options.file + ": " + result.error().message, kFailed);
  const bool same = result->difference.empty();
  const bool goes_on = !journal->header.state.empty();  // a segment behind another one
  if (options.json) {
    std::printf(
        "{\"batches\":%lld,\"events\":%lld,\"same\":%s,\"stateHash\":\"%016llx\",\"tornTail\":%s,\"begins\":\"%s\"}\n",
        static_cast<long long>(result->batches), static_cast<long long>(result->events), same ? "true" : "false",
        static_cast<unsigned long long>(result->state_hash), journal->torn_tail ? "true" : "false",
        goes_on ? "state" : "start");
  } else {
    std::printf("%lld batches with %lld events replayed%s%s, state %016llx\n", static_cast<long long>(result->batches),
                static_cast<long long>(result->events), goes_on ? " from the state that they begin with" : "",
                journal->torn_tail ? " (a torn last record was left out)" : "",
                static_cast<unsigned long long>(result->state_hash));
  }
  if (same) return kOk;
  return Complain("replay", result->difference, kFailed);
}

}  // namespace

void AddReplay(CLI::App& app, int& exit_code) {
  CLI::App* replay = app.add_subcommand(
      "replay", "Repeat a resource manager's journal: every decision must come out the same, byte for byte");
  replay->footer(
      "Examples:\n  fairlead replay /var/lib/fairlead/rm/rm.journal\n"
      "  fairlead replay --decisions /var/lib/fairlead/rm/rm.journal | grep preempted");
  auto options = std::make_shared<ReplayOptions>();
  replay->add_option("journal", options->file, "the file")->required();
  CLI::Option* json = replay->add_flag("--json", options->json, "print JSON");
  replay
      ->add_flag("--decisions", options->decisions,
                 "print what was decided when, and why: a line each, as 'fairlead events' tells it")
      ->excludes(json);
  replay->callback([options, &exit_code] { exit_code = Replay(*options); });
}

}  // namespace fairlead::apps
