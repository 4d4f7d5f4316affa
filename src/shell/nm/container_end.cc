#include "shell/nm/container_end.h"

#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <tuple>

#include "model/nm.h"
#include "shell/nm/beneath.h"
#include "shell/nm/cgroup.h"
#include "shell/nm/supervisor_process_tree.h"

namespace fairlead::shell {

namespace {

constexpr size_t kLogFilesMax = 10'000;
constexpr int kSweepsMax = 200;
constexpr int kSweepWaitMs = 5;

/// Regular files alone: nothing else has an end to show.
std::string LatestErrorFile(int log_dir) {
  const base::Result<std::vector<DirectoryEntry>> files = List(log_dir, kLogFilesMax);
  if (!files) return {};
  const DirectoryEntry* latest = nullptr;
  const auto written = [](const DirectoryEntry& e) {
    return std::tuple(e.info.st_mtim.tv_sec, e.info.st_mtim.tv_nsec);
  };
  for (const DirectoryEntry& file : *files) {
    if (!S_ISREG(file.info.st_mode)) continue;
    if (::fnmatch("*stderr*", file.name.c_str(), 0) != 0 && ::fnmatch("*STDERR*", file.name.c_str(), 0) != 0) continue;
    if (!latest || written(file) > written(*latest)) latest = &file;
  }
  return latest ? latest->name : "";
}

}  // namespace

bool WantsErrorTails(int code) { return code != 0 && !model::EndedBySignal(code); }

std::string LaunchFailureText(const model::ContainerId& id, int code, const std::string& why) {
  return "Exception from container-launch.\nContainer id: " + model::ToString(id) +
         "\nExit code: " + std::to_string(code) + "\nException message: " + why + "\n";
}

std::string ExitText(const model::ContainerId& id, int code, const std::string& tails) {
  if (code == 0) return {};
  std::string text;
  if (!model::EndedBySignal(code)) {
    text = "Exception from container-launch.\nContainer id: " + model::ToString(id) +
           "\nExit code: " + std::to_string(code) + "\n\n";
  }
  return text + "Container exited with a non-zero exit code " + std::to_string(code) + ". " + tails;
}

std::string ErrorTails(const Place& log_dir, int64_t bytes_max) {
  const std::string size = std::to_string(bytes_max);
  std::string text = "Error file: prelaunch.err.\nLast " + size + " bytes of prelaunch.err :\n";
  const base::Result<Fd> root = OpenRoot(log_dir.root);
  const base::Result<Fd> logs = root ? OpenDirectory(root->get(), log_dir.below) : root.error();
  if (!logs) return text;
  const auto tail = [&](const std::string& name) {
    const base::Result<std::string> bytes = ReadTail(logs->get(), name, bytes_max);
    return bytes ? *bytes : std::string();
  };
  text += tail("prelaunch.err");
  const std::string error_file = LatestErrorFile(logs->get());
  if (!error_file.empty()) text += "Last " + size + " bytes of " + error_file + " :\n" + tail(error_file) + "\n";
  return text;
}

void SweepStrays(const std::string& variable, const std::vector<std::string>& cgroups) {
  CgroupPlace place;
  place.directories = cgroups;
  for (int round = 0; round < kSweepsMax; ++round) {
    CgroupKill(place);
    bool any = !CgroupProcesses(place).empty();
    // What is in the middle of an exec may have the variable in a moment: `any` as well.
    for (const int64_t pid : ProcessesWithVariable(variable, &any)) {
      any = true;
      ::kill(static_cast<pid_t>(pid), SIGKILL);
    }
    if (!any) return;
    ::poll(nullptr, 0, kSweepWaitMs);
  }
}

}  // namespace fairlead::shell
