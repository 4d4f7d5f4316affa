#include "shell/rm/rack_lookup.h"

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "config/hadoop_conf.h"
#include "env_posix/posix_loop.h"

namespace fairlead::shell {

namespace {

/// Runs the topology script with one host; its first word is the rack. A host from the wire never reaches a shell.
std::string RunScript(const std::string& script, const std::string& host) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";  // other look-ups fork meanwhile
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return "";
  }
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    execl(script.c_str(), script.c_str(), host.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char bytes[512];
  ssize_t n = 0;
  while ((n = read(ends[0], bytes, sizeof(bytes))) > 0 && text.size() < 4096)
    text.append(bytes, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return "";
  std::istringstream words(text);
  std::string rack;
  words >> rack;
  return rack;
}

}  // namespace

base::Result<std::function<std::string(const std::string&)>> RackLookup(const config::HadoopConf& conf) {
  using Lookup = std::function<std::string(const std::string&)>;
  const std::string table_file = conf.String("net.topology.table.file.name");
  const std::string script = conf.String("net.topology.script.file.name");
  if (!table_file.empty()) {
    base::Result<std::string> text = env_posix::MakePosixDisk()->ReadFile(table_file, uint64_t{16} << 20);
    if (!text.ok()) return base::Error{"net.topology.table.file.name: " + table_file + ": " + text.error().message};
    auto racks = std::make_shared<std::map<std::string, std::string>>();
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string host, rack;
      if (words >> host >> rack && host[0] != '#') (*racks)[host] = rack;
    }
    return Lookup([racks](const std::string& host) {
      const auto it = racks->find(host);
      return it == racks->end() ? std::string("/default-rack") : it->second;
    });
  }
  if (!script.empty()) {
    struct Known {
      std::mutex mutex;
      std::map<std::string, std::string> racks;
    };
    return Lookup([known = std::make_shared<Known>(), script](const std::string& host) {
      {
        const std::lock_guard lock(known->mutex);
        if (const auto it = known->racks.find(host); it != known->racks.end()) return it->second;
      }
      std::string rack = host.starts_with("-") ? "" : RunScript(script, host);
      if (rack.empty()) return std::string("/default-rack");  // asked again next time
      const std::lock_guard lock(known->mutex);
      if (known->racks.size() < 100'000) known->racks[host] = rack;
      return rack;
    });
  }
  return Lookup([](const std::string&) { return std::string("/default-rack"); });
}

}  // namespace fairlead::shell
