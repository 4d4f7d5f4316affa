#include "profiles/profile.h"

#include "config/allocation_file.h"
#include "profiles/parts.h"

namespace fairlead::profiles {

namespace {

base::Result<model::QueueTree> ParseFairScheduler(std::string_view text, const std::string& file,
                                                  std::vector<std::string>& warnings) {
  base::Result<config::AllocationFile> read = config::ParseAllocationFile(text, file);
  if (!read) return read.error();
  warnings.insert(warnings.end(), read->warnings.begin(), read->warnings.end());
  return std::move(read->tree);
}

}  // namespace

const QueueFile kFairSchedulerFile = {"yarn.scheduler.fair.allocation.file", "fair-scheduler.xml", ParseFairScheduler};

std::span<const Profile> All() {
  static const Profile kAll[] = {kFairlead, kYarnFair, kTdw, kSparkStandalone};
  return kAll;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Profile& profile : All()) names.emplace_back(profile.name);
  return names;
}

const Profile* Find(std::string_view name) {
  for (const Profile& profile : All()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

namespace {

using model::QueueConfig;
using model::QueueTree;

/// What a profile may pass over, and whether queues set it.
struct Passable {
  std::string_view element;
  bool (*of_queue)(const QueueConfig& queue);  // may be none
  bool (*of_tree)(const QueueTree& tree);      // may be none
};
constexpr Passable kPassable[] = {
    {"minSharePreemptionTimeout",
     [](const QueueConfig& queue) { return queue.min_share_preemption_timeout.has_value(); },
     [](const QueueTree& tree) { return tree.default_min_share_preemption_timeout.has_value(); }},
    {"fairSharePreemptionTimeout",
     [](const QueueConfig& queue) { return queue.fair_share_preemption_timeout.has_value(); },
     [](const QueueTree& tree) { return tree.default_fair_share_preemption_timeout.has_value(); }},
    {"fairSharePreemptionThreshold",
     [](const QueueConfig& queue) { return queue.fair_share_preemption_threshold.has_value(); },
     [](const QueueTree& tree) { return tree.default_fair_share_preemption_threshold.has_value(); }},
    {"reservation", [](const QueueConfig& queue) { return queue.reservable; }, nullptr},
    {"priority", [](const QueueConfig& queue) { return queue.priority.has_value(); }, nullptr},
    {"startTime", [](const QueueConfig& queue) { return queue.start_time.has_value(); }, nullptr},
    {"maxRunningApps of a group", nullptr, [](const QueueTree& tree) { return !tree.group_max_apps.empty(); }},
    {"maxResources of a user or group", nullptr,
     [](const QueueTree& tree) {
       return !tree.user_max_resources.empty() || !tree.group_max_resources.empty() ||
              tree.user_max_resources_default.has_value();
     }},
};

/// "root.a, root.b and 3 more"; empty: none.
std::string QueuesThat(bool (*set)(const QueueConfig& queue), const QueueTree& tree) {
  constexpr size_t kNamed = 3;
  std::string names;
  size_t count = 0;
  for (const QueueConfig& queue : tree.queues) {
    if (!set(queue) || ++count > kNamed) continue;
    names += (names.empty() ? "" : ", ") + queue.name;
  }
  return count > kNamed ? names + " and " + std::to_string(count - kNamed) + " more" : names;
}

}  // namespace

std::vector<std::string_view> PassableElements() {
  std::vector<std::string_view> names;
  for (const Passable& one : kPassable) names.push_back(one.element);
  return names;
}

std::vector<std::string> PassedOverIn(const Profile& profile, const model::QueueTree& queues) {
  std::vector<std::string> told;
  for (const Profile::PassedOver& passed : profile.passes_over) {
    for (const Passable& one : kPassable) {
      if (one.element != passed.element) continue;
      std::string where = one.of_queue != nullptr ? QueuesThat(one.of_queue, queues) : "";
      if (!where.empty()) where = " (" + where + ")";
      if (where.empty() && !(one.of_tree != nullptr && one.of_tree(queues))) continue;
      told.push_back("profile " + std::string(profile.name) + " passes over " + std::string(one.element) + where +
                     ": " + std::string(passed.instead));
    }
  }
  return told;
}

std::string Section(const Profile& profile) {
  std::string text = "### `" + std::string(profile.name) + "`\n\n" + std::string(profile.about) +
                     ".\n\n| key | default | meaning |\n| --- | --- | --- |\n";
  for (const Setting& setting : profile.settings())
    text += "| `" + setting.key + "` | " + setting.fallback + " | " + setting.meaning + " |\n";
  return text;
}

base::Result<Maker> Read(std::string_view name, const config::HadoopConf& conf, const model::QueueTree& queues) {
  const Profile* profile = Find(name);
  if (profile == nullptr) {
    std::string known;
    for (const Profile& one : All()) known += (known.empty() ? "" : ", ") + std::string(one.name);
    return base::Error{"there is no profile \"" + std::string(name) + "\"; write one of " + known};
  }
  base::Result<Maker> maker = profile->read(conf, queues);
  if (maker.ok() && !conf.errors().empty()) return base::Error{conf.ErrorText()};
  return maker;
}

}  // namespace fairlead::profiles
