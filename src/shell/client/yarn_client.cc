#include "shell/client/yarn_client.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/rm_members.h"
#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/url_token.h"
#include "env_kerberos/mit_gss.h"
#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "process/login/cookie.h"
#include "process/rpc/rpc_client.h"
#include "process/tls/tls_net.h"
#include "shell/callers/credential.h"
#include "shell/client/client_login.h"
#include "shell/client/ha_client.h"
#include "shell/client/token_file.h"
#include "shell/kerberos/kerberos.h"
#include "shell/tls/tls.h"
#include "wire/hadoop_rpc/base64.h"
#include "wire/json/json.h"
#include "wire/yarn/protocols.h"

namespace fairlead::shell {
namespace {

using base::Duration;
using process::rpc::RpcError;
using process::rpc::RpcErrorKind;

constexpr char kHttps[] = "https://";
constexpr int64_t kRetryPauseMs = 200;
constexpr Duration kPatience = Duration::Millis(500);
constexpr Duration kPatienceForTakeover = Duration::Seconds(20);

constexpr char kGetTicket[] = "; kinit gets a ticket, klist shows it";
constexpr char kByTokenFile[] = " by the delegation token of HADOOP_TOKEN_FILE_LOCATION";

/// By what a command logs in.
enum class Login : uint8_t { kName, kTicket, kCredential, kToken };

Login LoginOf(const endpoints::yarn::RpcUser& user) {
  if (user.token) return IsManagerToken(*user.token) ? Login::kToken : Login::kCredential;
  return user.server_principal.empty() ? Login::kName : Login::kTicket;
}

/// `server` answered, and did not let the caller in: whose fault that may be, and what to do.
base::Error LoginRefused(const std::string& server, Login login, const RpcError& error) {
  std::string by, then;
  switch (login) {
    case Login::kCredential:
      by = std::string(" with the credential of ") + kCredential;
      break;
    case Login::kTicket:
      by = " by Kerberos";
      then = kGetTicket;
      break;
    case Login::kToken:
      by = kByTokenFile;
      break;
    case Login::kName:
      by = " by name";
      then =
          "; where the cluster has Kerberos, name its core-site.xml (hadoop.security.authentication=kerberos) with "
          "--hadoop-conf and get a ticket with kinit; without a KDC 'fairlead join' keeps its credential";
  }
  return {"cannot log in to " + server + by + ": " + error.message + then, kRmRefused};
}

/// Where one resource manager is.
struct Manager {
  std::string id;  // of one of several
  env::Endpoint rpc;
  env::Endpoint web;
};

class BlockingYarnClient final : public YarnClient {
 public:
  BlockingYarnClient(std::unique_ptr<env_posix::PosixLoop> loop, std::vector<Manager> managers, std::string user,
                     ClientLogin login)
      : loop_(std::move(loop)),
        token_(login.manager_token),
        gss_(std::move(login.gss)),
        rpc_(*loop_, *loop_, {}, {gss_.get(), std::move(login.protections)}),
        managers_(std::move(managers)),
        target_{managers_[0].rpc, std::string(wire::yarn::kApplicationClientProtocol), UserAt(login, user)},
        credential_(std::move(login.credential)),
        web_principal_(std::move(login.web_principal)),
        scheme_(std::move(login.scheme)),
        tls_(std::move(login.tls)),
        user_(std::move(user)),
        patience_(managers_.size() > 1 ? kPatienceForTakeover : kPatience) {}

  void SetPatience(Duration patience) override { patience_ = patience; }

