#include "shell/tls/trusting_net.h"

#include <utility>

namespace fairlead::shell {

namespace {

process::tls::TlsFilesSource Told(process::tls::TlsFilesSource source, env::Log& log) {
  source.on_changed = [&log](const base::Status& status) {
    if (status.ok()) return log.Info("whom to trust for pages below /proxy/ has changed", {});
    log.Error("the changed trust for pages below /proxy/ is refused; the earlier one stays",
              {{"reason", status.error().message}});
  };
  return source;
}

}  // namespace

TrustingNet::TrustingNet(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log, const TlsFiles& trust)
    : TlsConnecting(loop, net, tls_), tls_(loop, Told(TrustSource(trust, disk), log)) {
  if (tls_.opened().ok()) return;
  log.Warn("pages that are HTTPS are not shown below /proxy/: whom to trust cannot be read",
           {{"reason", tls_.opened().error().message}});
}

void TrustingNet::Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) {
  if (tls_.opened().ok()) return TlsConnecting::Connect(endpoint, timeout, std::move(done));
  done(base::Error{"it is HTTPS, and whom to trust cannot be read; the log says why"});
}

}  // namespace fairlead::shell
