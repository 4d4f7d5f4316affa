#include "scheduler/yarn_fair/yarn_fair.h"

#include <algorithm>
#include <map>
#include <optional>

#include "profiles/parts.h"
#include "scheduler/yarn_fair/config.h"

namespace fairlead::profiles {
namespace {

using scheduler::yarn_fair::Quirks;
using scheduler::yarn_fair::YarnFairConfig;

constexpr char kVersion[] = "fairlead.scheduler.yarn-fair.version";
constexpr char kDefaultVersion[] = "3.3.6";

constexpr Key<YarnFairConfig> kKeys[] = {
    KeyOf<&YarnFairConfig::cap_at_largest_node>(
        "fairlead.scheduler.yarn-fair.cap-at-largest-node",
        "asks are capped at the largest node, too, as Hadoop does ten seconds after its start"),
    KeyOf<&YarnFairConfig::queue_check_ms>("fairlead.scheduler.yarn-fair.queue-check-ms",
                                           "time between two looks for empty queues that applications made", Range{1}),
};

std::string QuirkKey(std::string_view field) {
  std::string key = "fairlead.scheduler.yarn-fair.quirk." + std::string(field);
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

std::vector<Setting> Settings() {
  std::vector<Setting> out = {{kVersion, kDefaultVersion, "decide as Hadoop 3.3.5, 3.3.6 or 3.4.3"}};
  AppendSettings<YarnFairConfig>(kKeys, {}, out);
  Quirks quirks;
  Quirks::VisitFields(quirks, [&](std::string_view field, bool) {
    out.push_back({QuirkKey(field), "as the version", "a quirk of Hadoop, see docs/scheduler-yarn-fair.md"});
  });
  return out;
}

base::Result<Maker> Read(const config::HadoopConf& conf, const model::QueueTree& queues) {
  const auto lookup = [&](const std::string& key) { return conf.IsSet(key) ? conf.Find(key) : std::nullopt; };
  std::string version = conf.String(kVersion, kDefaultVersion);
  if (!scheduler::yarn_fair::QuirksOf(version)) {
    conf.Refuse(kVersion, "'" + version + "' is not a version that is known here; write 3.3.5, 3.3.6 or 3.4.3");
    version = kDefaultVersion;
  }
  base::Result<YarnFairConfig> config = scheduler::yarn_fair::ReadConfig(lookup, version, conf.Explicit());
  if (!config) return config.error();
  ReadKeys<YarnFairConfig>(conf, kKeys, *config);
  Quirks::VisitFields(config->quirks, [&](std::string_view field, bool& on) { on = conf.Bool(QuirkKey(field), on); });
  return Maker([config = *config, queues](int64_t epoch) mutable -> std::unique_ptr<scheduler::Scheduler> {
    config.epoch = epoch;
    return scheduler::yarn_fair::MakeYarnFair(config, queues);
  });
}

}  // namespace

namespace {

constexpr Profile::PassedOver kPassesOver[] = {
    {kQueuePriority, "Hadoop has none of queues"}, {kStartTime, "Hadoop has none"},
    {kGroupApplications, "Hadoop has none"},       {kUserResources, "Hadoop has none"},
    {kReservation, "nothing is planned ahead"},    {kReservationLists, "nothing is planned ahead"},
};

}  // namespace

const Profile kYarnFair = {
    .name = "yarn-fair",
    .about = "Hadoop's FairScheduler, decision by decision, quirks included",
    .hadoop_name = "FairScheduler",
    .by_heartbeat = true,
    .pushes_grants = false,
    .queue_file = kFairSchedulerFile,
    .passes_over = kPassesOver,
    .settings = Settings,
    .read = Read,
};

}  // namespace fairlead::profiles
