#include <cstdio>
#include <cstring>
#include <string>

#include "oracle/capacity_scheduler_replay.h"

// oracle_capacity_scheduler DIR [--version 3.4.3|3.3.6|3.5.0] [--check] [--list]
// --list: a line for each recording that passes, too.

int main(int argc, char** argv) {
  using namespace fairlead::oracle;
  std::string directory;
  std::string version = "3.4.3";
  bool check = false;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--version") == 0 && i + 1 < argc) {
      version = argv[++i];
    } else if (std::strcmp(argv[i], "--check") == 0) {
      check = true;
    } else if (std::strcmp(argv[i], "--list") == 0) {
      list = true;
    } else if (directory.empty()) {
      directory = argv[i];
    } else {
      directory.clear();
      break;
    }
  }
  if (directory.empty() || CapacitySchedulerVersions(version).empty()) {
    std::fprintf(stderr, "usage: oracle_capacity_scheduler DIR [--version 3.4.3|3.3.6|3.5.0] [--check] [--list]\n");
    return 2;
  }
  const auto replay = [check](const nlohmann::json& scenario, const std::vector<nlohmann::json>& expected,
                              const std::string& v, const std::string& trace_version) {
    return ReplayCapacityScheduler(scenario, expected, v, trace_version, check);
  };
  return RunAll(directory, version, CapacitySchedulerVersions(version), replay,
                "queue orders are computed and compared, none is taken from the recordings", nullptr, list);
}
