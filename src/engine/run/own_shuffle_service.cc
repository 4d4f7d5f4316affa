#include "engine/run/own_shuffle_service.h"

#include "env_posix/posix_page_cache.h"
#include "wire/spark_shuffle/passed_block.h"

namespace fairlead::engine {

namespace {

process::shuffle::Config ConfigFor(std::vector<std::string> roots, const wire::spark_transport::Security& security) {
  process::shuffle::Config config;
  config.core.local_roots = std::move(roots);
  config.core.sweep = false;  // it ends with its executor
  if (security.authenticates()) {
    endpoints::shuffle::SecurityConfig& theirs = config.session.security;
    theirs.authenticate = true;
    theirs.crypto = security.crypto;
    theirs.version = security.version;
    theirs.cipher = security.cipher;
    config.cluster_secret = security.secret;
  }
  return config;
}

}  // namespace

OwnShuffleService::OwnShuffleService(env_posix::PosixLoop& loop, std::vector<std::string> roots,
                                     const wire::spark_transport::Security& security)
    : loop_(loop),
      config_(ConfigFor(std::move(roots), security)),
      disk_(env_posix::MakePosixDisk()),
      page_cache_(env_posix::MakePosixPageCache()),
      service_(loop, *disk_, nullptr, log_, config_),
      worker_(loop, loop, *disk_, page_cache_.get(), log_, config_, service_) {}

base::Result<env::Endpoint> OwnShuffleService::Listen(const std::string& host) {
  if (const base::Result<size_t> recovered = service_.Recover(); !recovered) return recovered.error();
  service_.AddWorker(worker_);
  if (const base::Status listening = worker_.Listen({host, 0}); !listening.ok()) return listening.error();
  // Without it readers of this host come over TCP.
  (void)worker_.ListenLocal(loop_, wire::spark_shuffle::LocalServiceName(worker_.local().host, worker_.local().port));
  return env::Endpoint{host, worker_.local().port};
}

}  // namespace fairlead::engine
