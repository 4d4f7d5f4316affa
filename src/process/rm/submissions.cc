#include "process/rm/submissions.h"

#include <utility>

#include "process/rm/batches.h"
#include "rm/life_cycles.h"

namespace fairlead::process::rm {

namespace m = model::rm;
using endpoints::yarn::RemoteException;

namespace {
constexpr size_t kWaitingMost = 1000;  // applications
constexpr size_t kBytesMost = size_t{256} << 20;
}  // namespace

void AskToSubmit(Batches& batches, m::Submit event, Submitted done) {
  batches.Ask(std::move(event), [done = std::move(done)](const m::OuterEffect& effect) { done(RefusalOf(effect)); });
}

Submissions::Submissions(env::Loop& loop, const fairlead::rm::Core& core, Batches& batches,
                         TokenRenewer::Services services, const RenewalTimes& times,
                         std::function<void(const std::string&)> warn)
    : core_(core),
      batches_(batches),
      system_credentials_(loop.Wall().ms),
      renewer_(std::make_unique<TokenRenewer>(loop, std::move(services), times,
                                              TokenRenewer::Told{warn, [this](const auto& app, const auto& tokens) {
                                                                   system_credentials_.Set(app, tokens);
                                                                 }})) {
  const auto told = [warn = std::move(warn)](const base::Status& renewed) {
    if (!renewed.ok()) warn(renewed.error().message);
  };
  core.ForEachApp([&](const fairlead::rm::App& app) {
    if (fairlead::rm::IsOver(app.state)) return;
    renewer_->Add({app.submission.id, app.submission.user, app.submission.context}, told,
                  TokenRenewer::Patience::kOfOneThatRuns);
  });
}

void Submissions::Take(m::Submission submission, Submitted done) {
  const model::ApplicationId id = submission.id;
  m::Submit event;
  event.submission = std::move(submission);
  if (core_.FindApp(id) != nullptr) return AskToSubmit(batches_, std::move(event), std::move(done));
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
  renewer_->Add(app, [this, id, event = std::move(event)](const base::Status& renewed) {
    m::Submit taken = event;
    if (!renewed.ok()) taken.rejected = renewed.error().message;
    AskToSubmit(batches_, std::move(taken), [this, id](const auto& refused) { Tell(id, refused); });
  });
}

void Submissions::Tell(const model::ApplicationId& app, const std::optional<RemoteException>& refused) {
  if (refused) renewer_->Forget(app);
  const auto waits = waiting_.find(app);
  const std::vector<Submitted> told = std::move(waits->second.told);
  bytes_ -= waits->second.bytes;
  waiting_.erase(waits);
  for (const Submitted& done : told) done(refused);
}

void Submissions::Note(const m::StateChanged& change) {
  if (!renewer_->Has(change.app)) return;
  const fairlead::rm::App* app = core_.FindApp(change.app);
  if (app != nullptr && fairlead::rm::IsOver(app->state)) renewer_->Remove(change.app);
}

}  // namespace fairlead::process::rm
