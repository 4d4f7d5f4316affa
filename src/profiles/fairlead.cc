#include "scheduler/fairlead/fairlead.h"

#include <algorithm>

#include "profiles/parts.h"
#include "profiles/sizes.h"

namespace fairlead::profiles {
namespace {

using scheduler::BackfillConfig;
using scheduler::BooksConfig;
using scheduler::FairleadConfig;
using scheduler::FairnessConfig;
using scheduler::LearnedUseConfig;
using scheduler::MaintenanceConfig;
using scheduler::MeasuredLoadConfig;
using scheduler::MeasuredUseConfig;
using scheduler::OvercommitConfig;
using scheduler::PreemptionConfig;
using scheduler::ReservationConfig;
using scheduler::SmallJobsConfig;

constexpr Key<BooksConfig> kSharedKeys[] = {
    KeyOf<&BooksConfig::undeclared_queues>("yarn.scheduler.fair.allow-undeclared-pools",
                                           "an application may name a queue that no file has"),
    KeyOf<&BooksConfig::user_as_default_queue>("yarn.scheduler.fair.user-as-default-queue",
                                               "an application without a queue goes to its user's"),
    KeyOf<&BooksConfig::cluster_master_share>("fairlead.scheduler.cluster-master-share",
                                              "thousandths of the cluster that all masters together may use",
                                              Range{0, 1000}),
    KeyOf<&BooksConfig::keys_per_app>("fairlead.scheduler.keys-per-app",
                                      "different asks (priority, id, size) of one application at most", Range{1}),
    KeyOf<&BooksConfig::sizes_per_app>("fairlead.scheduler.sizes-per-app",
                                       "different sizes that one application waits for at most", Range{1}),
    KeyOf<&BooksConfig::gang_expiry>("fairlead.scheduler.gang-expiry-ms",
                                     "a gang that could not start for so long is given up"),
    KeyOf<&BooksConfig::places_per_app>("fairlead.scheduler.places-per-app",
                                        "hosts and racks that one application names or excludes at most", Range{1}),
};

constexpr Key<BooksConfig> kWishKeys[] = {
    KeyOf<&BooksConfig::queues, &model::QueueTree::wishes>(
        kWishesKey,
        "switches with commas between, all or none (docs/wishes.md); a refresh of the queues reads it again"),
};

/// What costs nobody anything is on where nothing is said (docs/wishes.md).
model::Wishes DefaultWishes() {
  model::Wishes wishes;
  wishes.small_jobs = wishes.park_masters = true;
  return wishes;
}

constexpr char kBudgets[] = "fairlead.scheduler.fairness.budgets";
constexpr char kReclaimPercent[] = "fairlead.scheduler.overcommit.reclaim-percent";

constexpr Key<FairleadConfig> kKeys[] = {
    KeyOf<&FairleadConfig::small_jobs, &SmallJobsConfig::bound>(
        "fairlead.scheduler.small-jobs.bound-ms",
        "wish small-jobs: nobody who has less than his part of a queue is passed by who came so much later"),
    KeyOf<&FairleadConfig::small_jobs, &SmallJobsConfig::nodes_per_thousand>(
        "fairlead.scheduler.small-jobs.nodes-per-thousand",
        "nodes per thousand that are kept at the same time for asks that are next and fit nowhere; fewer while what "
        "waits is less than half of the cluster",
        Range{0, 1000}),
    KeyOf<&FairleadConfig::small_jobs, &SmallJobsConfig::reservation>("fairlead.scheduler.small-jobs.reservation-ms",
                                                                      "how long such a node is kept"),
    KeyOf<&FairleadConfig::small_jobs, &SmallJobsConfig::park_within>(
        "fairlead.scheduler.park-masters.within-ms", "wish park-masters: a master that is older is never ended"),
    KeyOf<&FairleadConfig::measured_use, &MeasuredUseConfig::cpu_percent>(
        "fairlead.scheduler.measured-use.cpu-percent",
        "wish measured-use: above so much of its cores a node takes nothing; 0: no threshold", Range{0, 100}),
    KeyOf<&FairleadConfig::measured_use, &MeasuredUseConfig::memory_percent>(
        "fairlead.scheduler.measured-use.memory-percent", "the same of its memory", Range{0, 100}),
    KeyOf<&FairleadConfig::measured_use, &MeasuredUseConfig::disk_percent>(
        "fairlead.scheduler.measured-use.disk-percent", "the same of the time in which its busiest disk has work",
        Range{0, 100}),
    KeyOf<&FairleadConfig::measured_use, &MeasuredUseConfig::network_mbit>(
        "fairlead.scheduler.measured-use.network-mbit", "the same of megabits a second, both directions together"),
    KeyOf<&FairleadConfig::measured_use, &MeasuredUseConfig::calm_percent>(
        "fairlead.scheduler.measured-use.calm-percent", "below so much of every threshold it takes containers again",
        Range{1, 100}),
    KeyOf<&FairleadConfig::measured_use, &MeasuredUseConfig::stale>("fairlead.scheduler.measured-use.stale-ms",
                                                                    "what a node measured counts for so long"),
    KeyOf<&FairleadConfig::measured_load, &MeasuredLoadConfig::settle>(
        "fairlead.scheduler.measured-load.settle-ms",
        "wish measured-load: what is placed counts as booked until a measure so long afterwards"),
    KeyOf<&FairleadConfig::measured_load, &MeasuredLoadConfig::input_mib>(
        "fairlead.scheduler.measured-load.input-mib", "MiB that a container reads whose ask names places",
        Range{0, 1 << 30}),
    KeyOf<&FairleadConfig::measured_load, &MeasuredLoadConfig::rack_mbit>(
        "fairlead.scheduler.measured-load.rack-mbit", "megabits a second at which it does so within its rack",
        Range{1}),
    KeyOf<&FairleadConfig::measured_load, &MeasuredLoadConfig::cluster_mbit>(
        "fairlead.scheduler.measured-load.cluster-mbit", "and from another rack", Range{1}),
    KeyOf<&FairleadConfig::measured_load, &MeasuredLoadConfig::run>(
        "fairlead.scheduler.measured-load.run-ms",
        "how long a container works, for what it loses where more is wanted than there is"),
    KeyOf<&FairleadConfig::overcommit, &OvercommitConfig::percent>(
        "fairlead.scheduler.overcommit.percent",
        "wish overcommit: a node offers at most so much of its capacity above it", Range{0, 1000}),
    KeyOf<&FairleadConfig::overcommit, &OvercommitConfig::fill_percent>(
        "fairlead.scheduler.overcommit.fill-percent", "of the machine's cores and memory that are meant to be used",
        Range{1, 100}),
    KeyOf<&FairleadConfig::overcommit, &OvercommitConfig::reclaim_percent>(
        kReclaimPercent, "above so much of them, containers above the capacity end", Range{1, 100}),
    KeyOf<&FairleadConfig::learned_use, &LearnedUseConfig::by_name>(
        "fairlead.scheduler.learned-use.by-name",
        "wish learned-use: a user's containers are of one kind by their application's name without digits"),
    KeyOf<&FairleadConfig::learned_use, &LearnedUseConfig::by_priority>("fairlead.scheduler.learned-use.by-priority",
                                                                        "by the priority of their ask"),
    KeyOf<&FairleadConfig::learned_use, &LearnedUseConfig::by_size>("fairlead.scheduler.learned-use.by-size",
                                                                    "by their size"),
    KeyOf<&FairleadConfig::learned_use, &LearnedUseConfig::half_life>("fairlead.scheduler.learned-use.half-life-ms",
                                                                      "after so long a measure weighs half"),
    KeyOf<&FairleadConfig::learned_use, &LearnedUseConfig::enough>(
        "fairlead.scheduler.learned-use.enough", "measures of a kind before they count", Range{1, 1000}),
    KeyOf<&FairleadConfig::learned_use, &LearnedUseConfig::least_percent>(
        "fairlead.scheduler.learned-use.least-percent",
        "of what a container books, that is expected of it at the least", Range{1, 100}),
    KeyOf<&FairleadConfig::backfill, &BackfillConfig::promises>(
        "fairlead.scheduler.backfill.promises",
        "asks of a queue that get a start which is kept when they find no room; others start beside; 0: none",
        Range{0, 64}),
    KeyOf<&FairleadConfig::backfill, &BackfillConfig::slack_percent>(
        "fairlead.scheduler.backfill.slack-percent",
        "a promised start is later than the first possible one by so much of the time that the whole cluster would "
        "work for the container",
        Range{0, 1'000'000}),
    KeyOf<&FairleadConfig::backfill, &BackfillConfig::run_times>(
        "fairlead.scheduler.backfill.run-times",
        "with promises and wish small-jobs: work is amount x time where the time is known"),
    KeyOf<&FairleadConfig::fairness, &FairnessConfig::half_lives>(
        "fairlead.scheduler.fairness.half-lives-ms",
        "queues are ordered by what they used in the past: of each level below root, with commas between, after how "
        "long "
        "use counts half (the last one for the levels below, too); 0: by what they use now",
        Range{0, int64_t{366} * 86'400'000}),
    KeyOf<&FairleadConfig::fairness, &FairnessConfig::budgets>(
        kBudgets,
        "QUEUE=AMOUNT TYPE/PERIOD with commas between, such as root.batch=1000 vcores/7d hard: resource-hours of each "
        "period; who has used them comes last, or with hard gets no more"),
    KeyOf<&FairleadConfig::maintenance, &MaintenanceConfig::unknown_run>(
        "fairlead.scheduler.maintenance.unknown-run-ms",
        "a container of which nobody knows how long it runs starts on a node only so long before its maintenance"),
    KeyOf<&FairleadConfig::node_locality_wait>(
        "fairlead.scheduler.node-locality-wait-ms",
        "how long an ask leaves room elsewhere alone while it waits for a named host"),
    KeyOf<&FairleadConfig::rack_locality_wait>("fairlead.scheduler.rack-locality-wait-ms",
                                               "and then for the rack of a named host"),
    KeyOf<&FairleadConfig::node_order>("fairlead.scheduler.node-order",
                                       "spread: the next node that has room; pack: the first one"),
    KeyOf<&FairleadConfig::reservations, &ReservationConfig::after>(
        "fairlead.scheduler.reservation.after-ms",
        "how long an ask waits in a full cluster before a node is kept for it"),
    KeyOf<&FairleadConfig::reservations, &ReservationConfig::duration>("fairlead.scheduler.reservation.duration-ms",
                                                                       "how long one reservation lasts"),
    KeyOf<&FairleadConfig::reservations, &ReservationConfig::nodes_per_thousand>(
        "fairlead.scheduler.reservation.nodes-per-thousand",
        "nodes per thousand that are reserved at the same time; at least one", Range{0, 1000}),
    KeyOf<&FairleadConfig::preemption, &PreemptionConfig::enabled>("yarn.scheduler.fair.preemption",
                                                                   "take containers back for queues below their share"),
    KeyOf<&FairleadConfig::preemption, &PreemptionConfig::starvation>(
        "fairlead.scheduler.preemption.starvation-ms",
        "how long a queue waits below its share before others give back"),
    KeyOf<&FairleadConfig::preemption, &PreemptionConfig::grace>(
        "yarn.scheduler.fair.waitTimeBeforeKill", "time between the notice to the application and the end (ms)"),
    KeyOf<&FairleadConfig::preemption, &PreemptionConfig::interval>("fairlead.scheduler.preemption.interval-ms",
                                                                    "time between two rounds of preemption"),
    KeyOf<&FairleadConfig::preemption, &PreemptionConfig::minimum_run>("fairlead.scheduler.preemption.minimum-run-ms",
                                                                       "a container that ran for less is never taken"),
    KeyOf<&FairleadConfig::preemption, &PreemptionConfig::round_cap>("fairlead.scheduler.preemption.round-cap",
                                                                     "containers noticed in one round at most"),
};

std::vector<Setting> Settings() {
  std::vector<Setting> out;
  AppendSettings<BooksConfig>(kSharedKeys, {}, out);
  BooksConfig wished;
  wished.queues.wishes = DefaultWishes();
  AppendSettings<BooksConfig>(kWishKeys, wished, out);
  AppendSettings<FairleadConfig>(kKeys, {}, out);
  return out;
}

/// Whether a rule may make a queue of that name for an application.
bool MayMake(const std::vector<model::PlacementRule>& rules, const std::string& queue) {
  return std::any_of(rules.begin(), rules.end(), [&](const model::PlacementRule& rule) {
    if (MayMake(rule.parent, queue)) return true;
    if (!rule.create || rule.name == "reject" || rule.name == "secondaryGroupExistingQueue") return false;
    return rule.name != "default" || rule.queue == queue || "root." + rule.queue == queue;
  });
}

bool IsDeclared(const model::QueueTree& queues, const std::string& name) {
  if (name == "root" || name == "root.default") return true;
  return std::any_of(queues.queues.begin(), queues.queues.end(), [&](const model::QueueConfig& queue) {
    return queue.name == name || queue.name.starts_with(name + ".");
  });
}

/// A budget of a queue that is not there and can never be made would limit nobody.
void RefuseBudgetsOfNoQueue(const config::HadoopConf& conf, const FairleadConfig& config) {
  const model::QueueTree& queues = config.queues;
  for (const scheduler::BudgetConfig& budget : config.fairness.budgets) {
    const bool made = queues.placement ? MayMake(*queues.placement, budget.queue) : config.undeclared_queues;
    if (made || IsDeclared(queues, budget.queue)) continue;
    conf.Refuse(kBudgets, "there is no queue '" + budget.queue +
                              "', and no rule makes it; write the full name of a queue, such as root.batch, or "
                              "declare it where the queues are written");
  }
}

base::Result<Maker> Read(const config::HadoopConf& conf, const model::QueueTree& queues) {
  const base::Result<BooksConfig> shared = ReadShared(conf, queues);
  if (!shared) return shared.error();
  FairleadConfig config;
  static_cast<BooksConfig&>(config) = *shared;
  config.queues.wishes = DefaultWishes();
  ReadKeys<BooksConfig>(conf, kWishKeys, config);
  ReadKeys<FairleadConfig>(conf, kKeys, config);
  if (config.overcommit.reclaim_percent < config.overcommit.fill_percent) {
    conf.Refuse(kReclaimPercent,
                "below fairlead.scheduler.overcommit.fill-percent, what was just offered would end; "
                "write at least " +
                    std::to_string(config.overcommit.fill_percent));
  }
  RefuseBudgetsOfNoQueue(conf, config);
  return Maker([config](int64_t epoch) mutable {
    config.epoch = epoch;
    return scheduler::MakeFairlead(config);
  });
}

}  // namespace

base::Result<model::Wishes> ReadWishes(std::string_view profile, const config::HadoopConf& conf) {
  if (profile != kFairlead.name) return model::Wishes{};  // and the key stays unread
  return conf.IsSet(kWishesKey) ? model::ParseWishes(conf.String(kWishesKey)) : DefaultWishes();
}

std::span<const Key<BooksConfig>> SharedKeys() { return kSharedKeys; }

base::Result<BooksConfig> ReadShared(const config::HadoopConf& conf, const model::QueueTree& queues) {
  if (const base::Status checked = scheduler::CheckQueueTree(queues); !checked) return checked.error();
  const base::Result<ContainerSizes> sizes = ReadSizes(conf);
  if (!sizes) return sizes.error();
  BooksConfig config;
  config.queues = queues;
  config.minimum_allocation = sizes->minimum;
  config.maximum_allocation = sizes->maximum;
  config.increment = sizes->increment;
  ReadKeys<BooksConfig>(conf, kSharedKeys, config);
  return config;
}

namespace {

constexpr Profile::PassedOver kPassesOver[] = {
    {kMinShareTimeout, "its preemption has keys of its own, fairlead.scheduler.preemption.*"},
    {kFairShareTimeout, "its preemption has keys of its own, fairlead.scheduler.preemption.*"},
    {kFairShareThreshold, "its preemption has keys of its own, fairlead.scheduler.preemption.*"},
    {kReservation, "nothing is planned ahead"},
    {kReservationLists, "nothing is planned ahead"},
    {kUnwishedPriority, "write queue-priority to fairlead.scheduler.wishes"},
    {kStartTime, "it is for profile tdw"},
};

}  // namespace

const Profile kFairlead = {
    .name = "fairlead",
    .about = "grants at the event that made room: fair queues, locality waits, reservations, preemption with notice",
    .hadoop_name = "FairScheduler",
    .by_heartbeat = false,
    .pushes_grants = false,
    .queue_file = kFairSchedulerFile,
    .passes_over = kPassesOver,
    .settings = Settings,
    .read = Read,
};

}  // namespace fairlead::profiles
