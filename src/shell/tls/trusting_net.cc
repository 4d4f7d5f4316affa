#include "shell/tls/trusting_net.h"

#include <utility>

namespace fairlead::shell {

std::unique_ptr<TrustingNet> TrustingNet::Open(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log,
                                               const TlsFiles& trust) {
  auto tls = OpenTrust(trust, disk);
  if (tls.ok()) return std::make_unique<TrustingNet>(loop, net, std::move(*tls));
  log.Warn("pages that are HTTPS are not shown below /proxy/: whom to trust cannot be read",
           {{"reason", tls.error().message}});
  return nullptr;
}

}  // namespace fairlead::shell
