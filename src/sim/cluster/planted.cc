#include "sim/cluster/planted.h"

namespace fairlead::sim {
namespace {

using model::scheduler::Event;

/// Passes everything on, but for what the bug changes.
class BuggyScheduler final : public scheduler::Scheduler {
 public:
  BuggyScheduler(PlantedBug bug, std::unique_ptr<scheduler::Scheduler> inner) : bug_(bug), inner_(std::move(inner)) {}

  void Step(base::Instant now, std::span<const Event> events, scheduler::EffectSink& out) override {
    std::vector<Event> changed(events.begin(), events.end());
    for (Event& event : changed) Change(event);
    inner_->Step(now, changed, out);
  }
  base::Instant NextDeadline() const override { return inner_->NextDeadline(); }
  std::string CheckInvariants() const override { return inner_->CheckInvariants(); }
  uint64_t StateHash() const override { return inner_->StateHash(); }
  std::unique_ptr<scheduler::Scheduler> Fork() const override {
    return std::make_unique<BuggyScheduler>(bug_, inner_->Fork());
  }
  std::string State() const override { return inner_->State(); }
  bool ReadState(std::string_view bytes) override { return inner_->ReadState(bytes); }
  scheduler::View GetView() const override { return inner_->GetView(); }
  scheduler::View GetQueues() const override { return inner_->GetQueues(); }
  int64_t PendingContainers(model::AppIndex app) const override { return inner_->PendingContainers(app); }
  std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const override {
    return inner_->Why(app, now);
  }

 private:
  void Change(Event& event) {
    if (bug_ == PlantedBug::kDoubleGrant) {
      if (auto* added = std::get_if<model::scheduler::NodeAdded>(&event)) added->capacity = added->capacity * 2;
    } else if (auto* updated = std::get_if<model::scheduler::NodeUpdated>(&event)) {
      std::erase_if(updated->completed, [this](const auto&) { return ++ends_ % 20 == 0; });
    }
  }

  PlantedBug bug_;
  std::unique_ptr<scheduler::Scheduler> inner_;
  int ends_ = 0;
};

class LyingStore final : public env::Store {
 public:
  LyingStore(env::Store& inner, env::Loop& loop) : inner_(inner), loop_(loop) {}
  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override {
    if (++commits_ % 3 != 0) return inner_.Commit(std::move(rows), std::move(done));
    loop_.Post([done = std::move(done)] { done({}); });
  }
  base::Result<std::vector<env::Row>> Load(const std::string& table) override { return inner_.Load(table); }
  std::string Name() const override { return inner_.Name(); }

 private:
  env::Store& inner_;
  env::Loop& loop_;
  int commits_ = 0;
};

class LyingFiles final : public env::ConfinedFiles {
 public:
  explicit LyingFiles(env::ConfinedFiles& inner) : inner_(inner) {}
  base::Status WriteAt(const std::string& root, const std::string& relative, uint64_t offset,
                       std::string_view bytes) override {
    if (++writes_ % 20 == 0) return {};
    return inner_.WriteAt(root, relative, offset, bytes);
  }
  base::Status Shorten(const std::string& root, const std::string& relative, uint64_t bytes) override {
    return inner_.Shorten(root, relative, bytes);
  }

 private:
  env::ConfinedFiles& inner_;
  int writes_ = 0;
};

}  // namespace

std::unique_ptr<scheduler::Scheduler> Plant(PlantedBug bug, std::unique_ptr<scheduler::Scheduler> inner) {
  const bool changes = bug == PlantedBug::kDoubleGrant || bug == PlantedBug::kForgottenContainer;
  return changes ? std::make_unique<BuggyScheduler>(bug, std::move(inner)) : std::move(inner);
}

bool Passes(PlantedBug bug, wire::engine::Message& message) {
  namespace we = wire::engine;
  if (bug == PlantedBug::kEvictedPromise) {
    const auto* const news = std::get_if<we::BlockKept>(&message);
    return news == nullptr || news->present;
  }
  if (bug == PlantedBug::kLostKill) return !std::holds_alternative<we::Kill>(message);
  if (bug == PlantedBug::kStaleTable) {
    if (auto* const planned = std::get_if<we::StagePlanned>(&message)) planned->epoch = 0;
  } else if (bug == PlantedBug::kDoubleCommit) {
    if (auto* const answer = std::get_if<we::CommitAnswer>(&message)) answer->granted = true;
  }
  return true;
}

std::unique_ptr<env::ConfinedFiles> MakeLyingFiles(env::ConfinedFiles& inner) {
  return std::make_unique<LyingFiles>(inner);
}

std::unique_ptr<env::Store> MakeLyingStore(env::Store& inner, env::Loop& loop) {
  return std::make_unique<LyingStore>(inner, loop);
}

}  // namespace fairlead::sim
