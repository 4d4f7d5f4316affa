#include "shell/rm/replay.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.h"
#include "env_posix/posix_loop.h"

namespace fairlead::apps {
namespace {

int Replay(const std::string& file, bool json) {
  const auto bytes = env_posix::MakePosixDisk()->ReadFile(file);
  if (!bytes) return Complain("replay", bytes.error().message, kNotFound);
  const auto journal = shell::ParseJournal(*bytes);
  if (!journal) return Complain("replay", file + ": " + journal.error().message, kFailed);
  const auto result = shell::ReplayRm(*journal);
  if (!result) return Complain("replay", file + ": " + result.error().message, kFailed);
  const bool same = result->difference.empty();
  if (json) {
    std::printf("{\"batches\":%lld,\"events\":%lld,\"same\":%s,\"stateHash\":\"%016llx\",\"tornTail\":%s}\n",
                static_cast<long long>(result->batches), static_cast<long long>(result->events),
                same ? "true" : "false", static_cast<unsigned long long>(result->state_hash),
                journal->torn_tail ? "true" : "false");
  } else {
    std::printf("%lld batches with %lld events replayed%s, state %016llx\n", static_cast<long long>(result->batches),
                static_cast<long long>(result->events), journal->torn_tail ? " (a torn last record was left out)" : "",
                static_cast<unsigned long long>(result->state_hash));
  }
  if (same) return kOk;
  return Complain("replay", result->difference, kFailed);
}

}  // namespace

void AddReplay(CLI::App& app, int& exit_code) {
  CLI::App* replay = app.add_subcommand(
      "replay", "Repeat a resource manager's journal: every decision must come out the same, byte for byte");
  replay->footer("Example: fairlead replay /var/lib/fairlead/rm/rm.journal");
  auto file = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  replay->add_option("journal", *file, "the file")->required();
  replay->add_flag("--json", *json, "print JSON");
  replay->callback([file, json, &exit_code] { exit_code = Replay(*file, *json); });
}

}  // namespace fairlead::apps