  base::Result<std::string> CallRaw(std::string_view method, std::string_view request) override {
    const base::Instant give_up = loop_->Now() + patience_;
    for (size_t tried = 1;; ++tried) {
      const auto answer = CallOnce(method, request);
      if (answer.ok()) return *answer;
      const RpcError& error = answer.error();
      const bool standby = error.remote.class_name == endpoints::yarn::exceptions::kStandby;
      if (error.kind == RpcErrorKind::kRemote && !standby) return Remote(error.remote);
      // Who calls was shown, and may not: another ticket would not help.
      if (error.remote.class_name == endpoints::yarn::exceptions::kAuthorization) return Remote(error.remote);
      if (error.kind == RpcErrorKind::kLogin && !standby) {
        return LoginRefused("the resource manager at " + target_.address.ToString(), LoginOf(target_.user), error);
      }
      const bool retry = error.kind == RpcErrorKind::kConnect || error.kind == RpcErrorKind::kCut || standby;
      if (!retry || loop_->Now() > give_up) {
        const std::string why =
            error.message.substr(error.message.rfind(": ") == std::string::npos ? 0 : error.message.rfind(": ") + 2);
        return base::Error{"the resource manager at " + target_.address.ToString() + " does not answer: " + why +
                               "; start one with 'fairlead up', or name another's files with --hadoop-conf",
                           kRmUnreachable};
      }
      AskAnother();
      if (tried % managers_.size() == 0) Pause(kRetryPauseMs);
    }
  }

  std::vector<std::pair<std::string, std::string>> Managers() const override {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Manager& manager : managers_) out.emplace_back(manager.id, scheme_ + manager.web.ToString());
    return out;
  }

  std::string Page() const override { return scheme_ + managers_[current_].web.ToString(); }

  base::Result<process::http::Response> Ask(const std::string& method, const std::string& target,
                                            const std::string& body) override {
    const base::Instant give_up = loop_->Now() + patience_;
    for (size_t tried = 1;; ++tried) {
      process::http::ClientRequest request;
      request.endpoint = managers_[current_].web;
      request.scheme = scheme_;
      request.method = method;
      request.target = target;
      request.body = body;
      if (!body.empty()) request.headers = {{"Content-Type", "application/json"}};
      auto answer = Fetch(std::move(request));
      // A standby sends elsewhere, or says that nobody leads.
      const bool elsewhere = !answer.ok() || answer->status == 307 || answer->status == 503;
      if (managers_.size() == 1 || !elsewhere || loop_->Now() > give_up) return answer;
      AskAnother();
      if (tried % managers_.size() == 0) Pause(kRetryPauseMs);
    }
  }

  base::Result<process::http::Response> GetUrl(const std::string& url) override {
    auto request = url.starts_with(kHttps) ? process::http::ParseUrl(url, kHttps, 443) : process::http::ParseUrl(url);
    if (!request.ok()) return request.error();
    auto answer = FetchOnce(*request);
    // Nodes know no credentials and no processes of another machine.
    if (answer.ok() && answer->status == 401 && !IsManager(request->endpoint) && AddPass(*request)) {
      answer = FetchOnce(*request);
    }
    return Explained(std::move(answer), request->endpoint);
  }

  void Pause(int64_t milliseconds) override {
    loop_->After(Duration::Millis(milliseconds), [this] { loop_->Stop(); });
    loop_->Run();
  }

  const std::string& user() const override { return user_; }

 private:
  void AskAnother() {
    current_ = (current_ + 1) % managers_.size();
    target_.address = managers_[current_].rpc;
  }

  base::Result<std::string, RpcError> CallOnce(std::string_view method, std::string_view request) {
    base::Result<std::string, RpcError> result = RpcError{};
    rpc_.Call(target_, method, std::string(request), kCallTimeout, [&](base::Result<std::string, RpcError> answer) {
      result = std::move(answer);
      loop_->Stop();
    });
    loop_->Run();
    return result;
  }

  /// Shows a ticket, where pages take one and there is one; else the answer is 401.
  std::string AddTicket(process::http::ClientRequest& request) {
    const auto context = gss_->Initiate(web_principal_, request.endpoint.host);
    base::Result<env::GssContext::Token> token = base::Error{"the KDC does not answer"};
    context->Step("", [&](base::Result<env::GssContext::Token> stepped) {
      token = std::move(stepped);
      loop_->Stop();
    });
    loop_->Run();
    if (!token.ok()) return token.error().message;
    request.headers.emplace_back("Authorization", "Negotiate " + wire::hadoop_rpc::EncodeBase64(token->bytes));
    return "";
  }

  bool IsManager(const env::Endpoint& at) const {
    return std::ranges::any_of(managers_, [&](const Manager& one) { return one.web == at; });
  }

