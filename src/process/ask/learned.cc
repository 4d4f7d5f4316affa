#include "process/ask/learned.h"

#include <algorithm>
#include <array>
#include <iterator>
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
    const auto& times = TimesOf(one);
    if (!Seen(times)) return {};
    if (draw_.sample == 0) return times[0] ? times[0]->Quantile(one.age, 500) : std::nullopt;
    const int32_t per_mille = PerMille(one.id);
    for (const scheduler::LearnedRunTimes* kind : times) {
      const auto total = kind ? kind->Quantile(one.age, per_mille) : std::nullopt;
      if (total) return total;
    }
    for (const scheduler::LearnedRunTimes* kind : times) {
      const auto total = kind ? kind->Beyond(one.age, per_mille) : std::nullopt;
      if (total) return total;
    }
    return {};
  }

 private:
  using Key = std::tuple<model::AppIndex, int32_t, bool, std::array<int64_t, model::Resources::kMaxTypes>>;
  using Times = std::array<const scheduler::LearnedRunTimes*, std::tuple_size_v<Kinds>>;

  /// Enough of its kind, its application's name or its user have ended. What strangers' containers took, the last of
  /// `times`, says by itself nothing of how long it runs.
  static bool Seen(const Times& times) {
    return std::any_of(times.begin(), std::prev(times.end()), [](const scheduler::LearnedRunTimes* kind) {
      return kind && kind->count() >= scheduler::LearnedRunTimes::kEnough;
    });
  }
  /// Containers of an application are mostly of one kind, which is looked up once. Null: nothing is known of it.
  const Times& TimesOf(const Running& one) {
    const auto [at, fresh] = found_.try_emplace({one.app, one.priority, one.master, one.size.amount}, Times{});
    const auto app = apps_.find(one.app);
    if (fresh && app != apps_.end()) {
      const Kinds kinds = KindsOf(app->second->user, app->second->kind, one.priority, one.master, one.size);
      std::transform(kinds.begin(), kinds.end(), at->second.begin(),
                     [&](const scheduler::Kind& kind) { return learned_->Find(kind); });
    }
    return at->second;
  }
  int32_t PerMille(const model::ContainerId& id) const {
    base::StateHasher hash;
    hash.Mix(draw_.sample);
    hash.Mix(static_cast<uint64_t>(id.attempt.app.number));
    hash.Mix(static_cast<uint64_t>(id.value));
    return static_cast<int32_t>(hash.value() % 1000) + 1;
  }

  std::shared_ptr<const scheduler::RunTimes> learned_;
  Draw draw_;
  std::map<model::AppIndex, const Present::App*> apps_;
  std::map<Key, Times> found_;
};

}  // namespace

Kinds KindsOf(const std::string& user, const std::string& name, int32_t priority, bool master,
              const model::Resources& size) {
  // A priority that nobody asks with, and no size: what a kind does not look at.
  constexpr int32_t kAny = INT32_MIN + 1;
  const int32_t whose = master ? kMasterPriority : kAny;
  return {scheduler::Kind{user, name, master ? kMasterPriority : priority, size.amount},
          {user, name, whose, {}},
          {user, "", whose, {}},
          {"", "", whose, {}}};
}

RunTimeOf FromLearned(const Present& present, std::shared_ptr<const scheduler::RunTimes> learned, Draw draw) {
  return [one = std::make_shared<Learned>(present, std::move(learned), draw)](const Running& running) {
    return one->Of(running);
  };
}

}  // namespace fairlead::process::ask
