#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "scenario/script.h"

// scenarios: runs text scenarios through the profiles of the scheduler (docs/scenarios.md).

namespace {

namespace fs = std::filesystem;
using namespace fairlead;

constexpr char kHelp[] =
    "usage: scenarios [--show] [--profile NAME] [FILE or DIR]...\n"
    "Runs text scenarios (*.scn) through the profiles of the scheduler; without a name, those of this source tree.\n"
    "  --show          print each line and what it does, to write expectations from\n"
    "  --profile NAME  this profile alone\n"
    "A failing line is printed as FILE:LINE with what was got. The last line is \"N passed, N failed\".\n"
    "Exit status: 0 when all passed, 1 when one failed, 2 for a wrong call. docs/scenarios.md has the language.\n";

struct Options {
  bool show = false;
  std::string profile;
  std::vector<fs::path> paths;
};

struct Counts {
  int passed = 0;
  int failed = 0;
};

std::vector<fs::path> FilesOf(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".scn") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void RunFile(const fs::path& path, const Options& options, Counts& counts) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const auto names =
      in ? scenario::ProfilesOf(text.str()) : base::Result<std::vector<std::string>>(base::Error{"cannot be read"});
  if (!names) {
    std::printf("%s: %s\n", path.c_str(), names.error().message.c_str());
    ++counts.failed;
    return;
  }
  for (const std::string& name : *names) {
    if (!options.profile.empty() && name != options.profile) continue;
    if (options.show) std::printf("== %s under %s\n", path.c_str(), name.c_str());
    scenario::Script script(*profiles::Find(name), [&](const std::string& line) {
      if (options.show) std::printf("%s\n", line.c_str());
    });
    const std::vector<std::string> failures = script.Run(path.string(), text.str());
    for (const std::string& failure : failures) std::printf("%s\n", failure.c_str());
    ++(failures.empty() ? counts.passed : counts.failed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (argument == "--show") {
      options.show = true;
    } else if (argument == "--profile" && i + 1 < argc && profiles::Find(argv[i + 1]) != nullptr) {
      options.profile = argv[++i];
    } else if (argument.starts_with("-")) {
      std::fprintf(stderr, "scenarios: %s is wrong\n%s", argument.c_str(), kHelp);
      return 2;
    } else {
      options.paths.emplace_back(argument);
    }
  }
  if (options.paths.empty()) options.paths.emplace_back(FAIRLEAD_SCENARIOS);
  Counts counts;
  for (const fs::path& path : FilesOf(options.paths)) RunFile(path, options, counts);
  std::printf("%d passed, %d failed\n", counts.passed, counts.failed);
  return counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}
