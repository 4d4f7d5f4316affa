#include "scheduler/yarn_capacity/yarn_capacity.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/text.h"
#include "config/capacity_file.h"
#include "profiles/parts.h"
#include "scheduler/yarn_capacity/config.h"
#include "scheduler/yarn_capacity/from_tree.h"

namespace fairlead::profiles {
namespace {

using scheduler::yarn_capacity::Quirks;
using scheduler::yarn_capacity::YarnCapacityConfig;

constexpr char kVersion[] = "fairlead.scheduler.hadoop-version";
constexpr char kDefaultVersion[] = "3.4.3";

constexpr Key<YarnCapacityConfig> kKeys[] = {
    KeyOf<&YarnCapacityConfig::cap_at_largest_node>(
        "fairlead.scheduler.yarn-capacity.cap-at-largest-node",
        "asks are capped at the largest node, too, as Hadoop does ten seconds after its start"),
    KeyOf<&YarnCapacityConfig::seed>("fairlead.scheduler.yarn-capacity.seed",
                                     "of the nodes at which passes of asynchronous scheduling start"),
};

std::string QuirkKey(std::string_view field) {
  std::string key = "fairlead.scheduler.yarn-capacity.quirk." + std::string(field);
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

std::vector<Setting> Settings() {
  std::vector<Setting> out = {{kVersion, kDefaultVersion, "decide as Hadoop 3.3.6, 3.4.3 or 3.5.0"}};
  AppendSettings<YarnCapacityConfig>(kKeys, {}, out);
  Quirks quirks;
  Quirks::VisitFields(quirks, [&](std::string_view field, bool) {
    out.push_back({QuirkKey(field), "as the version", "a quirk of Hadoop, see docs/scheduler-yarn-capacity.md"});
  });
  return out;
}

/// What ReadConfig takes; read one by one, so that they count as known.
std::map<std::string, std::string> SiteKeys(const config::HadoopConf& conf) {
  std::map<std::string, std::string> keys;
  std::vector<std::string> names = {"yarn.scheduler.minimum-allocation-mb",
                                    "yarn.scheduler.minimum-allocation-vcores",
                                    "yarn.cluster.max-application-priority",
                                    "yarn.acl.enable",
                                    "yarn.workflow-id.tag-prefix",
                                    "yarn.node-labels.enabled",
                                    "yarn.resourcemanager.node-labels.am.allow-non-exclusive-allocation",
                                    "yarn.scheduler.include-port-in-node-name"};
  for (size_t type = 2; type < model::ResourceTypes::Count(); ++type) {
    names.push_back("yarn.resource-types." + std::string(model::ResourceTypes::Name(type)) + ".minimum-allocation");
  }
  for (const std::string& name : names) {
    if (conf.IsSet(name)) keys[name] = conf.String(name);
  }
  return keys;
}

/// False: a value of a queue could not be read.
bool IsReadable(const model::CapacityQueueSettings& settings) {
  const auto wrong = [](const auto& one) { return static_cast<bool>(one.second.problem); };
  return !settings.problem && std::ranges::none_of(settings.capacity, wrong) &&
         std::ranges::none_of(settings.maximum_capacity, wrong);
}

/// The queues by their names alone, so that rules which place applications can be judged whatever else is wrong.
model::CapacityQueues NamesAlone(const model::CapacityQueues& made) {
  model::CapacityQueues names = made;
  names.legacy_queue_mode = false;  // in which parts of children must add up
  names.problem = {};
  for (auto& [path, keys] : names.queues) {
    for (model::CapacityQueueSettings* settings : {&keys.own, &keys.children, &keys.leaves, &keys.parents}) {
      settings->problem = {};
      settings->capacity.clear();
      settings->maximum_capacity.clear();
    }
  }
  return names;
}

void DropRules(model::CapacityQueues& queues) {
  queues.mapping.clear();
  queues.json_mapping.clear();
}

std::string Refused(const std::string& faults) {
  std::string text;
  for (const std::string_view line : base::Split(faults, '\n')) {
    text += (text.empty() ? "" : "\n") + ("the queues are refused: " + std::string(line));
  }
  return text;
}

/// What is wrong with these queues, a line each: what Hadoop refuses first, and what lies apart from that, of the
/// queues and of the rules that place applications.
std::string Refusals(const YarnCapacityConfig& config, const model::CapacityQueues& made, const std::string& first) {
  std::string text = Refused(first);
  const auto add = [&](const model::CapacityQueues& queues) {
    const auto again = scheduler::yarn_capacity::MakeYarnCapacity(config, queues);
    if (again.ok() || again.error().message == first) return;
    text += "\n" + Refused(again.error().message);
  };
  const bool readable =
      std::ranges::all_of(made.queues, [](const auto& queue) { return IsReadable(queue.second.own); });
  if (readable) {
    model::CapacityQueues no_rules = made;
    no_rules.problem = {};
    DropRules(no_rules);
    add(no_rules);
  }
  if (config.quirks.percentages_only) return text;  // the queues of 3.3 cannot be had without their parts
  model::CapacityQueues names = NamesAlone(made);
  model::CapacityQueues without = names;
  DropRules(without);
  if (scheduler::yarn_capacity::MakeYarnCapacity(config, without).ok()) add(names);
  return text;
}

base::Result<Maker> Read(const config::HadoopConf& conf, const model::QueueTree& queues) {
  std::string version = conf.String(kVersion, kDefaultVersion);
  if (!scheduler::yarn_capacity::QuirksOf(version)) {
    conf.Refuse(kVersion, "'" + version + "' is not a version that is known here; write 3.3.6, 3.4.3 or 3.5.0");
    version = kDefaultVersion;
  }
  base::Result<YarnCapacityConfig> config = scheduler::yarn_capacity::ReadConfig(SiteKeys(conf), version);
  if (!config) return config.error();
  ReadKeys<YarnCapacityConfig>(conf, kKeys, *config);
  Quirks::VisitFields(config->quirks, [&](std::string_view field, bool& on) { on = conf.Bool(QuirkKey(field), on); });
  const model::CapacityQueues made = scheduler::yarn_capacity::CapacityQueuesFrom(queues);
  const auto first = scheduler::yarn_capacity::MakeYarnCapacity(*config, made);
  if (!first) return base::Error{Refusals(*config, made, first.error().message)};
  return Maker([config = *config, made](int64_t epoch) mutable -> std::unique_ptr<scheduler::Scheduler> {
    config.epoch = epoch;
    auto scheduler = scheduler::yarn_capacity::MakeYarnCapacity(config, made);
    FL_CHECK(scheduler.ok(), "queues that were taken a moment ago");
    return std::move(*scheduler);
  });
}

constexpr QueueFile kCapacitySchedulerFile = {.key = "fairlead.scheduler.capacity.file",
                                              .name = "capacity-scheduler.xml",
                                              .parse = config::ParseCapacityFile,
                                              .edit = nullptr,
                                              .empty = "",
                                              .keys = config::CapacityProperties,
                                              .from_keys = config::CapacityTreeOf,
                                              .included = config::kMappingRuleFile,
                                              .include = config::IncludeMappingRules,
                                              .faults = config::CapacityFaults};

// Of queues that come of another file than its own.
constexpr Profile::PassedOver kPassesOver[] = {
    {kQueuePriority, "write yarn.scheduler.capacity.<queue>.priority into capacity-scheduler.xml"},
    {kStartTime, "Hadoop has none"},
    {kGroupApplications, "Hadoop has none"},
    {kUserResources, "Hadoop has user limits; write them into capacity-scheduler.xml"},
};

}  // namespace

const Profile kYarnCapacity = {
    .name = "yarn-capacity",
    .about = "Hadoop's CapacityScheduler, decision by decision",
    .hadoop_name = "CapacityScheduler",
    .by_heartbeat = true,
    .pushes_grants = false,
    .rounds_to_minimum = true,
    .queue_file = kCapacitySchedulerFile,
    .passes_over = kPassesOver,
    .settings = Settings,
    .read = Read,
};

}  // namespace fairlead::profiles
