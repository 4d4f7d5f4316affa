#include "shell/base/open_ports.h"

namespace fairlead::shell {

std::string OpenPortsWarning(const std::vector<env::Endpoint>& listeners, const std::string& means) {
  std::string open;
  for (const env::Endpoint& endpoint : listeners) {
    if (!env::IsLoopback(endpoint.host)) open += (open.empty() ? "" : ", ") + endpoint.ToString();
  }
  if (open.empty()) return "";
  return "OPEN TO THE NETWORK WITHOUT AUTHENTICATION on " + open + ": " + means +
         "; keep these ports behind a firewall or bind them to 127.0.0.1";
}

}  // namespace fairlead::shell