  /// The manager's pass for a node's pages, where it gives any.
  bool AddPass(process::http::ClientRequest& request) {
    const auto answer =
        Ask("GET", "/fairlead/v1/pass?node=" + process::http::PercentEncode(request.endpoint.ToString()), "");
    if (!answer.ok() || answer->status != 200) return false;
    const auto told = wire::json::Parse(answer->body, wire::json::kAnswer);
    const std::string pass = told && told->is_object() ? told->value("pass", "") : "";
    if (pass.empty()) return false;
    request.headers.emplace_back("Cookie", std::string(process::login::kCookieName) + "=\"" + pass + "\"");
    return true;
  }

  base::Result<process::http::Response> Fetch(process::http::ClientRequest request) {
    const env::Endpoint at = request.endpoint;
    return Explained(FetchOnce(std::move(request)), at);
  }

  base::Result<process::http::Response> FetchOnce(process::http::ClientRequest request) {
    const auto add = [&](const std::string& name, const std::string& value) {
      request.target += (request.target.find('?') == std::string::npos ? "?" : "&") + name + "=" +
                        process::http::PercentEncode(value);
    };
    // To managers alone: what a node or a master names as its page may be anybody's.
    if (IsManager(request.endpoint) && !credential_.empty())
      request.headers.emplace_back("Authorization", "Bearer " + credential_);
    if (IsManager(request.endpoint) && token_) {
      request.headers.emplace_back("X-Hadoop-Delegation-Token", endpoints::yarn::EncodeUrlToken(*token_));
    }
    if (credential_.empty() && !token_) {
      if (!gss_) add("user.name", user_);
      if (const std::string proxy = ProxyUser(); !proxy.empty()) add("doAs", proxy);
    }
    std::string no_ticket;
    if (!web_principal_.empty() && !token_) no_ticket = AddTicket(request);
    const env::Endpoint at = request.endpoint;
    base::Result<process::http::Response> result = base::Error{"no answer"};
    const bool https = request.scheme == kHttps;
    if (https && !tls_)
      return base::Error{"https:// is read where fairlead.tls.ca (--ca) says whom to trust", kRmRefused};
    std::optional<process::tls::TlsConnecting> secure;
    if (https) secure.emplace(*loop_, *loop_, *tls_);
    env::Net& net = secure ? static_cast<env::Net&>(*secure) : *loop_;
    process::http::Fetch(*loop_, net, std::move(request), [&](base::Result<process::http::Response> answer) {
      result = std::move(answer);
      loop_->Stop();
    });
    loop_->Run();
    if (secure && !secure->failure().empty()) {
      return base::Error{"no TLS with the pages at " + at.ToString() + ": " + secure->failure() +
                             "; --ca FILE (or fairlead.tls.ca) names the certificates that are trusted",
                         kRmRefused};
    }
    if (result.ok() && result->status == 401 && gss_) {
      const std::string to = "cannot log in to the pages at " + at.ToString();
      if (token_) return base::Error{to + kByTokenFile, kRmRefused};
      return base::Error{
          to + " by Kerberos: " + (no_ticket.empty() ? "the ticket is not taken" : no_ticket) + kGetTicket, kRmRefused};
    }
    return result;
  }

  /// What pages that show 401 say is for whoever asked.
  static base::Result<process::http::Response> Explained(base::Result<process::http::Response> answer,
                                                         const env::Endpoint& at) {
    if (!answer.ok() || answer->status != 401) return answer;
    const std::string_view why = std::string_view(answer->body).substr(0, 1000);
    return base::Error{
        "cannot log in to the pages at " + at.ToString() + ": " + std::string(why.substr(0, why.find('\n'))),
        kRmRefused};
  }

  static base::Error Remote(const endpoints::yarn::RemoteException& remote) {
    const std::string_view name = endpoints::yarn::SimpleName(remote.class_name);
    const bool not_found = name.find("NotFoundException") != std::string_view::npos;
    return {remote.message.empty() ? std::string(name) : remote.message, not_found ? kRmNotFound : kRmRefused};
  }

