#include "sim_migrate.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <set>

#include "commands.h"
#include "env_posix/posix_loop.h"
#include "profiles/profile.h"
#include "report_out.h"
#include "sim/traces/comparison_report.h"

namespace fairlead::apps {
namespace {

constexpr const char* kCommand = "sim migrate";
constexpr uint64_t kFileBytes = uint64_t{16} << 20;

struct MigrateArguments : TraceArguments {
  std::string from;
  std::string to;
};

/// CONF[@VERSION]
struct Named {
  std::string name;
  std::string version;
  bool is_profile() const { return profiles::Find(name) != nullptr; }
};

Named Split(const std::string& text) {
  const size_t at = text.rfind('@');
  if (at == std::string::npos || env_posix::MakePosixDisk()->Stat(text).ok()) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

base::Result<std::unique_ptr<Sides>> ReadSides(const MigrateArguments& arguments) {
  const Named from = Split(arguments.from);
  const Named to = Split(arguments.to);
  if (from.is_profile() && to.is_profile()) {
    return base::Error{"--from and --to are both names of profiles; one of them has to be a Hadoop configuration " +
                       std::string("(fairlead sim compare sets profiles side by side)")};
  }
  const auto disk = env_posix::MakePosixDisk();
  const auto read_file = [&](const std::string& path) { return disk->ReadFile(path, kFileBytes); };
  auto sides = std::make_unique<Sides>();
  for (const auto& [option, named, side] :
       {std::tuple("--from ", &from, &sides->from), std::tuple("--to ", &to, &sides->to)}) {
    if (named->is_profile()) continue;
    auto read = sim::ReadConfiguration(named->name, named->version, read_file);
    if (!read) return base::Error{option + read.error().message, read.error().code};
    *side = std::move(*read);
  }
  for (const auto& [option, named, side, other] :
       {std::tuple("--from ", &from, &sides->from, &sides->to), std::tuple("--to ", &to, &sides->to, &sides->from)}) {
    if (!named->is_profile()) continue;
    auto taken = sim::NameConfiguration(named->name, named->version, *other);
    if (!taken) return base::Error{option + taken.error().message};
    *side = std::move(*taken);
    sides->written = other;
  }
  return sides;
}

/// Short, as it heads columns; what both would be called says which side it is.
std::string NameOf(const Sides& sides, const sim::Configuration& side) {
  const auto name = [](const sim::Configuration& one) {
    return one.profile + (one.version.empty() ? "" : " " + one.version);
  };
  if (name(sides.from) != name(sides.to)) return name(side);
  return name(side) + (&side == &sides.from ? " (from)" : " (to)");
}

base::Result<sim::RunResult> RunSide(const TraceArguments& arguments, const Workload& workload, const Sides& sides,
                                     const sim::Configuration& side) {
  const sim::Configuration& written = sides.written != nullptr ? *sides.written : side;
  auto profile = sim::MakeProfile(side);
  if (!profile) return profile.error();
  const std::vector<std::string> names = QueueNames(workload);
  profile->setup.goes_to = sim::PlacesFor(written.queues, {names.begin(), names.end()});
  profile->setup.look_at_waits = true;
  return RunUnder(arguments, workload, std::move(*profile), NameOf(sides, side));
}

int Refuse(const std::string& command, const base::Error& error) {
  return Complain(command, error.message, error.code == ENOENT ? kNotFound : kUsage);
}

int Migrate(const MigrateArguments& arguments) {
  const auto sides = ReadSides(arguments);
  if (!sides) return Refuse(kCommand, sides.error());
  const auto workload = Load(arguments);
  if (!workload) return Complain(kCommand, workload.error().message, CodeOfLoad(workload.error()));
  return CompareSides(kCommand, arguments, *workload, **sides);
}

}  // namespace

int CompareSides(const std::string& command, const TraceArguments& arguments, const Workload& workload,
                 const Sides& sides) {
  if (workload.jobs.empty() && !workload.synthetic) return Complain(command, "the trace has no jobs", kUsage);
  if (const auto made = MakeOut(arguments.out); !made) return Complain(command, made.error().message, kFailed);
  const sim::Configuration& from = sides.from;
  const sim::Configuration& to = sides.to;
  std::vector<sim::RunResult> runs;
  for (const sim::Configuration* side : {&from, &to}) {
    auto run = RunSide(arguments, workload, sides, *side);
    if (!run) return Refuse(command, run.error());
    runs.push_back(std::move(*run));
  }
  sim::Comparison comparison = sim::CompareRuns(runs[0], runs[1]);
  comparison.from.notes = from.notes;
  comparison.to.notes = to.notes;
  comparison.differences = sim::DifferencesOf(from, to);
  report::Report report = sim::ReportOf(comparison, runs);
  report.about.push_back("from: " + comparison.from.name + ", " + from.name);
  report.about.push_back("to:   " + comparison.to.name + ", " + to.name);
  const std::string json = sim::ComparisonJson(comparison);
  const std::string text = TextOf(report);
  std::fputs((arguments.json ? json : text).c_str(), stdout);
  const auto written = WriteOut(arguments.out, report, text, {{"report.json", json}});
  if (!written) return Complain(command, written.error().message, kFailed);
  if (!arguments.json) std::fputs(written->c_str(), stdout);
  return kOk;
}

void AddSimMigrate(CLI::App& sim, int& exit_code) {
  auto arguments = std::make_shared<MigrateArguments>();
  arguments->scheduler_only = true;  // both sides would have the same resource manager
  CLI::App* migrate = sim.add_subcommand(
      "migrate", "Run a trace under two configurations, and tell who waits longer or shorter, and why");
  migrate
      ->add_option(
          "--from", arguments->from,
          "CONF[@VERSION]: a fair-scheduler.xml, a capacity-scheduler.xml, or a directory with one of them and "
          "yarn-site.xml (@VERSION: the release of Hadoop that is imitated, 3.4.3 unless yarn-site.xml says "
          "another); or a profile's name, which takes the other's queues")
      ->required();
  migrate->add_option("--to", arguments->to, "the same")->required();
  AddWorkloadOptions(*migrate, "--trace", *arguments);
  migrate->add_option("--out", arguments->out, "directory for report.html, report.txt, report.json");
  migrate->add_flag("--json", arguments->json, "print the report as JSON");
  migrate->footer(
      "Examples:\n"
      "  fairlead sim migrate --from /etc/hadoop/conf/fair-scheduler.xml --to converted/capacity-scheduler.xml "
      "--trace jobs.json --node-list nodes.json --out report\n"
      "  fairlead sim migrate --from /etc/hadoop/conf --to /etc/hadoop/conf@3.5.0 --trace trace.tsv.gz --nodes 60\n"
      "  fairlead sim migrate --from /etc/hadoop/conf --to fairlead --trace google --scale 0.005\n\n"
      "Exit status: 0 when both ran, whatever came of it; 2 with what is wrong with a configuration or the trace.");
  migrate->callback([arguments, &exit_code] { exit_code = Migrate(*arguments); });
}

}  // namespace fairlead::apps
