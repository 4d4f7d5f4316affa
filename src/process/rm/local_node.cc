#include "process/rm/local_node.h"

#include "env/net.h"
#include "process/http/http.h"

namespace fairlead::process::rm {

base::Status CheckLocalNode(const std::string& host, const std::string& ip, const std::string& peer) {
  if (host.size() > 255 || !http::IsVisible(host)) return base::Error{"a node says no host that could be one"};
  if (env::IsLoopback(host) || host == peer || (!ip.empty() && (env::IsLoopback(ip) || ip == peer))) return {};
  return base::Error{"A node on this machine that shows no credential says that it is " + host + ", which leads to " +
                     (ip.empty() ? "no address" : ip) + " and not to " + peer +
                     "; correct its yarn.nodemanager.hostname, or 'fairlead credentials make --node NAME' makes a file "
                     "for it"};
}

}  // namespace fairlead::process::rm
