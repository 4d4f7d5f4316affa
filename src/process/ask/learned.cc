#include "process/ask/learned.h"

#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/hash.h"

namespace fairlead::process::ask {

namespace {

class Learned {
 public:
  Learned(const Present& present, std::shared_ptr<const scheduler::RunTimes> learned, Draw draw)
      : learned_(std::move(learned)), draw_(draw) {
    for (const Present::App& app : present.apps) apps_.emplace(app.index, &app);
  }

  std::optional<base::Duration> Of(const Running& one) {
    const scheduler::LearnedRunTimes* times = TimesOf(one);
    return times ? times->Quantile(one.age, PerMille(one.id)) : std::nullopt;
  }

 private:
  using Key = std::tuple<model::AppIndex, int32_t, bool, std::array<int64_t, model::Resources::kMaxTypes>>;

  /// Containers of an application are mostly of one kind, which is looked up once.
  const scheduler::LearnedRunTimes* TimesOf(const Running& one) {
    const auto [at, fresh] = found_.try_emplace({one.app, one.priority, one.master, one.size.amount}, nullptr);
    const auto app = apps_.find(one.app);
    if (fresh && app != apps_.end()) {
      at->second = learned_->Find(KindOf(*app->second, one.priority, one.master, one.size));
    }
    return at->second;
  }
  int32_t PerMille(const model::ContainerId& id) const {
    if (draw_.sample == 0) return 500;
    base::StateHasher hash;
    hash.Mix(draw_.sample);
    hash.Mix(static_cast<uint64_t>(id.attempt.app.number));
    hash.Mix(static_cast<uint64_t>(id.value));
    return static_cast<int32_t>(hash.value() % 1000) + 1;
  }

  std::shared_ptr<const scheduler::RunTimes> learned_;
  Draw draw_;
  std::map<model::AppIndex, const Present::App*> apps_;
  std::map<Key, const scheduler::LearnedRunTimes*> found_;
};

}  // namespace

scheduler::Kind KindOf(const Present::App& app, int32_t priority, bool master, const model::Resources& size) {
  return {app.user, app.kind, master ? kMasterPriority : priority, size.amount};
}

RunTimeOf FromLearned(const Present& present, std::shared_ptr<const scheduler::RunTimes> learned, Draw draw) {
  return [one = std::make_shared<Learned>(present, std::move(learned), draw)](const Running& running) {
    return one->Of(running);
  };
}

}  // namespace fairlead::process::ask
