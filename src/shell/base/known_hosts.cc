#include "shell/base/known_hosts.h"

#include "env/net.h"
#include "env_posix/host_names.h"

namespace fairlead::shell {
namespace {

constexpr char kHostsKey[] = "fairlead.http.hosts";

bool NamesHosts(const std::string& key) {
  return key.find("address") != std::string::npos || key.find("hostname") != std::string::npos;
}

}  // namespace

process::http::KnownHosts ReadKnownHosts(const config::HadoopConf& conf, std::vector<std::string>& warnings) {
  process::http::KnownHosts out;
  for (const std::string& name : env_posix::OwnHostNames()) out.AddName(name);
  for (const auto& [key, raw] : conf.Explicit()) {
    if (!NamesHosts(key)) continue;
    for (const std::string& address : conf.List(key)) {
      if (const auto endpoint = env::ParseEndpoint(address, 1)) out.AddName(endpoint->host);
    }
  }
  for (const std::string& name : conf.List(kHostsKey)) {
    if (name == "*") {
      out.any = true;
      warnings.push_back(std::string(kHostsKey) +
                         " is *: web pages of strangers can reach this daemon under a name of theirs (DNS rebinding)");
    } else {
      out.AddProxy(name);
    }
  }
  return out;
}

}  // namespace fairlead::shell
