#include "shell/tls/web_tls.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace fairlead::shell {

base::Result<std::unique_ptr<WebTls>> WebTls::Open(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log,
                                                   const TlsFiles& files) {
  process::tls::TlsFilesSource source = ServerSource(files, disk);
  source.on_changed = [&log, file = files.paths.front()](const base::Status& status) {
    if (status.ok()) return log.Info("the certificate of the pages has changed", {{"file", file}});
    log.Error("the changed certificate is refused; the earlier one stays", {{"reason", status.error().message}});
  };
  std::unique_ptr<WebTls> out(new WebTls(loop, net, std::move(source)));
  if (const base::Status& opened = out->tls_.opened(); !opened.ok()) {
    return base::Error{"HTTPS cannot be spoken: " + opened.error().message};
  }
  const std::string& key = files.paths.back();
  std::error_code unknown;
  const auto file = std::filesystem::status(key, unknown);  // a link is followed
  if (!unknown && (file.permissions() & std::filesystem::perms::others_read) != std::filesystem::perms::none) {
    log.Warn("everybody on this machine can read the key of the pages; chmod 0400", {{"file", key}});
  }
  return out;
}

}  // namespace fairlead::shell
