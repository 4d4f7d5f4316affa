#include "shell/spark/run_surroundings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "shell/nm/cgroup.h"
#include "shell/spark/rolling_log.h"

namespace fairlead::shell {

namespace {

namespace sw = process::spark_worker;

class RealSurroundings final : public sw::Surroundings {
 public:
  explicit RealSurroundings(env::Log& log) : log_(log) {}

  base::Status Prepare(const sw::RunOrder& order, env::SpawnRequest& request) override {
    if (order.rolling.rolls()) {
      for (std::string* path : {&request.stdout_path, &request.stderr_path}) {
        if (const base::Status piped = Pipe(order.rolling, *path); !piped.ok()) return piped;
      }
    }
    if (order.limits.hierarchy.empty()) return {};
    if (!groups_) groups_ = Cgroups::Detect(order.limits.hierarchy, order.limits.of_cores);
    const CgroupLimits limits{order.limits.memory_mib << 20, order.limits.cores,
                              static_cast<double>(order.limits.cores), 0};
    auto place = groups_->Create(NameOf(order.key), limits);
    // The worker has said at its start that this machine can: what fails now is an error.
    if (!place.ok()) return base::Error{"no control group: " + place.error().message};
    request.argv = Joining(*place, std::move(request.argv));
    places_[order.key] = std::move(*place);
    return {};
  }

  void Started(const std::string&) override {
    for (const int end : std::exchange(write_ends_, {})) ::close(end);
  }

  std::string Ended(const std::string& key) override {
    const auto place = places_.extract(key);
    if (place.empty()) return "";
    const bool above = CgroupOomKills(place.mapped()) > 0;
    CgroupKill(place.mapped());
    if (!CgroupRemove(place.mapped(), true)) log_.Warn("a control group stays", {{"of", key}});
    return above ? "the kernel ended it above its memory" : "";
  }

 private:
  static std::string NameOf(const std::string& key) {
    std::string name = key;
    std::ranges::replace(name, '/', '_');
    return name;
  }
  /// The same program, by a shell that becomes it once it has joined the groups.
  static std::vector<std::string> Joining(const CgroupPlace& place, std::vector<std::string> argv) {
    constexpr const char* kJoin =
        "while [ \"$1\" != -- ]; do echo $$ > \"$1\" || exit 126; shift; done; shift; exec \"$@\"";
    std::vector<std::string> joining = {"/bin/sh", "-c", kJoin, "sh"};
    for (const std::string& directory : place.directories) joining.push_back(directory + "/cgroup.procs");
    joining.emplace_back("--");
    joining.insert(joining.end(), argv.begin(), argv.end());
    return joining;
  }
  /// `path` becomes that of a pipe, whose bytes go where it was.
  base::Status Pipe(const sw::LogRolling& rolling, std::string& path) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return base::Error{"no pipe for " + path};
    PumpIntoLog(ends[0], path, rolling);
    write_ends_.push_back(ends[1]);
    path = "/proc/self/fd/" + std::to_string(ends[1]);
    return {};
  }

  env::Log& log_;
  std::optional<Cgroups> groups_;
  std::map<std::string, CgroupPlace> places_;
  std::vector<int> write_ends_;  // of the run that is being started
};

}  // namespace

std::unique_ptr<sw::Surroundings> MakeSurroundings(env::Log& log) { return std::make_unique<RealSurroundings>(log); }

std::string WhyNoControlGroups(const std::string& hierarchy) {
  const Cgroups groups = Cgroups::Detect(hierarchy);
  const bool can = groups.has_memory() && groups.has_cpu();
  std::string description = can ? "" : groups.Description();
  groups.RemoveHierarchy();
  return description;
}

}  // namespace fairlead::shell
