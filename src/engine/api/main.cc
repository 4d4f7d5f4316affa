#include "engine/api/main.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <string_view>
#include <thread>

#include "engine/api/context.h"
#include "engine/driver/cluster_driver.h"
#include "engine/driver/signals.h"
#include "engine/io/job_files.h"
#include "engine/records/errors.h"
#include "engine/run/cluster_executor.h"
#include "engine/run/local.h"
#include "engine/settings/spark_settings.h"

namespace fairlead::engine {

namespace {

constexpr const char* kUsage =
    "This program is a Fairlead job. Run it with\n"
    "  fairlead submit PROGRAM [ARGUMENT ...]    on a cluster, or\n"
    "  PROGRAM --local[N] [ARGUMENT ...]         in this process, with N threads (default: one per core)\n"
    "Options of local mode, before the arguments: --memory MIB, --scratch DIRECTORY, --event-log FILE (for fairlead "
    "history), --conf NAME=VALUE (settings of Spark's that docs/configuration.md lists).\n";

struct Options {
  bool local = false;
  std::string executor;  // not empty: be this executor
  LocalOptions local_options;
  std::map<std::string, std::string> conf;
  std::vector<std::string> arguments;
  std::string error;
};

template <class T>
bool ParseNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0;
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  options.local_options.slots = static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
  int i = 1;
  for (; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto next = [&]() -> std::string_view { return i + 1 < argc ? argv[++i] : ""; };
    if (argument == "--executor") {
      options.executor = next();
      if (options.executor.empty()) options.error = "--executor needs an id";
    } else if (argument == "--local") {
      options.local = true;
    } else if (argument.starts_with("--local[") && argument.ends_with("]")) {
      options.local = true;
      const std::string_view count = argument.substr(8, argument.size() - 9);
      if (count != "*" && !ParseNumber(count, options.local_options.slots)) options.error = "wrong number of threads";
    } else if (argument == "--memory") {
      int64_t mib = 0;
      if (!ParseNumber(next(), mib)) options.error = "--memory needs a number of MiB";
      options.local_options.memory_bytes = mib << 20;
    } else if (argument == "--scratch") {
      options.local_options.directory = next();
    } else if (argument == "--event-log") {
      options.local_options.event_log = next();
    } else if (argument == "--conf") {
      const std::string_view setting = next();
      const size_t equals = setting.find('=');
      if (equals == std::string_view::npos) {
        options.error = "--conf needs NAME=VALUE";
      } else {
        options.conf[std::string(setting.substr(0, equals))] = setting.substr(equals + 1);
      }
    } else if (argument == "--") {
      ++i;
      break;
    } else {
      break;
    }
  }
  for (; i < argc; ++i) options.arguments.emplace_back(argv[i]);
  return options;
}

/// Tasks free and take buffers of many MB again and again: one heap for all threads that gives memory back late saves
/// most of their page faults (an arena of its own for each thread is unmapped with its last buffer). With little memory
/// what is free must not pile up. `memory_bytes` 0: plenty.
void TuneHeap(int64_t memory_bytes) {
  const auto at_most = [&](int64_t most, int64_t parts) {
    return static_cast<int>(memory_bytes <= 0 ? most : std::clamp(memory_bytes / parts, int64_t{1} << 20, most));
  };
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, at_most(256 << 20, 32));
  ::mallopt(M_TRIM_THRESHOLD, at_most(512 << 20, 16));
}

int RunLocally(JobFunction job, const Options& options, const std::map<std::string, std::string>& set_in_code) {
  JobSettings settings;
  AddSettings(options.conf, settings);
  AddSettings(set_in_code, settings);
  base::Result<tasks::Config> config = MakeTasksConfig(settings);
  if (!config) throw JobError(config.error().message);
  LocalOptions local_options = options.local_options;
  local_options.tasks = *std::move(config);
  std::atomic<bool> stopped = false;
  std::atomic<Local*> running = nullptr;
  const Interrupts interrupts(
      [&](const std::string& reason) {
        stopped = true;
        if (Local* const local = running) local->session().Fail(reason);
      },
      [&] {
        if (const Local* const local = running) local->RemoveFiles();
      });
  Local local(local_options);
  running = &local;
  std::string error;
  try {
    Context context(local.session());
    job(context, Arguments(options.arguments));
  } catch (const std::exception& failed) {
    error = failed.what();
    std::fprintf(stderr, "job failed: %s\n", error.c_str());
  }
  local.End(error, stopped && !error.empty());
  running = nullptr;
  return error.empty() ? 0 : 1;
}

/// 0: as much as there is.
int64_t MemoryOf(const Options& options) {
  if (options.local) return options.local_options.memory_bytes;
  return options.executor.empty() && !InMasterContainer() ? 0 : SettingsOfThisProcess().executor_memory_mib << 20;
}

}  // namespace

const std::string& Arguments::at(size_t i) const {
  if (i >= values_.size()) throw JobError("argument " + std::to_string(i + 1) + " is missing");
  return values_[i];
}

long Arguments::Number(size_t i, long otherwise) const {
  if (i >= values_.size()) return otherwise;
  long value = 0;
  const std::string& text = values_[i];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw JobError("argument " + std::to_string(i + 1) + " is no number: " + text);
  }
  return value;
}

int Main(int argc, char** argv, JobFunction job, std::initializer_list<std::pair<const char*, const char*>> in_code) {
  const std::map<std::string, std::string> settings(in_code.begin(), in_code.end());
  const Options options = ParseOptions(argc, argv);
  if (!options.error.empty()) {
    std::fprintf(stderr, "%s\n%s", options.error.c_str(), kUsage);
    return 2;
  }
  TellOfCrashes();
  try {
    TuneHeap(MemoryOf(options));
    if (!options.executor.empty()) return RunClusterExecutor(options.executor);
    if (options.local) return RunLocally(job, options, settings);
    if (InMasterContainer()) {
      return RunClusterDriver(settings, [&](Session& session) {
        Context context(session);
        job(context, Arguments(options.arguments));
      });
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cannot start: %s\n", error.what());
    return 1;
  }
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace fairlead::engine
