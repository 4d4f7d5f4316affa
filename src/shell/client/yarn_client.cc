#include "shell/client/yarn_client.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "endpoints/yarn/exceptions.h"
#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "process/rpc/rpc_client.h"
#include "wire/yarn/protocols.h"

namespace fairlead::shell {
namespace {

using base::Duration;
using process::rpc::RpcError;
using process::rpc::RpcErrorKind;

constexpr Duration kCallTimeout = Duration::Seconds(30);
constexpr int64_t kRetryPauseMs = 200;

/// An address that may be a wildcard as one that can be connected to.
env::Endpoint Connectable(env::Endpoint endpoint) {
  if (endpoint.host == "0.0.0.0" || endpoint.host == "::") endpoint.host = "127.0.0.1";
  return endpoint;
}

class BlockingYarnClient final : public YarnClient {
 public:
  BlockingYarnClient(env::Endpoint rm, env::Endpoint web, std::string user)
      : loop_(env_posix::MakePosixLoop()),
        rpc_(*loop_, *loop_),
        target_{std::move(rm), std::string(wire::yarn::kApplicationClientProtocol), {user, "", std::nullopt}},
        web_(std::move(web)),
        user_(std::move(user)) {}

  void SetPatience(Duration patience) override { patience_ = patience; }

  base::Result<std::string> CallRaw(std::string_view method, std::string_view request) override {
    const base::Instant give_up = loop_->Now() + patience_;
    while (true) {
      const auto answer = CallOnce(method, request);
      if (answer.ok()) return *answer;
      const RpcError& error = answer.error();
      if (error.kind == RpcErrorKind::kRemote) return Remote(error.remote);
      const bool retry = error.kind == RpcErrorKind::kConnect || error.kind == RpcErrorKind::kCut;
      if (!retry || loop_->Now() > give_up) {
        return base::Error{"the resource manager at " + target_.address.ToString() + " does not answer: " +
                               error.message + "; is it running, and is this the right configuration?",
                           kRmUnreachable};
      }
      Pause(kRetryPauseMs);
    }
  }

  base::Result<process::http::Response> Get(const std::string& target) override { return Fetch(web_, target); }

  base::Result<process::http::Response> GetUrl(const std::string& url) override {
    constexpr std::string_view kScheme = "http://";
    if (!url.starts_with(kScheme)) return base::Error{url + ": only http:// is read"};
    const std::string rest = url.substr(kScheme.size());
    const size_t slash = rest.find('/');
    const auto endpoint = env::ParseEndpoint(rest.substr(0, slash), 80);
    if (!endpoint) return endpoint.error();
    return Fetch(*endpoint, slash == std::string::npos ? "/" : rest.substr(slash));
  }

  void Pause(int64_t milliseconds) override {
    loop_->After(Duration::Millis(milliseconds), [this] { loop_->Stop(); });
    loop_->Run();
  }

  const std::string& user() const override { return user_; }

 private:
  base::Result<std::string, RpcError> CallOnce(std::string_view method, std::string_view request) {
    base::Result<std::string, RpcError> result = RpcError{};
    rpc_.Call(target_, method, std::string(request), kCallTimeout, [&](base::Result<std::string, RpcError> answer) {
      result = std::move(answer);
      loop_->Stop();
    });
    loop_->Run();
    return result;
  }

  base::Result<process::http::Response> Fetch(const env::Endpoint& endpoint, const std::string& target) {
    process::http::ClientRequest request;
    request.endpoint = endpoint;
    request.target = target;
    base::Result<process::http::Response> result = base::Error{"no answer"};
    process::http::Fetch(*loop_, *loop_, request, [&](base::Result<process::http::Response> answer) {
      result = std::move(answer);
      loop_->Stop();
    });
    loop_->Run();
    return result;
  }

  static base::Error Remote(const endpoints::yarn::RemoteException& remote) {
    const std::string_view name = endpoints::yarn::SimpleName(remote.class_name);
    const bool not_found = name.find("NotFoundException") != std::string_view::npos;
    return {remote.message.empty() ? std::string(name) : remote.message, not_found ? kRmNotFound : kRmRefused};
  }

  std::unique_ptr<env_posix::PosixLoop> loop_;
  process::rpc::RpcClient rpc_;
  process::rpc::RpcTarget target_;
  env::Endpoint web_;
  std::string user_;
  Duration patience_ = Duration::Seconds(3);
};

}  // namespace

base::Result<std::unique_ptr<YarnClient>> YarnClient::Create(const config::HadoopConf& conf, const std::string& user) {
  const auto rm = env::ParseEndpoint(conf.String("yarn.resourcemanager.address"), 8032);
  if (!rm) return base::Error{"yarn.resourcemanager.address: " + rm.error().message};
  const auto web = env::ParseEndpoint(conf.String("yarn.resourcemanager.webapp.address"), 8088);
  if (!web) return base::Error{"yarn.resourcemanager.webapp.address: " + web.error().message};
  return std::unique_ptr<YarnClient>(std::make_unique<BlockingYarnClient>(Connectable(*rm), Connectable(*web), user));
}

std::string CurrentUser() {
  if (const char* name = std::getenv("HADOOP_USER_NAME"); name != nullptr && *name != '\0') return name;
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::geteuid());
}

}  // namespace fairlead::shell
