#include "shell/nm/health.h"

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <utility>

namespace fairlead::shell {

namespace {
constexpr size_t kOutputBytesMax = 64 * 1024;
constexpr base::Duration kThreadsInterval = base::Duration::Seconds(5);

std::string OutputPath(const NmSettings& settings) { return settings.state_directory + "/health-script.out"; }
}  // namespace

NmHealth::NmHealth(env::Loop& loop, env::Processes& processes, env::Log& log, const NmSettings& settings, NmDirs& dirs,
                   process::nm::NodeManager& manager, Watchdog& watchdog, Helper& helper)
    : loop_(loop),
      processes_(processes),
      log_(log),
      settings_(settings),
      dirs_(dirs),
      manager_(manager),
      watchdog_(watchdog),
      helper_(helper) {
  CheckDisks();
  CheckThreads();
  if (!settings_.health_script.empty()) RunScript();
}

NmHealth::~NmHealth() {
  alive_.End();
  KillScript();
}

void NmHealth::CheckDisks() {
  dirs_.Check();
  Tell();
  loop_.After(settings_.disk_check_interval, alive_([this] { CheckDisks(); }));
}

void NmHealth::CheckThreads() {
  std::string error = watchdog_.Report();
  if (error.empty() && !helper_.usable()) error = "the process that starts containers has gone; restart the node agent";
  if (std::exchange(thread_error_, error) != error) Tell();
  loop_.After(kThreadsInterval, alive_([this] { CheckThreads(); }));
}

void NmHealth::RunScript() {
  env::SpawnRequest request;
  request.argv = {settings_.health_script};
  request.argv.insert(request.argv.end(), settings_.health_script_options.begin(),
                      settings_.health_script_options.end());
  request.environment = settings_.manager.environment;
  request.directory = "/";
  request.stdout_path = OutputPath(settings_);
  ::unlink(request.stdout_path.c_str());
  script_timed_out_ = false;
  const base::Result<int64_t> pid =
      processes_.Spawn(request, alive_([this](env::ExitStatus status) { ScriptEnded(status); }));
  if (pid) {
    script_pid_ = *pid;
    loop_.After(settings_.health_timeout, alive_([this, started = *pid] {
                  if (script_pid_ != started) return;
                  script_timed_out_ = true;
                  KillScript();
                }));
  }
  ScheduleScript();
}

void NmHealth::ScheduleScript() {
  loop_.After(settings_.health_interval, alive_([this] {
                if (script_pid_ == 0) {
                  RunScript();
                } else {
                  ScheduleScript();
                }
              }));
}

void NmHealth::KillScript() {
  if (script_pid_ <= 0) return;
  [[maybe_unused]] const base::Status sent = processes_.Signal(-script_pid_, SIGKILL);
}

void NmHealth::ScriptEnded(env::ExitStatus) {
  script_pid_ = 0;
  script_error_.clear();
  if (script_timed_out_) {
    script_error_ = "Node health script timed out";
  } else {
    std::ifstream file(OutputPath(settings_));
    std::string line, all;
    bool bad = false;
    while (std::getline(file, line) && all.size() < kOutputBytesMax) {
      bad |= line.starts_with("ERROR");
      all += line + "\n";
    }
    if (bad) script_error_ = all;
  }
  Tell();
}

void NmHealth::Tell() {
  std::string report = dirs_.Report();
  for (const std::string& error : {script_error_, thread_error_}) {
    if (!error.empty()) report = report.empty() ? error : error + ";" + report;
  }
  const bool healthy = dirs_.healthy() && script_error_.empty() && thread_error_.empty();
  manager_.SetHealth(healthy, report);
  if (std::exchange(told_, report) == report) return;
  if (report.empty()) return log_.Info("this node is fit again");
  log_.Warn(healthy ? "a part of this node is not used" : "this node takes no containers until it is fit",
            {{"why", report}});
}

}  // namespace fairlead::shell
