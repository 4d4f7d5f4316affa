#include "process/rm/submissions.h"

#include <utility>

#include "process/rm/resource_manager.h"
#include "rm/life_cycles.h"

namespace fairlead::process::rm {

namespace m = model::rm;
using endpoints::yarn::RemoteException;

namespace {
constexpr size_t kWaitingMost = 1000;  // applications
constexpr size_t kBytesMost = size_t{256} << 20;
}  // namespace

Submissions::Submissions(env::Loop& loop, ResourceManager& manager, TokenRenewer::Services services,
                         const RenewalTimes& times, std::function<void(const std::string&)> warn)
    : manager_(manager),
      system_credentials_(loop.Wall().ms),
      renewer_(loop, std::move(services), times,
               {warn, [this](const auto& app, const auto& tokens) { system_credentials_.Set(app, tokens); }}) {
  const auto told = [warn = std::move(warn)](const base::Status& renewed) {
    if (!renewed.ok()) warn(renewed.error().message);
  };
  manager.core().ForEachApp([&](const fairlead::rm::App& app) {
    if (fairlead::rm::IsOver(app.state)) return;
    renewer_.Add({app.submission.id, app.submission.user, app.submission.context}, told,
                 TokenRenewer::Patience::kOfOneThatRuns);
  });
}

void Submissions::Take(m::Submission submission, Submitted done) {
  const model::ApplicationId id = submission.id;
  m::Submit event;
  event.submission = std::move(submission);
  if (manager_.core().FindApp(id) != nullptr) return manager_.AskToSubmit(std::move(event), std::move(done));
  if (const auto waits = waiting_.find(id); waits != waiting_.end()) {
    waits->second.told.push_back(std::move(done));
    return;
  }
  const TokenRenewer::Application app{id, event.submission.user, event.submission.context};
  if (waiting_.size() >= kWaitingMost || bytes_ + app.submission.size() > kBytesMost) {
    return done(RemoteException{std::string(endpoints::yarn::exceptions::kIo),
                                std::to_string(waiting_.size()) + " applications wait for their tokens to be " +
                                    "renewed; submit " + ToString(id) + " again later"});
  }
  Waiting& waiting = waiting_[id];
  waiting.told.push_back(std::move(done));
  bytes_ += waiting.bytes = app.submission.size();
  renewer_.Add(app, [this, id, event = std::move(event)](const base::Status& renewed) {
    m::Submit taken = event;
    if (!renewed.ok()) taken.rejected = renewed.error().message;
    manager_.AskToSubmit(std::move(taken), [this, id](const auto& refused) { Tell(id, refused); });
  });
}

void Submissions::Tell(const model::ApplicationId& app, const std::optional<RemoteException>& refused) {
  if (refused) renewer_.Forget(app);
  const auto waits = waiting_.find(app);
  const std::vector<Submitted> told = std::move(waits->second.told);
  bytes_ -= waits->second.bytes;
  waiting_.erase(waits);
  for (const Submitted& done : told) done(refused);
}

void Submissions::Note(const m::StateChanged& change) {
  if (!renewer_.Has(change.app)) return;
  const fairlead::rm::App* app = manager_.core().FindApp(change.app);
  if (app != nullptr && fairlead::rm::IsOver(app->state)) renewer_.Remove(change.app);
}

}  // namespace fairlead::process::rm