  std::unique_ptr<env_posix::PosixLoop> loop_;
  const std::optional<endpoints::yarn::RpcToken> token_;  // in place of a ticket
  std::unique_ptr<env::Gss> gss_;                         // null without Kerberos
  process::rpc::RpcClient rpc_;
  const std::vector<Manager> managers_;
  size_t current_ = 0;  // of them
  process::rpc::RpcTarget target_;
  const std::string credential_;
  const std::string web_principal_;
  const std::string scheme_;
  const std::shared_ptr<env::Tls> tls_;
  std::string user_;
  Duration patience_;
};

base::Result<Manager> ReadManager(const std::string& id, const config::HadoopConf& conf) {
  const auto rm = env::ParseEndpoint(conf.String("yarn.resourcemanager.address"), 8032);
  if (!rm) return base::Error{"yarn.resourcemanager.address: " + rm.error().message};
  const std::string web_key = WebAddressKey(conf, "yarn.resourcemanager.webapp");
  const auto web = env::ParseEndpoint(conf.String(web_key), IsHttpsOnly(conf) ? 8090 : 8088);
  if (!web) return base::Error{web_key + ": " + web.error().message};
  return Manager{id, Connectable(*rm), Connectable(*web)};
}

}  // namespace

base::Result<std::unique_ptr<YarnClient>> YarnClient::Create(const config::HadoopConf& conf, const std::string& user) {
  std::vector<Manager> managers;
  for (const std::string& id : config::RmIds(conf)) {
    const base::Result<config::HadoopConf> member = config::OfMember(conf, id);
    if (!member.ok()) return member.error();
    const base::Result<Manager> manager = ReadManager(id, *member);
    if (!manager.ok()) return manager.error();
    managers.push_back(*manager);
  }
  if (managers.empty()) {
    const base::Result<Manager> alone = ReadManager("", conf);
    if (!alone.ok()) return alone.error();
    managers.push_back(*alone);
  }
  auto loop = env_posix::MakePosixLoop();
  base::Result<ClientLogin> login = ReadLogin(*loop, conf);
  if (!login.ok()) return login.error();
  std::vector<env::Endpoint> addresses;
  for (const Manager& manager : managers) addresses.push_back(manager.rpc);
  if (base::Status taken = TakeTokenFile(addresses, *login); !taken.ok()) return taken.error();
  return std::unique_ptr<YarnClient>(
      std::make_unique<BlockingYarnClient>(std::move(loop), std::move(managers), user, std::move(*login)));
}

base::Result<std::string> CallHa(const config::HadoopConf& conf, const std::string& user, const std::string& id,
                                 std::string_view method, std::string_view request) {
  constexpr const char* kAddress = "yarn.resourcemanager.admin.address";
  const base::Result<config::HadoopConf> member = config::OfMember(conf, id);
  if (!member.ok()) return member.error();
  const auto address = env::ParseEndpoint(member->String(kAddress), 8033);
  if (!address) return base::Error{std::string(kAddress) + ": " + address.error().message};
  const auto loop = env_posix::MakePosixLoop();
  base::Result<ClientLogin> login = ReadLogin(*loop, conf);
  if (!login.ok()) return login.error();
  process::rpc::RpcClient rpc(*loop, *loop, {}, {login->gss.get(), std::move(login->protections)});
  const process::rpc::RpcTarget target{Connectable(*address), std::string(wire::yarn::kHaServiceProtocol),
                                       UserAt(*login, user)};
  base::Result<std::string, RpcError> answer = RpcError{};
  rpc.Call(target, method, std::string(request), kCallTimeout, [&](base::Result<std::string, RpcError> given) {
    answer = std::move(given);
    loop->Stop();
  });
  loop->Run();
  if (answer.ok()) return *answer;
  if (answer.error().kind == RpcErrorKind::kRemote) {
    return base::Error{answer.error().remote.message, kRmRefused};
  }
  if (answer.error().kind == RpcErrorKind::kLogin) {
    return LoginRefused("the admin port of " + id + " at " + target.address.ToString(), LoginOf(target.user),
                        answer.error());
  }
  return base::Error{
      "the admin port of " + id + " at " + target.address.ToString() + " does not answer: " + answer.error().message,
      kRmUnreachable};
}

std::string CurrentUser() {
  if (const char* name = std::getenv("HADOOP_USER_NAME"); name != nullptr && *name != '\0') return name;
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::geteuid());
}

}  // namespace fairlead::shell
