#include "shell/rm/application_tokens.h"

#include <string>
#include <utility>

#include "process/rm/token_services.h"
#include "rm/life_cycles.h"

namespace fairlead::shell {

using process::rm::TokenRenewer;

namespace {

TokenRenewer::Services Services(env::Loop& loop, env::Net& net, process::rm::ResourceManager& manager,
                                const std::vector<process::rm::TokenIssuer>& issuers) {
  TokenRenewer::Services out;
  out.emplace("RM_DELEGATION_TOKEN", process::rm::MakeOwnTokenService(loop, *manager.delegation()));
  const process::rm::ResourceManagerOptions& options = manager.options();
  for (const process::rm::TokenIssuer& issuer : issuers) {
    out.emplace(issuer.kind,
                process::rm::MakeRpcTokenService(loop, net, issuer, options.security.ForCalls(), options.login_user));
  }
  return out;
}

}  // namespace

ApplicationTokens::ApplicationTokens(env::Loop& loop, env::Net& net, env::Log& log,
                                     process::rm::ResourceManager& manager,
                                     const std::vector<process::rm::TokenIssuer>& issuers,
                                     process::rm::RenewalTimes times)
    : log_(log),
      manager_(manager),
      renewer_(loop, Services(loop, net, manager, issuers), times,
               [&log](const std::string& text) { log.Warn(text); }) {
  manager.core().ForEachApp([this](const fairlead::rm::App& app) {
    if (!fairlead::rm::IsOver(app.state)) Begin(app, TokenRenewer::Patience::kOfOneThatRuns);
  });
}

void ApplicationTokens::Note(const model::rm::StateChanged& change) {
  if (change.app.number == 0 || change.subject != ToString(change.app)) return;
  const fairlead::rm::App* app = manager_.core().FindApp(change.app);
  if (app && !fairlead::rm::IsOver(app->state)) return Begin(*app, TokenRenewer::Patience::kOfASubmission);
  known_.erase(change.app);
  renewer_.Remove(change.app);
}

void ApplicationTokens::Begin(const fairlead::rm::App& app, TokenRenewer::Patience patience) {
  const model::ApplicationId id = app.submission.id;
  if (!known_.insert(id).second) return;
  const auto told = [this, id](const base::Status& renewed) {
    if (renewed.ok()) return;
    log_.Warn("an application ends with its token", {{"application", ToString(id)}, {"why", renewed.error().message}});
    model::rm::KillApp event;
    event.app = id;
    event.diagnostics = renewed.error().message;
    manager_.Ask(std::move(event), [](const model::rm::OuterEffect&) {});
  };
  renewer_.Add(id, app.submission.context, told, patience);
}

}  // namespace fairlead::shell
