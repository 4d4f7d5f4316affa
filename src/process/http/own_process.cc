#include "process/http/own_process.h"

#include <cstdio>
#include <utility>

#include "process/http/metrics.h"

namespace fairlead::process::http {

namespace {

std::function<std::optional<env::OwnProcess>()>& Reader() {
  static std::function<std::optional<env::OwnProcess>()> read;
  return read;
}

std::string Seconds(const char* name, const char* help, const char* type, double seconds) {
  char text[300];
  std::snprintf(text, sizeof text, "# HELP %s %s\n# TYPE %s %s\n%s %.2f\n", name, help, name, type, name, seconds);
  return text;
}

}  // namespace

void SetOwnProcess(std::function<std::optional<env::OwnProcess>()> read) { Reader() = std::move(read); }

std::optional<env::OwnProcess> ReadOwnProcess() { return Reader() ? Reader()() : std::nullopt; }

std::string OwnProcessMetrics() {
  const auto own = ReadOwnProcess();
  if (!own) return {};
  MetricsText out("process_");
  out.Gauge("resident_memory_bytes", "Memory in RAM in bytes", own->resident_bytes);
  out.Gauge("virtual_memory_bytes", "Address space in bytes", own->virtual_bytes);
  out.Gauge("threads", "Threads", own->threads);
  out.Gauge("open_fds", "Open files, sockets included", own->open_files);
  out.Gauge("max_fds", "Most files that may be open", own->open_files_max);
  return Seconds("process_cpu_seconds_total", "User and system CPU time in seconds", "counter", own->cpu_seconds) +
         Seconds("process_start_time_seconds", "When the process started, in seconds since 1970", "gauge",
                 own->start_seconds) +
         out.text();
}

}  // namespace fairlead::process::http
