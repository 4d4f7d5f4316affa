#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "base/result.h"
#include "model/queues.h"
#include "profiles/keys.h"
#include "scheduler/books/config.h"

namespace fairlead::profiles {

/// Keys that all profiles on the books share.
std::span<const Key<scheduler::BooksConfig>> SharedKeys();

/// Sizes, queues and the shared keys.
base::Result<scheduler::BooksConfig> ReadShared(const config::HadoopConf& conf, const model::QueueTree& queues);

/// The settings of a profile that has a table of keys, `rows`, and nothing beside it but the books, `base`.
template <class Config, const auto& rows>
std::vector<Setting> SettingsOnBooks() {
  std::vector<Setting> out;
  AppendSettings<Config>(rows, {}, out);
  AppendSettings<scheduler::BooksConfig>(SharedKeys(), {}, out);
  return out;
}

/// Reads them; `make` gives the scheduler.
template <class Config, const auto& rows, auto make>
base::Result<Maker> ReadOnBooks(const config::HadoopConf& conf, const model::QueueTree& queues) {
  const base::Result<scheduler::BooksConfig> shared = ReadShared(conf, queues);
  if (!shared) return shared.error();
  Config config;
  config.base = *shared;
  ReadKeys<Config>(conf, rows, config);
  return Maker([config](int64_t epoch) mutable {
    config.base.epoch = epoch;
    return make(config);
  });
}

extern const QueueFile kFairSchedulerFile;

/// An element of the queues' file, and whether queues set it.
struct Passable {
  std::string_view element;
  bool (*of_queue)(const model::QueueConfig& queue) = nullptr;
  bool (*of_tree)(const model::QueueTree& tree) = nullptr;
};
inline constexpr Passable kMinShareTimeout{
    "minSharePreemptionTimeout", [](const auto& queue) { return queue.min_share_preemption_timeout.has_value(); },
    [](const auto& tree) { return tree.default_min_share_preemption_timeout.has_value(); }};
inline constexpr Passable kFairShareTimeout{
    "fairSharePreemptionTimeout", [](const auto& queue) { return queue.fair_share_preemption_timeout.has_value(); },
    [](const auto& tree) { return tree.default_fair_share_preemption_timeout.has_value(); }};
inline constexpr Passable kFairShareThreshold{
    "fairSharePreemptionThreshold", [](const auto& queue) { return queue.fair_share_preemption_threshold.has_value(); },
    [](const auto& tree) { return tree.default_fair_share_preemption_threshold.has_value(); }};
inline constexpr Passable kReservation{"reservation", [](const auto& queue) { return queue.reservable; }};
inline constexpr Passable kReservationLists{"aclSubmitReservations and its like",
                                            [](const auto& queue) { return queue.reservation_acl.has_value(); }};
inline constexpr Passable kQueuePriority{"priority", [](const auto& queue) { return queue.priority.has_value(); }};
/// The same under a switch (wish queue-priority).
inline constexpr Passable kUnwishedPriority{"priority", nullptr, [](const auto& tree) {
                                              return !tree.wishes.queue_priority &&
                                                     std::ranges::any_of(tree.queues, kQueuePriority.of_queue);
                                            }};
inline constexpr Passable kStartTime{"startTime", [](const auto& queue) { return queue.start_time.has_value(); }};
inline constexpr Passable kGroupApplications{"maxRunningApps of a group", nullptr,
                                             [](const auto& tree) { return !tree.group_max_apps.empty(); }};
inline constexpr Passable kUserResources{"maxResources of a user or group", nullptr, [](const auto& tree) {
                                           return !tree.user_max_resources.empty() ||
                                                  !tree.group_max_resources.empty() ||
                                                  tree.user_max_resources_default.has_value();
                                         }};

inline constexpr Passable kMemoryMaximum{"memory of maxResources", [](const auto& queue) {
                                           return queue.max_resources.has_value() &&
                                                  (queue.max_resources->absolute.contains("memory-mb") ||
                                                   queue.max_resources->percent.contains("memory-mb"));
                                         }};
inline constexpr Passable kMiddleMaximum{"maxResources of a queue between group and pool", [](const auto& queue) {
                                           return queue.parent_type && queue.max_resources.has_value() &&
                                                  std::ranges::count(queue.name, '.') > 1;
                                         }};

extern const Profile kFairlead;
extern const Profile kYarnFair;
extern const Profile kYarnCapacity;
extern const Profile kTdw;
extern const Profile kSparkStandalone;

}  // namespace fairlead::profiles
