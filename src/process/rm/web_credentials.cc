#include <utility>

#include "endpoints/rest/request_body.h"
#include "endpoints/v1/amount.h"
#include "endpoints/v1/credentials.h"
#include "process/login/node_pass.h"
#include "process/rm/scheme.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// Credentials of other machines by Fairlead's own REST (fairlead.auth=credentials), for `fairlead credentials`.

namespace fairlead::process::rm {

namespace v1 = endpoints::v1;

// GET credentials; PUT credentials/NAME {"kind": "node" | "client", "user": U, "host": H}: makes one, or renews it;
// DELETE credentials/NAME.
void Web::Credentials(const http::Request& request, const Segments& path, const Reply& reply) {
  CredentialStore* known = manager_.credentials();
  if (known == nullptr) return OwnError(reply, 404, "no credentials are taken here: fairlead.auth is not credentials");
  const std::string user = http::CallerOf(request);
  // Who is only believed has shown nothing, and who acts for another has shown that he is somebody else.
  const bool shown = request.visitor && request.visitor->real_user.empty();
  if (!shown || !manager_.access().MayMakeCredentials(user)) {
    return OwnError(reply, 403,
                    user +
                        " may not do that: the resource manager's own user, root, and the administrators whom "
                        "yarn.admin.acl names may");
  }
  if (path.empty()) {
    v1::Credentials all;
    for (const auto& [name, one] : known->all()) {
      all.credentials.push_back({name, one.node ? "node" : "client", one.user, one.host, one.made_ms, one.made_by});
    }
    return reply(http::JsonResponse(200, v1::Text(all)));
  }
  const std::string& name = path[0];
  const auto note = [this, actor = http::ActorOf(request), peer = request.peer](const std::string& what) {
    manager_.NoteAction(actor, peer, what, {}, "", "");
  };
  if (request.method == "DELETE") {
    return known->Revoke(name, [reply, note, name](const base::Status& done) {
      if (!done.ok()) return OwnError(reply, 404, done.error().message);
      note("credential " + name + " is revoked");
      reply(http::JsonResponse(200, v1::Text(v1::RevokedCredential{name})));
    });
  }
  const auto body = endpoints::rest::ParseBody("application/json", request.body, "credential");
  if (!body.ok()) return OwnError(reply, 400, body.error().message);
  const std::string kind = endpoints::rest::Text(*body, "kind");
  if (kind != "node" && kind != "client") return OwnError(reply, 400, "write {\"kind\": \"node\" or \"client\"}");
  const CredentialStore::Wanted wanted{name, kind == "node",
                                       kind == "client" ? endpoints::rest::Text(*body, "user", name) : "",
                                       endpoints::rest::Text(*body, "host"), user};
  known->Make(wanted, [reply, note, name, kind](const base::Result<std::string>& made) {
    if (!made.ok()) return OwnError(reply, 400, made.error().message);
    note("credential " + name + " of a " + kind + " is made");
    reply(http::JsonResponse(200, v1::Text(v1::MadeCredential{*made})));
  });
}

// GET pass?node=HOST:PORT: lets who asks see the pages of that node for a while (login/node_pass.h); with &to=PATH a
// browser is sent there.
void Web::NodePass(const http::Request& request, const Reply& reply) {
  if (manager_.credentials() == nullptr) {
    return OwnError(reply, 404, "no passes are given here: fairlead.auth is not credentials");
  }
  const std::string_view address = Asked(request.query, "node");
  bool known = false;
  manager_.core().ForEachNode([&](const Node& node) { known = known || node.HttpAddress() == address; });
  const auto at = env::ParseEndpoint(address);
  if (!known || !at.ok()) return OwnError(reply, 404, "no node has its pages there; write node=HOST:PORT");
  const auto pass =
      login::MakePass(http::CallerOf(request), *at, manager_.keys().node().current.bytes, manager_.now_wall().ms);
  if (!pass) return OwnError(reply, 400, "no pass can carry this user's name");
  const std::string to(Asked(request.query, "to"));
  if (to.empty()) {
    http::Response response = http::JsonResponse(200, v1::Text(v1::NodePass{*pass, login::kPassLife.millis()}));
    response.headers.emplace_back("Cache-Control", "no-store");
    return reply(std::move(response));
  }
  if (!to.starts_with('/') || !http::IsVisible(to)) return OwnError(reply, 400, "write to=/PATH");
  reply(http::Redirect(SchemeOf(manager_.core().config().web_base) + at->ToString() + to +
                       (to.find('?') == std::string::npos ? "?" : "&") + std::string(login::kPassParameter) + "=" +
                       http::PercentEncode(*pass)));
}

}  // namespace fairlead::process::rm
