#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/alive.h"
#include "env/audit.h"
#include "env/gss.h"
#include "env/loop.h"
#include "process/http/server.h"
#include "process/login/callers.h"
#include "process/login/cookie.h"

namespace fairlead::process::login {

/// What a web port believes.
enum class WebMode : uint8_t {
  kNames,     // the name that a request gives: hadoop.security.authentication is simple
  kReadOnly,  // no name, and nothing is changed: Kerberos, and hadoop.http.authentication.type is simple
  kTickets,   // a ticket of Kerberos (SPNEGO), a cookie that one gave, a delegation token
  kCallers,   // the kernel's word, a credential (fairlead.auth=credentials)
};

/// hadoop.http.authentication.*
struct WebSecurity {
  WebMode mode = WebMode::kNames;
  std::string nobody = "dr.who";  // hadoop.http.staticuser.user: whose rights count where a request gives no name
  env::Gss* gss = nullptr;  // as HTTP/HOST, outlives the ports; null with kTickets: there is no key, nobody logs in
  std::function<base::Result<std::string>(const std::string& principal)> short_name = {};
  std::string secret = {};  // signs cookies; empty: one of this process
  base::Duration cookie_life = base::Duration::Seconds(36'000);
  std::string cookie_domain = {};
  bool cookie_stays = false;                        // when the browser ends
  bool https = false;                               // of the pages: cookies go nowhere else
  std::string strict_transport = {};                // Strict-Transport-Security of every answer; empty: none
  std::shared_ptr<const CallerRules> callers = {};  // of kCallers, and of the ports of RPC beside it
  env::Audit audit = {};
};

/// What one web port has besides.
struct WebLoginOptions {
  WebSecurity security;
  std::string cookie_type = "kerberos";  // of Hadoop's handler, which takes no other's cookies
  /// Delegation tokens; empty: there are none.
  std::function<base::Result<endpoints::yarn::TokenSecret>(std::string_view identifier)> token = {};
  /// Whether the caller, who has a real user, may act so (hadoop.proxyuser); empty: nobody may.
  using Done = std::function<void(const base::Status&)>;
  std::function<void(const endpoints::yarn::Caller&, const std::string& address, Done)> impersonate = {};
  /// Credentials of clients, "fl1.NAME.SERIAL"; empty: there are none.
  std::function<base::Result<endpoints::yarn::TokenSecret>(std::string_view identifier)> credential = {};
  /// Of a node's port: whose pass (node_pass.h) it is; and where a browser gets one, to come back to `target`. Empty:
  /// none are taken.
  std::function<std::optional<std::string>(std::string_view pass)> pass = {};
  std::function<std::string(const std::string& target)> pass_page = {};
  /// Answers PUT ?op=CANCELDELEGATIONTOKEN, for which Hadoop asks for no login: who has a token may end it. Nothing
  /// else gets such a request. Empty: it is as others.
  http::Server::Handler cancel = {};
};

/// Stands before a web port and says who asks (http::Request::visitor):
/// org.apache.hadoop.security.authentication.server. AuthenticationFilter with KerberosAuthenticationHandler (RFC 4559)
/// and DelegationTokenAuthenticationFilter. `doAs` acts for another user under the rules of proxy users, also where
/// names are believed. What is given as a secret in the address is taken out of it: nothing behind sees or passes it
/// on.
class WebLogin {
 public:
  WebLogin(env::Loop& loop, WebLoginOptions options);

  using Next = std::function<void(http::Request, http::Server::Reply)>;
  /// Calls `next` for a request that may pass, now or later, or answers it: 401 for nobody, 403 for a ticket, token or
  /// doAs that is refused. A step of a ticket runs off the loop (env::Gss).
  void Enter(http::Request request, http::Server::Reply reply, Next next);

  uint64_t refused() const { return refused_; }

 private:
  struct Visit;
  using Held = std::shared_ptr<Visit>;
  bool ByToken(const Held& visit);
  void ByCredential(const Held& visit, std::string_view text);
  void ByConnection(const Held& visit);
  bool ByPass(const Held& visit);
  bool ByCookie(const Held& visit);
  void ByTicket(const Held& visit, std::string_view credentials);
  void TicketStepped(const Held& visit, const base::Result<env::GssContext::Token>& token);
  /// The visitor is known: acts for another, or goes on.
  void ActFor(const Held& visit);
  void Pass(const Held& visit);
  void AskForTicket(const Held& visit);
  /// Sends a browser to where a node's pages get passes.
  void AskForCredential(const Held& visit, const std::string& why);
  void LoggedIn(const Held& visit, const std::string& who) const;
  void LoginFailed(const Held& visit, const std::string& why) const;
  void LetNobodyIn(const Held& visit, const std::string& why);
  void Refuse(const Held& visit, const std::string& exception, const std::string& why);
  std::string CookieHeader(const std::string& value) const;

  env::Loop& loop_;
  WebLoginOptions options_;
  uint64_t refused_ = 0;
  env::Alive alive_;
};

/// What a web server of that security takes of connections themselves.
http::Server::Vouch VouchOf(const WebSecurity& security);

/// Who asks, as RPC would have it.
endpoints::yarn::Caller RpcCallerOf(const http::Request& request);

}  // namespace fairlead::process::login
