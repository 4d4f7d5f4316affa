#include "exit_words.h"

#include <csignal>
#include <cstring>

#include "model/exit_status.h"
#include "model/taken_back.h"

namespace fairlead::apps {

std::string ExitWords(int status) {
  switch (status) {
    case model::kExitInvalid:
      return "";
    case model::kExitAborted:
      return "released";  // what is said tells by whom
    case model::kExitDisksFailed:
      return "its node's disks failed";
    case model::kExitPreempted:
      return "taken back (preempted)";  // what is said tells for whom
    case model::kExitExceededVirtualMemory:
      return "used more virtual memory than it asked for";
    case model::kExitExceededPhysicalMemory:
      return "used more memory than it asked for";
    case model::kExitKilledByMaster:
      return "ended by its master";
    case model::kExitKilledByResourceManager:
      return "ended by the resource manager";
    case model::kExitKilledAfterAppCompletion:
      return "ended with its application";
    case model::kExitKilledByScheduler:
      return "ended by the scheduler";
    default:
      break;
  }
  const char* signal = status > 128 ? ::sigabbrev_np(status - 128) : nullptr;
  if (signal != nullptr) {
    return "exit status " + std::to_string(status) + ": SIG" + signal + ", " + ::strsignal(status - 128);
  }
  if (status == 0) return "succeeded";
  const char* shell = status == 126   ? ": its program may not be run"
                      : status == 127 ? ": its program was not found"
                                      : "";
  return "exit status " + std::to_string(status) + shell;
}

std::string ExitWords(int status, std::string said) {
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (status == model::kExitAborted) {  // one status of Hadoop's for several ends
    if (said == "Container of a completed application") return "ended with its application";
    if (said == "Container released on a *lost* node") return "its node was lost";
    if (said == "Container released by application") return "given back by its master";
  }
  if (status == model::kExitPreempted && said == model::DiagnosticsOf(model::TakenBackFor::kQueue))
    return "taken back for another queue (preempted)";
  const std::string words = ExitWords(status);
  return words.empty() || said.empty() ? words + said : words + "; " + said;
}

}  // namespace fairlead::apps
