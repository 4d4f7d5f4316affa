#include "shell/tls/web_tls.h"

#include <utility>

namespace fairlead::shell {

WebTls::WebTls(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log, TlsFiles files)
    : disk_(disk), log_(log), files_(std::move(files)), net_(loop, net, *this), timer_(loop) {}

base::Result<std::unique_ptr<WebTls>> WebTls::Open(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log,
                                                   TlsFiles files) {
  std::unique_ptr<WebTls> out(new WebTls(loop, net, disk, log, std::move(files)));
  out->seen_ = out->Look();
  base::Result<std::shared_ptr<env::Tls>> opened = OpenServerTls(out->files_, disk);
  if (!opened.ok()) return base::Error{"HTTPS cannot be spoken: " + opened.error().message};
  out->current_ = std::move(*opened);
  for (const std::string& path : out->files_.paths) {
    const base::Result<env::FileInfo> file = disk.Stat(path);
    if (file.ok() && (file->mode & 0004) != 0 && path == out->files_.paths.back()) {
      log.Warn("everybody on this machine can read the key of the pages; chmod 0400", {{"file", path}});
    }
  }
  out->Watch();
  return out;
}

WebTls::Seen WebTls::Look() {
  Seen out;
  for (const std::string& path : files_.paths) {
    const base::Result<env::FileInfo> file = disk_.Stat(path);
    out.emplace_back(file.ok() ? file->modified : base::WallTime{}, file.ok() ? file->size : 0);
  }
  return out;
}

void WebTls::Watch() {
  if (files_.look.ns == 0) return;
  timer_.After(files_.look, [this] {
    if (Seen now = Look(); now != seen_) {
      seen_ = std::move(now);
      base::Result<std::shared_ptr<env::Tls>> opened = OpenServerTls(files_, disk_);
      if (opened.ok()) {
        current_ = std::move(*opened);
        log_.Info("the certificate of the pages has changed", {{"file", files_.paths.front()}});
      } else {
        log_.Error("the changed certificate is refused; the earlier one stays", {{"reason", opened.error().message}});
      }
    }
    Watch();
  });
}

}  // namespace fairlead::shell
